//! The key with which a log signs its checkpoints, as a text: `PRIVATE+KEY+name+id+base64(type, seed)`.
//!
//! The form is that of private keys of the note package of Go; the type is that of timestamped ML-DSA-44.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

use base64ct::{Base64, Encoding};
use wardgate_crypto::blake3;
use wardgate_crypto::ml_dsa::{Level, SignError, SigningKey};

use crate::checkpoint::{Checkpoint, ML_DSA_44, NOTE_ED25519, is_origin};
use crate::merkle::Head;
use crate::note::{Note, Signature, VerifierKey};
use crate::redaction::LogSecret;

const PREFIX: &str = "PRIVATE+KEY+";

/// The bytes of a seed.
const SEED_BYTES: usize = 32;

/// The private key of a log, and its origin: a secret.
pub struct LogSigner {
    origin: String,
    key: SigningKey,
    /// The key from which that of pseudonyms and of the names of subjects comes.
    secret: [u8; 32],
}

impl LogSigner {
    /// Makes the key of a log from 32 random bytes, or returns `None` if no log has this origin.
    #[must_use]
    pub fn new(origin: &str, seed: &[u8; SEED_BYTES]) -> Option<Self> {
        let key = || SigningKey::from_seed(Level::MlDsa44, seed);
        let secret = blake3::derive_key("wardgate decision log 1: secret of a log", seed);
        is_origin(origin).then(|| Self { origin: origin.to_owned(), key: key(), secret })
    }

    /// Reads a key in its text form.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (name, rest) = text.trim_end_matches('\n').strip_prefix(PREFIX)?.split_once('+')?;
        let (id, key) = rest.split_once('+')?;
        let bytes = Base64::decode_vec(key).ok()?;
        let (kind, seed) = bytes.split_first()?;
        let signer = Self::new(name, seed.try_into().ok()?)?;
        (*kind == ML_DSA_44 && signer.id() == id).then_some(signer)
    }

    /// Returns the text form of the key of a log, to be kept where only the log can read it.
    #[must_use]
    pub fn text(origin: &str, seed: &[u8; SEED_BYTES]) -> Option<String> {
        let signer = Self::new(origin, seed)?;
        let key = [&[ML_DSA_44], seed.as_slice()].concat();
        Some(alloc::format!("{PREFIX}{origin}+{}+{}\n", signer.id(), Base64::encode_string(&key)))
    }

    /// Returns the origin of the log.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the key of pseudonyms and of the names of subjects.
    #[must_use]
    pub fn secret(&self) -> LogSecret {
        LogSecret::new(self.secret)
    }

    /// Returns the digest of some bytes under a key of this log, by which it knows its own state again.
    #[must_use]
    pub fn mark(&self, state: &[u8]) -> [u8; 32] {
        let key = blake3::derive_key("wardgate decision log 1: state of a log", &self.secret);
        blake3::keyed(&key, state)
    }

    /// Returns the key that verifies.
    #[must_use]
    pub fn verifier(&self) -> VerifierKey {
        let key = self.key.public_key();
        VerifierKey { name: self.origin.clone(), kind: ML_DSA_44, key }
    }

    /// Returns the seed of the Ed25519 key of this log. It follows from the key of ML-DSA-44, and not the other way round.
    #[must_use]
    pub fn ed25519_seed(&self) -> [u8; 32] {
        blake3::derive_key("wardgate decision log 1: Ed25519 key of a log", &self.secret)
    }

    /// Returns the key that verifies signatures of Ed25519, with this public key.
    #[must_use]
    pub fn ed25519_verifier(&self, key: [u8; 32]) -> VerifierKey {
        VerifierKey { name: self.origin.clone(), kind: NOTE_ED25519, key: key.to_vec() }
    }

    /// Signs a tree head at a time in seconds since 1970, and returns the note.
    ///
    /// # Errors
    /// The library found no signature.
    pub fn sign(&self, head: Head, seconds: u64, randomness: &[u8; 32]) -> Result<Note, SignError> {
        let checkpoint = Checkpoint { origin: self.origin.clone(), head };
        let signature = checkpoint.sign((&self.key, &self.origin), seconds, randomness)?;
        Ok(Note {
            text: alloc::string::ToString::to_string(&checkpoint),
            signatures: alloc::vec![signature],
        })
    }

    /// Cosigns the checkpoint of another log at a time in seconds since 1970, under the name of this key: it says that of all
    /// that this signer saw of that log, this is the largest, and the rest is its beginning.
    ///
    /// # Errors
    /// The library found no signature.
    pub fn cosign(
        &self,
        checkpoint: &Checkpoint,
        seconds: u64,
        randomness: &[u8; 32],
    ) -> Result<Signature, SignError> {
        checkpoint.sign((&self.key, &self.origin), seconds, randomness)
    }

    fn id(&self) -> String {
        self.verifier().id().iter().map(|byte| alloc::format!("{byte:02x}")).collect()
    }
}

/// Shows no secret.
impl fmt::Debug for LogSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogSigner({})", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;
    use crate::checkpoint::LogKey;

    #[test]
    fn a_key_is_read_as_it_was_written_and_signs_for_its_verifier() {
        let text = LogSigner::text("log.example/a", &[7; 32]).unwrap();
        let signer = LogSigner::read(&text).unwrap();
        let head = Head { size: 3, root: [9; 32] };
        let note = signer.sign(head, 1_790_000_000, &[0; 32]).unwrap().to_string();
        let key = LogKey::read(&signer.verifier().to_string()).unwrap();
        let opened = key.open(note.as_bytes()).unwrap();
        assert_eq!((opened.checkpoint.head, opened.seconds), (head, 1_790_000_000));
        assert_eq!(format!("{signer:?}"), "LogSigner(log.example/a)");
    }

    #[test]
    fn other_texts_are_no_keys() {
        let text = LogSigner::text("a", &[7; 32]).unwrap();
        let check = |text: &str| assert!(LogSigner::read(text).is_none(), "{text}");
        check("");
        check(text.strip_prefix("PRIVATE").unwrap());
        check(&text.replace("+a+", "+b+"));
        check(&text.replace("KEY+", "KEY+x"));
        check(&text.replace("BgcH", "BwcH"));
        check(&text[..text.len() - 5]);
        assert!(LogSigner::text("with space", &[7; 32]).is_none());
    }
}
