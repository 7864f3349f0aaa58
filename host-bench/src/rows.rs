//! The native rows, which answer the requests.

#[cfg(feature = "rivals")]
pub(crate) mod casbin;
#[cfg(feature = "rivals")]
pub(crate) mod cedar;
pub(crate) mod evaluation;
pub(crate) mod floor;
pub(crate) mod native;
#[cfg(feature = "rivals")]
pub(crate) mod regorus;
pub(crate) mod wardgate;
