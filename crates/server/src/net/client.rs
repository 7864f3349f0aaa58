//! Requests to other servers over HTTP, bounded in time and bytes.

pub(crate) mod connect;
pub(crate) mod fetch;
pub(crate) mod headers;
