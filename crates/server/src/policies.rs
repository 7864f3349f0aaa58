//! Policies in use: the source of bundles, the state made of one, and its replacement.

pub(crate) mod directory;
pub(crate) mod expiry;
pub(crate) mod source;
pub(crate) mod state;
