//! The fast path: reads the slots of a fast path out of a host's question and decides by it.
//!
//! A question that a fast path cannot decide is left to the general path, which reads the whole
//! request.

pub(crate) mod cache;
pub(crate) mod decide;
pub(crate) mod derived;
pub(crate) mod equalities;
pub(crate) mod index;
pub(crate) mod input;
pub(crate) mod json;
mod moment;
pub(crate) mod path;
pub(crate) mod request;
mod schema;
pub(crate) mod slots;
mod topic;
pub(crate) mod values;

#[cfg(test)]
mod tests;
