//! The messages of other systems' PDPs: their requests and responses.

pub mod authzen;
pub mod cerbos;
pub mod documents;
#[cfg(feature = "grants")]
pub mod grants;
pub mod json;
pub mod ratelimit;
