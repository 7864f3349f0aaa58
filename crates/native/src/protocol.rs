//! The messages of other systems' PDPs: what they ask, and what they are answered.

pub mod authzen;
pub mod cerbos;
pub mod documents;
