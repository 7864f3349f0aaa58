//! ML-DSA (FIPS 204): verification of signatures with prepared keys, one at a time or in batches.
//!
//! Verification handles public data only, so its timing leaks no secret. Malformed input gives
//! `false`: no length, byte or key causes a panic.

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

/// Returns the name of the instruction set that verification uses on this machine, for reports.
#[must_use]
pub fn chosen_tier() -> &'static str {
    lanes::chosen()
}

/// A public key with the part of its verifications that is always the same done once.
///
/// Preparing costs several verifications: a host stores the prepared key for as long as it trusts
/// the key.
///
/// # Examples
/// ```
/// use wardgate_crypto::ml_dsa::{Level, PreparedKey};
///
/// let level = Level::MlDsa44;
/// let key = PreparedKey::new(level, &vec![1; level.public_key_bytes()])?;
/// let forged = vec![0; level.signature_bytes()];
/// assert!(!key.verify(b"message", b"context", &forged));
/// # Ok::<(), wardgate_crypto::ml_dsa::KeyError>(())
/// ```
#[derive(Clone)]
pub struct PreparedKey {
    level: Level,
    bytes: Vec<u8>,
    /// The hash of the key, tr, which is hashed before every message.
    digest: [u8; MU_BYTES],
    matrix: Matrix,
}

impl PreparedKey {
    /// Prepares a public key in the encoding of FIPS 204.
    ///
    /// # Errors
    ///
    /// The key has another length than its level requires, or its seed gives no matrix.
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

    /// Returns the public key in the encoding of FIPS 204.
    #[must_use]
    pub fn public_key(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns true if `signature` is one of this key over `message` in `context`.
    ///
    /// Returns false for a context of more than 255 bytes, which FIPS 204 does not allow.
    #[must_use]
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> bool {
        let Some(prefix) = prefix(context) else { return false };
        self.answer(Signed::Message([&prefix, context, message]), signature)
    }

    /// FIPS 204, Algorithm 8, over M' itself, for the test vectors of the internal interface.
    #[doc(hidden)]
    #[must_use]
    pub fn verify_internal(&self, message: &[u8], signature: &[u8]) -> bool {
        self.answer(Signed::Message([message, &[], &[]]), signature)
    }

    /// FIPS 204, Algorithm 8, from mu on, for the test vectors with an external mu.
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

/// Returns the bytes before the context in M': a zero for "not prehashed", and the length of the
/// context.
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

/// The reason why a public key cannot be prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The key has another length than its level requires.
    WrongLength {
        /// The length of a key of this level, in bytes.
        expected: usize,
        /// The length found, in bytes.
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

/// One signature of a batch, and the message that it claims to sign.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The key that the signature claims to be by.
    pub key: &'a PreparedKey,
    /// The message that it claims to sign.
    pub message: &'a [u8],
    /// The context of the signature: at most 255 bytes.
    pub context: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

/// Verifies a batch of signatures: `accepted[i]` is the result for `questions[i]`.
///
/// Slots of `accepted` without a question become `false`, and questions without a slot are not
/// verified. With the feature `threads` a large batch is spread over all cores.
///
/// # Examples
/// ```
/// use wardgate_crypto::ml_dsa::{Level, PreparedKey, Question, verify_batch};
///
/// let level = Level::MlDsa65;
/// let key = PreparedKey::new(level, &vec![1; level.public_key_bytes()])?;
/// let forged = vec![0; level.signature_bytes()];
/// let question = Question { key: &key, message: b"text", context: b"", signature: &forged };
/// let mut accepted = [true; 2];
/// verify_batch(&[question; 2], &mut accepted);
/// assert_eq!(accepted, [false; 2]);
/// # Ok::<(), wardgate_crypto::ml_dsa::KeyError>(())
/// ```
pub fn verify_batch(questions: &[Question<'_>], accepted: &mut [bool]) {
    accepted.fill(false);
    batch::answer(questions, accepted);
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
