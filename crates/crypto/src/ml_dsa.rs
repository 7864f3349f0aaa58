//! ML-DSA as FIPS 204 has it: verification of signatures with prepared keys, one at a time or in batches.
//!
//! Verification handles public data only, so its timing tells no secret. Every malformed thing is `false`:
//! no length, no byte and no key makes it panic.

use alloc::vec::Vec;
use core::fmt;

mod batch;
mod challenge;
mod commitment;
mod expand;
mod field;
mod level;
mod matrix;
mod ntt;
mod response;
#[cfg(feature = "sign")]
mod sign;
mod signature;
mod verify;

pub use level::Level;
#[cfg(feature = "sign")]
pub use sign::{SignError, SigningKey};

use crate::shake::{Message, RATE_256, first_blocks};
use matrix::Matrix;
use signature::Signature;
use verify::{Job, MU_BYTES, Signed, Single};
use wardgate_simd::lanes::{self, Kernel, Tier};

/// Names the set of instructions that verification runs on here, for reports.
#[must_use]
pub fn chosen_tier() -> &'static str {
    lanes::chosen()
}

/// A public key, made ready so that one verification after the other needs only its own work.
///
/// Preparing costs several verifications: keep the key for as long as it is trusted.
#[derive(Clone)]
pub struct PreparedKey {
    level: Level,
    bytes: Vec<u8>,
    /// tr, the hash of the key, with which every message is hashed.
    digest: [u8; MU_BYTES],
    matrix: Matrix,
}

impl PreparedKey {
    /// Prepares a public key in the encoding of FIPS 204.
    ///
    /// # Errors
    ///
    /// The key has not the length that its level asks for, or its seed gives no matrix.
    pub fn new(level: Level, public_key: &[u8]) -> Result<Self, KeyError> {
        if public_key.len() != level.public_key_bytes() {
            let (expected, found) = (level.public_key_bytes(), public_key.len());
            return Err(KeyError::WrongLength { expected, found });
        }
        let matrix = Matrix::of(level, public_key).ok_or(KeyError::Unsampled)?;
        let digest = lanes::dispatch(Digest(public_key));
        Ok(Self { level, bytes: public_key.into(), digest, matrix })
    }

    /// Returns the level that the key belongs to.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns the key as it was given.
    #[must_use]
    pub fn public_key(&self) -> &[u8] {
        &self.bytes
    }

    /// Tells whether `signature` is one of this key over `message` in `context`.
    ///
    /// A context of more than 255 bytes has no signatures.
    #[must_use]
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> bool {
        let Some(prefix) = prefix(context) else { return false };
        self.answer(Signed::Message([&prefix, context, message]), signature)
    }

    /// FIPS 204, Algorithm 8, over M' itself: what the test vectors of the internal interface ask for.
    #[doc(hidden)]
    #[must_use]
    pub fn verify_internal(&self, message: &[u8], signature: &[u8]) -> bool {
        self.answer(Signed::Message([message, &[], &[]]), signature)
    }

    /// FIPS 204, Algorithm 8, from mu on: what the test vectors with an external mu ask for.
    #[doc(hidden)]
    #[must_use]
    pub fn verify_mu(&self, mu: &[u8; MU_BYTES], signature: &[u8]) -> bool {
        self.answer(Signed::Mu(mu), signature)
    }

    fn answer(&self, signed: Signed<'_>, signature: &[u8]) -> bool {
        let Some(signature) = Signature::decode(self.level, signature) else { return false };
        lanes::dispatch(Single(Job { key: self, signed, signature }))
    }
}

/// What stands before the context in M': that nothing was hashed before, and the length of the context.
fn prefix(context: &[u8]) -> Option<[u8; 2]> {
    Some([0, u8::try_from(context.len()).ok()?])
}

/// Hashes a public key to tr.
struct Digest<'a>(&'a [u8]);

impl Kernel for Digest<'_> {
    type Output = [u8; MU_BYTES];

    fn run<T: Tier>(self, tier: T) -> [u8; MU_BYTES] {
        let mut block = [[0; RATE_256]];
        first_blocks(tier.narrow(), &[Message([self.0, &[], &[], &[]])], &mut block);
        let [block] = block;
        core::array::from_fn(|index| block.get(index).copied().unwrap_or_default())
    }
}

impl fmt::Debug for PreparedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PreparedKey").field("level", &self.level).finish_non_exhaustive()
    }
}

/// Why a public key cannot be prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The key has another length than its level asks for.
    WrongLength {
        /// The bytes of a key of this level.
        expected: usize,
        /// The bytes that were given.
        found: usize,
    },
    /// The seed of the key gives no matrix within the bound of FIPS 204, which no honest key does.
    Unsampled,
}

impl fmt::Display for KeyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { expected, found } => {
                write!(out, "a public key of this level has {expected} bytes, found {found}")
            }
            Self::Unsampled => out.write_str("the seed of the public key gives no matrix"),
        }
    }
}

impl core::error::Error for KeyError {}

/// One signature of a batch, and what it is said to sign.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The key that is said to have signed.
    pub key: &'a PreparedKey,
    /// What is said to be signed.
    pub message: &'a [u8],
    /// The context that it was signed in: at most 255 bytes.
    pub context: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

/// Answers every question: `accepted[i]` belongs to `questions[i]`.
///
/// Answers without a question are `false`, and questions without a place for the answer are not asked.
/// With the feature `threads` a large batch is spread over all cores.
pub fn verify_batch(questions: &[Question<'_>], accepted: &mut [bool]) {
    accepted.fill(false);
    batch::answer(questions, accepted);
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
