//! The Ed25519 key of a log, for programs and witnesses that do not know ML-DSA-44 yet.
//!
//! It follows from the key of the log, so there is one secret. Whoever breaks Ed25519 learns nothing of the other key.

use std::fmt;
use std::fs;
use std::io;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use wardgate_decision_log::note::{Signature, VerifierKey};
use wardgate_decision_log::signer::LogSigner;

use super::error::{LogError, Result};
use super::folder::Folder;

/// The key with which a log signs its checkpoints too.
pub struct SecondKey {
    pair: Ed25519KeyPair,
    verifier: VerifierKey,
}

impl SecondKey {
    /// Returns the Ed25519 key that follows from the key of a log.
    ///
    /// # Errors
    /// The library refuses it.
    pub fn of(signer: &LogSigner) -> Result<Self> {
        let refused = |what: &str| LogError::Checkpoint(what.to_owned());
        let pair = Ed25519KeyPair::from_seed_unchecked(&signer.ed25519_seed());
        let pair = pair.map_err(|_| refused("the library refuses its Ed25519 key"))?;
        let public = pair.public_key().as_ref().try_into();
        let public = public.map_err(|_| refused("its Ed25519 key is too long"))?;
        Ok(Self { verifier: signer.ed25519_verifier(public), pair })
    }

    /// Returns the key that verifies.
    #[must_use]
    pub const fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Signs the text of a note.
    pub(super) fn sign(&self, text: &str) -> Signature {
        let VerifierKey { name, .. } = &self.verifier;
        let bytes = self.pair.sign(text.as_bytes()).as_ref().to_vec();
        Signature { name: name.clone(), id: self.verifier.id(), bytes }
    }
}

/// Shows no secret.
impl fmt::Debug for SecondKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecondKey({})", self.verifier)
    }
}

/// Returns true if an Ed25519 key has signed a message.
#[must_use]
pub fn verify_ed25519(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
}

/// Returns true if the log in a folder signs with Ed25519, too.
pub(super) fn is_used(folder: &Folder) -> bool {
    folder.path().join(FILE).exists()
}

/// Writes the key that verifies into the folder of its log, or removes it if the log has no second key any more.
pub(super) fn publish(folder: &Folder, key: Option<&SecondKey>) -> Result<()> {
    let path = folder.path().join(FILE);
    let Some(key) = key else {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(LogError::Write(path, error))
            }
            _ => Ok(()),
        };
    };
    let text = format!("{}\n", key.verifier());
    let is_there = fs::read(&path).is_ok_and(|found| found == text.as_bytes());
    if is_there { Ok(()) } else { folder.replace(FILE, text.as_bytes()) }
}

/// The name of the file with the key that verifies.
const FILE: &str = "ed25519.vkey";
