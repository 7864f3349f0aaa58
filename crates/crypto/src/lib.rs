//! What a bundle needs to travel over networks that nobody trusts: digests, signatures, sealing.
//!
//! Nothing here reads a clock, a file or a source of randomness, and nothing here fails but by saying
//! so: a malformed key, signature or sealed text is an answer, never a panic.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "threads"))]
extern crate std;

pub mod aead;
pub mod blake3;
mod keccak;
pub mod ml_dsa;
mod shake;
