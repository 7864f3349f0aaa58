//! Requests to other servers over HTTP, bounded in time and bytes.

pub(crate) mod address;
pub(crate) mod fetch;
