//! The newest checkpoint that enough witnesses have cosigned, in the file `checkpoint.witnessed`.
//!
//! It stands beside `checkpoint`, which is newer as a rule: whoever wants a log that nobody can set back takes
//! the end of this one.

use std::path::Path;

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::merkle::Head;
use wardgate_decision_log::note::Note;
use wardgate_decision_log::witness_policy::WitnessPolicy;

use super::ed25519::verify_ed25519;
use super::error::{LogError, Result};
use super::folder::Folder;

/// The name of the file.
pub(super) const FILE: &str = "checkpoint.witnessed";

/// A checkpoint that enough witnesses have cosigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witnessed {
    /// The frames that it covers.
    pub frames: u64,
    /// The witnesses of the policy that have cosigned it, and when, in seconds since 1970, as each says.
    pub by: Vec<(String, u64)>,
}

/// Reads the newest witnessed checkpoint of a log, and verifies the signature of the log; `None` if there is none.
pub(super) fn read(folder: &Path, key: &LogKey) -> Result<Option<(Note, Head)>> {
    let Some(bytes) = Folder::new(folder).note(FILE)? else { return Ok(None) };
    open(&bytes, Path::new(FILE), key).map(Some)
}

/// Reads a checkpoint with cosignatures out of a file, and verifies the signature of the log.
pub(super) fn open(bytes: &[u8], path: &Path, key: &LogKey) -> Result<(Note, Head)> {
    let refused = |what: String| LogError::Checkpoint(format!("`{}`: {what}", path.display()));
    let note = Note::read(bytes).map_err(|error| refused(error.to_string()))?;
    let opened = key.open_note(&note).map_err(|error| refused(error.to_string()))?;
    Ok((note, opened.checkpoint.head))
}

/// Verifies that enough witnesses of a policy have cosigned the newest witnessed checkpoint. Returns `None` if there is
/// none, and the policy needs none.
///
/// # Errors
/// There is none, they are not enough, or a cosignature is wrong.
pub(super) fn must_suit(
    witnessed: Option<&(Note, Head)>,
    policy: &WitnessPolicy,
) -> Result<Option<Witnessed>> {
    let Some((note, head)) = witnessed else {
        let what = format!("there is no `{FILE}`: no witness has cosigned one yet");
        let missing = Err(LogError::Checkpoint(what));
        return if policy.is_enough(|_| false) { Ok(None) } else { missing };
    };
    Ok(Some(Witnessed { frames: head.size, by: by(note, policy)? }))
}

/// Verifies that enough witnesses of a policy have cosigned a checkpoint, and returns which, and when in seconds since 1970.
/// The signature of the log is not looked at.
///
/// # Errors
/// It is no checkpoint, they are not enough, or a cosignature is wrong.
pub fn witnesses(checkpoint: &[u8], policy: &WitnessPolicy) -> Result<Vec<(String, u64)>> {
    let note = Note::read(checkpoint);
    by(&note.map_err(|error| LogError::Checkpoint(error.to_string()))?, policy)
}

fn by(note: &Note, policy: &WitnessPolicy) -> Result<Vec<(String, u64)>> {
    let found = policy.verify(note, verify_ed25519);
    let found = found.map_err(|error| LogError::Checkpoint(error.to_string()))?;
    Ok(found.iter().map(|one| (one.witness.to_owned(), one.seconds)).collect())
}

#[cfg(test)]
mod tests {
    use ring::signature::{Ed25519KeyPair, KeyPair};
    use wardgate_decision_log::cosigner::{CosignerKey, ED25519};
    use wardgate_decision_log::note::{Signature, VerifierKey};
    use wardgate_decision_log::signer::LogSigner;

    use super::*;

    #[test]
    fn witnesses_with_keys_of_ed25519_are_verified() {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[5; 32]).unwrap();
        let key = pair.public_key().as_ref().to_vec();
        let public = VerifierKey { name: "w.example/1".into(), kind: ED25519, key };
        let log = LogSigner::new("log.example/a", &[1; 32]).unwrap();
        let mut note = log.sign(Head { size: 3, root: [9; 32] }, 5, &[0; 32]).unwrap();
        let message = format!("cosignature/v1\ntime 7\n{}", note.text);
        let signature = pair.sign(message.as_bytes());
        let bytes = [7_u64.to_be_bytes().as_slice(), signature.as_ref()].concat();
        note.signatures.push(Signature { name: public.name.clone(), id: public.id(), bytes });
        let key = CosignerKey::read(&public.to_string()).unwrap();
        assert_eq!(key.verify(&note, verify_ed25519), Ok(7));
        note.signatures[1].bytes[7] ^= 1;
        assert!(key.verify(&note, verify_ed25519).is_err());
    }
}
