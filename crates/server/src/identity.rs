//! Callers and their proofs: bearer tokens, certificates and JSON Web Tokens.
//!
//! Secrets are stored and compared as digests, and are never logged.

pub(crate) mod auth;
pub(crate) mod aux_data;
pub(crate) mod jwt;
pub(crate) mod page_token;
pub(crate) mod token;
