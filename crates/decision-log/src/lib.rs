//! The decision log: what is recorded of decisions, and how an outsider can verify it.
//!
//! Bytes only: it reads no file and no clock, asks for no randomness, and neither a damaged nor a
//! hostile log makes it panic or take more memory than the bounds in `limits` allow. The format is
//! in `docs/DECISION-LOG.md`.
//!
//! ```text
//! record  ->  frame  ->  log  ->  checkpoint
//! a decision  up to 4,096 records   one leaf for     the size and root of the log,
//!             and the BLAKE3 root   each frame,      signed with ML-DSA-44
//!             of their tree         as in RFC 6962
//! ```
//!
//! A proof leads from one record over its frame and the log to a checkpoint, and holds nothing of
//! other records but digests.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bytes;
pub mod checkpoint;
pub mod cosigner;
pub mod frame;
pub mod limits;
pub mod merkle;
pub mod note;
pub mod proof;
pub mod record;
pub mod redaction;
#[cfg(any(test, feature = "sequencer"))]
pub mod sequencer;
mod shape;
#[cfg(any(test, feature = "sign"))]
pub mod signer;
pub mod subjects;
pub mod tile;
pub mod tree;
pub mod witness;
pub mod witness_policy;
