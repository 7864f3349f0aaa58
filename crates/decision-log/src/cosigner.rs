//! Keys of witnesses: they verify cosignatures of ML-DSA-44 and of Ed25519 (C2SP, tlog-cosignature).
//!
//! This crate has no Ed25519: a program that accepts such witnesses hands over a function.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crate::checkpoint::{CheckpointError, LogKey, ML_DSA_44, verify_own};
use crate::note::{Note, Signature, VerifierKey};

/// The type of timestamped Ed25519 signatures.
pub const ED25519: u8 = 4;

/// Returns true if an Ed25519 key (the first argument) has signed a message (the second).
pub type VerifyEd25519 = fn(&[u8; 32], &[u8], &[u8; 64]) -> bool;

/// Returns false: for programs that have no Ed25519 and accept no such witness.
#[must_use]
pub const fn no_ed25519(_: &[u8; 32], _: &[u8], _: &[u8; 64]) -> bool {
    false
}

/// A key that verifies the cosignatures of a witness.
#[derive(Clone, Debug)]
pub enum CosignerKey {
    /// A key of ML-DSA-44.
    MlDsa44(Box<LogKey>),
    /// A key of Ed25519.
    Ed25519(Ed25519Key),
}

/// A key of Ed25519 with a name.
#[derive(Clone, Debug)]
pub struct Ed25519Key {
    name: String,
    id: [u8; 4],
    key: [u8; 32],
}

impl CosignerKey {
    /// Reads a key in its text form. Returns `None` if it is none, or of another type.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let found = VerifierKey::read(text)?;
        match found.kind {
            ML_DSA_44 => LogKey::read(text).map(Box::new).map(Self::MlDsa44),
            ED25519 => {
                let (id, key) = (found.id(), found.key.try_into().ok()?);
                Some(Self::Ed25519(Ed25519Key { name: found.name, id, key }))
            }
            _ => None,
        }
    }

    /// Returns the name of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::MlDsa44(key) => key.name(),
            Self::Ed25519(key) => &key.name,
        }
    }

    /// Returns true if a signature says that it is of this key. It may be wrong.
    #[must_use]
    pub fn has_made(&self, signature: &Signature) -> bool {
        let id = match self {
            Self::MlDsa44(key) => key.id(),
            Self::Ed25519(key) => key.id,
        };
        signature.name == self.name() && signature.id == id
    }

    /// Verifies the cosignatures of this key on a checkpoint, and returns the time of the last one in seconds since 1970,
    /// as the witness says.
    ///
    /// # Errors
    /// The note is no checkpoint, this key did not sign it, or a signature of it is wrong.
    pub fn verify(&self, note: &Note, ed25519: VerifyEd25519) -> Result<u64, CheckpointError> {
        match self {
            Self::MlDsa44(key) => key.open_note(note).map(|opened| opened.seconds),
            Self::Ed25519(key) => {
                verify_own(note, (&key.name, key.id), |bytes| key.verify_one(note, bytes, ed25519))
            }
        }
    }
}

impl Ed25519Key {
    fn verify_one(&self, note: &Note, bytes: &[u8], ed25519: VerifyEd25519) -> Option<u64> {
        let (seconds, signature) = bytes.split_first_chunk()?;
        let seconds = u64::from_be_bytes(*seconds);
        i64::try_from(seconds).ok()?;
        let message = format!("cosignature/v1\ntime {seconds}\n{}", note.text);
        ed25519(&self.key, message.as_bytes(), signature.try_into().ok()?).then_some(seconds)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::merkle::Head;
    use crate::signer::LogSigner;

    // The example of C2SP, tlog-cosignature. Its key is not published, so only the message is compared.
    const NOTE: &str = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";

    fn is_message_of_c2sp(_: &[u8; 32], message: &[u8], _: &[u8; 64]) -> bool {
        message == b"cosignature/v1\ntime 1679315147\nexample.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    }

    #[test]
    fn the_message_of_ed25519_is_that_of_the_specification() {
        let note = Note::read(NOTE.as_bytes()).unwrap();
        let Signature { name, id, .. } = note.signatures[1].clone();
        let key = CosignerKey::Ed25519(Ed25519Key { name, id, key: [7; 32] });
        assert_eq!(key.verify(&note, is_message_of_c2sp), Ok(1_679_315_147));
        assert_eq!(key.verify(&note, no_ed25519), Err(CheckpointError::Forged));
        let mut cut = note.clone();
        cut.signatures[1].bytes.truncate(71);
        assert_eq!(key.verify(&cut, is_message_of_c2sp), Err(CheckpointError::Forged));
        cut.signatures.truncate(1);
        assert_eq!(key.verify(&cut, is_message_of_c2sp), Err(CheckpointError::Unsigned));
    }

    #[test]
    fn a_cosigned_checkpoint_is_that_of_log_and_witness() {
        let (log, witness) =
            (LogSigner::new("log.example/a", &[1; 32]), LogSigner::new("w.example/1", &[2; 32]));
        let (log, witness) = (log.unwrap(), witness.unwrap());
        let mut note = log.sign(Head { size: 3, root: [9; 32] }, 5, &[0; 32]).unwrap();
        let checkpoint = Checkpoint::read(&note.text).unwrap();
        note.signatures.push(witness.cosign(&checkpoint, 7, &[0; 32]).unwrap());
        let check = |signer: &LogSigner, expected| {
            let key = CosignerKey::read(&signer.verifier().to_string()).unwrap();
            assert_eq!((key.name(), key.verify(&note, no_ed25519)), (signer.origin(), expected));
        };
        check(&log, Ok(5));
        check(&witness, Ok(7));
        let other = LogSigner::new("w.example/1", &[3; 32]).unwrap();
        check(&other, Err(CheckpointError::Unsigned));
    }

    #[test]
    fn keys_of_other_types_are_no_witnesses() {
        let check = |kind, length, is_key| {
            let key = VerifierKey { name: "w".into(), kind, key: vec![1; length] };
            assert_eq!(CosignerKey::read(&key.to_string()).is_some(), is_key, "{kind}, {length}");
        };
        check(ED25519, 32, true);
        check(ED25519, 31, false);
        check(ML_DSA_44, 1312, true);
        check(ML_DSA_44, 32, false);
        check(1, 32, false);
        check(2, 32, false);
    }
}
