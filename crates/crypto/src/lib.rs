//! The cryptography of bundles that cross untrusted networks: digests, signatures, sealing.
//!
//! This crate reads no clock, file or source of randomness. A malformed key, signature or sealed
//! text gives an error or `false`, and never a panic.
//!
//! The tests run under each tier of the machine (`WARDGATE_DENY=avx512,avx2` in the environment
//! denies two), and as WebAssembly with and without vectors, as those of `simd` do:
//! `cargo test -p wardgate-crypto --lib --target wasm32-unknown-unknown`.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "threads"))]
extern crate std;

pub mod aead;
pub mod blake3;
mod keccak;
mod little_endian;
pub mod ml_dsa;
mod shake;
