//! Bundles: policy tables as bytes that travel, and the only door back from bytes to policies.
//!
//! [`open`] verifies before it believes: lengths, digests, signatures, dates, revision, and only then
//! the structure. Whatever is refused leaves nothing behind: there is a table or an error with a name,
//! never half of one. The format is described byte by byte in `docs/BUNDLE.md`.
//!
//! Those who write bundles [`pack`] a table, sign the bundle ([`signing_input`], [`attach`]), perhaps
//! seal it ([`sealed::seal`]) or ship only what changed ([`delta::delta`]).
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;
// Prepared keys are shared between threads where there are threads.
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

mod cbor;
mod chunks;
mod conditions;
mod container;
pub mod delta;
mod envelope;
mod error;
mod format;
mod header;
mod index;
mod key_id;
pub mod limits;
mod opening;
mod pack;
#[cfg(feature = "rules")]
mod rules;
pub mod sealed;
mod signing;
mod terms;
mod trust;

pub use conditions::{AfterExpiry, Conditions};
pub use container::Kind;
pub use error::OpenError;
pub use header::{Header, Label};
pub use key_id::KeyId;
pub use opening::{Description, Opened, Signer, describe, digest, open};
pub use pack::{PackError, pack, pack_as, relabel};
#[cfg(feature = "rules")]
pub use rules::{open_with_rules, pack_with_rules};
#[cfg(feature = "sign")]
pub use signing::sign;
pub use signing::{SigningError, attach, signing_input};
pub use terms::{Terms, TermsError, level_of};
pub use trust::{Quorum, Trust, TrustError, TrustSet, TrustedKey};
pub use wardgate_crypto::ml_dsa::Level;
