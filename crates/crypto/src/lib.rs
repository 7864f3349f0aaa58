//! What a bundle needs to travel over networks that nobody trusts: digests, signatures, sealing.
//!
//! Nothing here reads a clock, a file or a source of randomness, and nothing here fails but by saying
//! so: a malformed key, signature or sealed text is an answer, never a panic.
//!
//! The tests run under each tier of the machine (`WARDGATE_DENY=avx512,avx2` in the environment denies two),
//! and as WebAssembly with and without vectors, as those of `simd` do:
//! `cargo test -p wardgate-crypto --lib --target wasm32-unknown-unknown`.

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
