//! The subset of CBOR that COSE and a header need.
//!
//! Every value has one encoding: a reader encodes again the value that it decoded, and refuses
//! bytes that differ. So long forms of lengths, doubled keys, other orders, unknown members and
//! trailing bytes need no checks of their own. No function here recurses.

use alloc::vec::Vec;
use core::convert::Infallible;

use minicbor::{Encoder, encode};

pub(crate) type Written<'e> = Result<&'e mut Encoder<Vec<u8>>, encode::Error<Infallible>>;

/// Returns the bytes that `write` writes. Writing to memory does not fail.
pub(crate) fn written(write: impl FnOnce(&mut Encoder<Vec<u8>>) -> Written<'_>) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new());
    let done = write(&mut encoder).is_ok();
    if done { encoder.into_writer() } else { Vec::new() }
}

/// Widens a length or a count.
pub(crate) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
