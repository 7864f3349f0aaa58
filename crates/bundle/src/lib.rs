//! Bundles: policy tables as bytes that travel, and the only way back from bytes to policies.
//!
//! [`open`] checks lengths, digests, signatures, dates, revision and structure, in that order. It
//! returns a whole table or an error with a name. The format is described byte by byte in
//! `docs/BUNDLE.md`.
//!
//! A writer of bundles calls [`pack()`] on a table, signs the bundle ([`signing_input`],
//! [`attach`]), and may seal it ([`sealed::seal`]) or ship only the difference ([`delta::delta`]).
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;
// On targets with threads, these share prepared keys.
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

mod cbor;
mod chunks;
mod compress;
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
mod short_name;
mod signing;
mod terms;
mod trust;
mod words;

pub use conditions::{AfterExpiry, Conditions};
pub use container::{Kind, is_container};
pub use error::OpenError;
pub use header::{Header, Label, hexadecimal};
pub use key_id::KeyId;
#[cfg(feature = "ratelimit")]
pub use opening::open_with_limits;
pub use opening::{Description, Opened, Signer, describe, digest, open};
pub use pack::{PackError, pack, pack_as, relabel, strip};
#[cfg(all(feature = "ratelimit", feature = "rules"))]
pub use rules::open_with_rules_and_limits;
#[cfg(feature = "rules")]
pub use rules::{open_with_rules, pack_with_rules};
pub use short_name::ShortName;
#[cfg(feature = "sign")]
pub use signing::sign;
pub use signing::{SigningError, attach, signing_input};
pub use terms::{Terms, TermsError, level_of};
pub use trust::{Quorum, Trust, TrustError, TrustSet, TrustedKey};
pub use wardgate_crypto::ml_dsa::Level;
