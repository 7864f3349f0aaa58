//! The native rows: what answers the requests.

#[cfg(feature = "rivals")]
pub(crate) mod cedar;
pub(crate) mod floor;
pub(crate) mod wardgate;
