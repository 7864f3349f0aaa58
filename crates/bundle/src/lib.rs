//! Bundles: policy tables as bytes, and the only door back from bytes to policies.
//!
//! [`open`] verifies before it believes: lengths, then the digest over everything, then trust, then
//! the structure. Whatever is refused leaves nothing behind: there is a table or an error, never half
//! of one.
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;

mod container;
pub mod limits;

pub use container::{OpenError, Trust, digest, open, seal};
