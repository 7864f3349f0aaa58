//! (in construction)
#![forbid(unsafe_code)]
