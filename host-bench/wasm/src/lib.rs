//! The code that `host-bench` measures in WebAssembly: one module of ours, one of the rivals.
//!
//! Bytes lie in the module's memory, and a call carries numbers only, so that crossing the border
//! costs every row the same few nanoseconds. Nothing here is shipped.
#![forbid(unsafe_code)]

#[cfg(any(feature = "ours", feature = "rivals"))]
pub mod buffers;
#[cfg(feature = "ours")]
pub mod ours;
#[cfg(feature = "rivals")]
pub mod rivals;
