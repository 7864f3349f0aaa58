//! Checkpoints: the size and root of a log, signed by it with ML-DSA-44 (C2SP, tlog-checkpoint and
//! tlog-cosignature), and perhaps with Ed25519 too, as all programs for such logs know it (signed-note).

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64ct::{Base64, Encoding};
use wardgate_crypto::ml_dsa::{Level, PreparedKey};
#[cfg(any(test, feature = "sign"))]
use wardgate_crypto::ml_dsa::{SignError, SigningKey};

use crate::cosigner::VerifyEd25519;
use crate::limits::MAX_ORIGIN_BYTES;
use crate::merkle::Head;
#[cfg(any(test, feature = "sign"))]
use crate::note::Signature;
use crate::note::{Note, NoteError, VerifierKey, is_key_name};

/// The type of timestamped ML-DSA-44 signatures.
pub const ML_DSA_44: u8 = 6;

/// The type of Ed25519 signatures of the text of a note.
pub const NOTE_ED25519: u8 = 1;

/// A tree head of the log with an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: String,
    /// Its size and root.
    pub head: Head,
}

/// A checkpoint whose signature was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The time of the signature in seconds since 1970, as its signer says; 0 for one of Ed25519, which has none.
    pub seconds: u64,
}

/// A key that verifies the checkpoints of a log, or the cosignatures of a witness.
#[derive(Clone, Debug)]
pub struct LogKey {
    name: String,
    id: [u8; 4],
    key: PublicKey,
}

#[derive(Clone, Debug)]
enum PublicKey {
    MlDsa44(Box<PreparedKey>),
    Ed25519([u8; 32], VerifyEd25519),
}

/// The reason for which a checkpoint is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    /// It is no note.
    Note(NoteError),
    /// Its text is no tree head.
    Form,
    /// The key did not sign it.
    Unsigned,
    /// A signature of the key is wrong.
    Forged,
}

impl Checkpoint {
    /// Reads the text of a note.
    ///
    /// # Errors
    /// The text is no tree head.
    pub fn read(text: &str) -> Result<Self, CheckpointError> {
        Self::of(text).ok_or(CheckpointError::Form)
    }

    fn of(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        // Extensions are covered by no signature, and are not passed on.
        let is_whole = is_origin(origin) && lines.all(|line| !line.is_empty());
        let mut digest = [0; 32];
        let length = Base64::decode(root, &mut digest).ok()?.len();
        let head = Head { size: decimal(size)?, root: digest };
        (is_whole && length == digest.len()).then(|| Self { origin: origin.to_owned(), head })
    }

    /// Returns the message that a signature covers.
    fn message(&self, name: &str, seconds: u64) -> Vec<u8> {
        let mut message = Vec::from(*b"subtree/v1\n\0");
        put_short(name, &mut message);
        message.extend(seconds.to_be_bytes());
        put_short(&self.origin, &mut message);
        message.extend(0_u64.to_be_bytes());
        message.extend(self.head.size.to_be_bytes());
        message.extend(self.head.root);
        message
    }

    /// Signs the checkpoint under a key name, at a time in seconds since 1970, hedged with
    /// `randomness`, and returns the signature of the note.
    ///
    /// # Errors
    /// The key is not one of ML-DSA-44, or the library found no signature.
    #[cfg(any(test, feature = "sign"))]
    pub fn sign(
        &self,
        (key, name): (&SigningKey, &str),
        seconds: u64,
        randomness: &[u8; 32],
    ) -> Result<Signature, SignError> {
        if key.level() != Level::MlDsa44 {
            return Err(SignError::NotFound);
        }
        let signature = key.sign(&self.message(name, seconds), b"", Some(randomness))?;
        let public = VerifierKey { name: name.to_owned(), kind: ML_DSA_44, key: key.public_key() };
        let bytes = [seconds.to_be_bytes().as_slice(), &signature].concat();
        Ok(Signature { id: public.id(), name: public.name, bytes })
    }
}

/// The text of a note.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = Base64::encode_string(&self.head.root);
        writeln!(f, "{}\n{}\n{root}", self.origin, self.head.size)
    }
}

impl LogKey {
    /// Reads a key in its text form, which must be one of ML-DSA-44.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let found = VerifierKey::read(text).filter(|found| found.kind == ML_DSA_44)?;
        let key = PreparedKey::new(Level::MlDsa44, &found.key).ok()?;
        Some(Self { id: found.id(), name: found.name, key: PublicKey::MlDsa44(Box::new(key)) })
    }

    /// Reads a key in its text form, of ML-DSA-44 or of Ed25519, which verifies by `ed25519`.
    #[must_use]
    pub fn read_either(text: &str, ed25519: VerifyEd25519) -> Option<Self> {
        let found = VerifierKey::read(text)?;
        if found.kind != NOTE_ED25519 {
            return Self::read(text);
        }
        let (id, key) = (found.id(), found.key.try_into().ok()?);
        Some(Self { name: found.name, id, key: PublicKey::Ed25519(key, ed25519) })
    }

    /// Returns the name of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id of the key.
    pub(crate) const fn id(&self) -> [u8; 4] {
        self.id
    }

    /// Verifies a checkpoint in a note.
    ///
    /// # Errors
    /// The note is no checkpoint, or has no right signature of the key.
    pub fn open(&self, note: &[u8]) -> Result<Opened, CheckpointError> {
        self.open_note(&Note::read(note).map_err(CheckpointError::Note)?)
    }

    /// Verifies a checkpoint in a note that was read.
    ///
    /// # Errors
    /// The text is no tree head, or has no right signature of the key.
    pub fn open_note(&self, note: &Note) -> Result<Opened, CheckpointError> {
        let checkpoint = Checkpoint::read(&note.text)?;
        let verify = |bytes: &[u8]| match &self.key {
            PublicKey::MlDsa44(key) => self.verify_timestamped(key, &checkpoint, bytes),
            PublicKey::Ed25519(key, ed25519) => {
                ed25519(key, note.text.as_bytes(), bytes.try_into().ok()?).then_some(0)
            }
        };
        let seconds = verify_own(note, (&self.name, self.id), verify)?;
        Ok(Opened { checkpoint, seconds })
    }

    fn verify_timestamped(
        &self,
        key: &PreparedKey,
        checkpoint: &Checkpoint,
        bytes: &[u8],
    ) -> Option<u64> {
        let (seconds, signature) = bytes.split_first_chunk()?;
        let seconds = u64::from_be_bytes(*seconds);
        let message = checkpoint.message(&self.name, seconds);
        let is_right = i64::try_from(seconds).is_ok() && key.verify(&message, b"", signature);
        is_right.then_some(seconds)
    }
}

/// Returns the time of a signature by the key with this name and id, all of which must be right.
pub(crate) fn verify_own(
    note: &Note,
    (name, id): (&str, [u8; 4]),
    verify: impl Fn(&[u8]) -> Option<u64>,
) -> Result<u64, CheckpointError> {
    let own = note.signatures.iter().filter(|one| one.name == name && one.id == id);
    let mut found = Err(CheckpointError::Unsigned);
    for signature in own {
        found = Ok(verify(&signature.bytes).ok_or(CheckpointError::Forged)?);
    }
    found
}

/// Returns true if a log may have this origin. It is also the name of its key.
#[must_use]
pub fn is_origin(origin: &str) -> bool {
    origin.len() <= MAX_ORIGIN_BYTES && is_key_name(origin)
}

/// Reads a decimal number without leading zeros.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (format!("{number}") == text).then_some(number)
}

/// Writes a text of at most 255 bytes after its length.
fn put_short(text: &str, out: &mut Vec<u8>) {
    out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(text.as_bytes());
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(error) => error.fmt(f),
            Self::Form => f.write_str("expected the origin, size and root of a log"),
            Self::Unsigned => f.write_str("the key of the log did not sign the checkpoint"),
            Self::Forged => f.write_str("a signature of the checkpoint is wrong"),
        }
    }
}

impl core::error::Error for CheckpointError {}

#[cfg(test)]
mod tests;
