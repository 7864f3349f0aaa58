//! What a witness has cosigned: the newest checkpoint of each log, in a file of its own.
//!
//! ```text
//! folder/.lock             held by the one process that cosigns
//!        identity          the key of the witness
//!        HASH.checkpoint   the newest checkpoint of a log, with both signatures
//!        HASH.fork         one that contradicts it: proof that the log has two pasts
//! ```
//!
//! `HASH` is the SHA-256 digest of the origin in hexadecimal digits.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use wardgate_decision_log::checkpoint::{Checkpoint, LogKey};
use wardgate_decision_log::limits::MAX_NOTE_BYTES;
use wardgate_decision_log::merkle::Head;
use wardgate_decision_log::note::{Note, Signature};
use wardgate_decision_log::signer::LogSigner;
use wardgate_decision_log::witness::{AddCheckpoint, Refusal};

use crate::files::{bounded, reason, unreadable};
use crate::journal::error::JournalError;
use crate::journal::files::{file_id, lock, replace};

/// The logs of a witness, and what it has cosigned of them.
#[derive(Debug)]
pub(super) struct States {
    folder: PathBuf,
    signer: LogSigner,
    logs: Vec<LogKey>,
    /// By the digest of the origin.
    latest: BTreeMap<String, State>,
    lock: Lock,
    random: SystemRandom,
}

/// The newest checkpoint of a log that was cosigned.
#[derive(Clone, Debug)]
struct State {
    head: Head,
    /// The time of the cosignature.
    seconds: u64,
    /// The checkpoint with the signature of the log and the cosignature.
    note: String,
}

/// The lock of the one process, as long as this lives.
#[derive(Debug)]
struct Lock {
    /// The system unlocks it.
    _file: File,
    path: PathBuf,
    id: Option<(u64, u64)>,
}

/// The reason for which there is no cosignature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Refused(Refusal),
    /// It could not be kept, in words for the operator.
    Broken(String),
}

impl States {
    /// Reads the states in a folder, or makes it.
    ///
    /// # Errors
    /// Another process uses the folder, it has the state of no or another witness, or a file is damaged; in words for the operator.
    pub(super) fn open(
        folder: PathBuf,
        is_new: bool,
        signer: LogSigner,
        logs: Vec<LogKey>,
    ) -> Result<Self, String> {
        let lock = identify(&folder, is_new, &signer)?;
        let own = LogKey::read(&signer.verifier().to_string());
        let own = own.ok_or_else(|| "the key of the witness cannot verify".to_owned())?;
        let mut latest = BTreeMap::new();
        for origin in logs.iter().map(LogKey::name) {
            let path = folder.join(format!("{}.checkpoint", hash(origin)));
            if let Some(state) = read_state(&path, origin, &own)? {
                latest.insert(hash(origin), state);
            }
        }
        Ok(Self { folder, signer, logs, latest, lock, random: SystemRandom::new() })
    }

    /// Returns the size and root of the newest checkpoint of a log that was cosigned.
    pub(super) fn latest(&self, origin: &str) -> Option<Head> {
        self.latest.get(&hash(origin)).map(|state| state.head)
    }

    /// Returns the newest checkpoint of the log whose origin has this digest.
    pub(super) fn checkpoint(&self, hash: &str) -> Option<String> {
        self.latest.get(hash).map(|state| state.note.clone())
    }

    /// Cosigns a checkpoint if its log goes on from the one before. It is on the disk when this returns.
    ///
    /// # Errors
    /// The log does not go on, or is not trusted, or the checkpoint cannot be kept: then nothing is cosigned.
    pub(super) fn add(&mut self, request: &AddCheckpoint, now: u64) -> Result<Signature, Failure> {
        let signed = request.signed(&self.logs).map_err(Failure::Refused)?;
        let Checkpoint { origin, head } = &signed.checkpoint;
        let (hash, latest) = (hash(origin), self.latest(origin));
        if let Err(refusal) = request.follows(*head, latest) {
            self.tell(refusal, origin, (*head, latest), request);
            return Err(Failure::Refused(refusal));
        }
        // A later cosignature says that it has seen more, so its time cannot be earlier. Zero would say nothing.
        let before = self.latest.get(&hash).map_or(1, |state| state.seconds);
        let seconds = now.max(before);
        let cosignature = self.cosign(&signed.checkpoint, seconds).map_err(Failure::Broken)?;
        let mut note = self.without_others(&request.note, origin);
        note.signatures.push(cosignature.clone());
        let state = State { head: *head, seconds, note: note.to_string() };
        self.keep(&hash, "checkpoint", &state.note).map_err(Failure::Broken)?;
        self.latest.insert(hash, state);
        Ok(cosignature)
    }

    fn cosign(&self, checkpoint: &Checkpoint, seconds: u64) -> Result<Signature, String> {
        let mut randomness = [0; 32];
        let filled = self.random.fill(&mut randomness);
        filled.map_err(|_| "the system has no randomness".to_owned())?;
        let signed = self.signer.cosign(checkpoint, seconds, &randomness);
        signed.map_err(|_| "the library found no signature".to_owned())
    }

    /// Returns the note with the signatures of trusted keys of the log alone: those of others are not known to be right.
    fn without_others(&self, note: &Note, origin: &str) -> Note {
        let mut own = note.clone();
        own.signatures.retain(|one| {
            let keys = self.logs.iter().filter(|key| key.name() == origin);
            let alone = Note { text: note.text.clone(), signatures: vec![one.clone()] };
            keys.into_iter().any(|key| key.open_note(&alone).is_ok())
        });
        own
    }

    /// Tells the operator of a log that does not go on, and keeps what proves that it has two pasts.
    fn tell(
        &self,
        refusal: Refusal,
        origin: &str,
        (new, latest): (Head, Option<Head>),
        request: &AddCheckpoint,
    ) {
        let seen = latest.map_or(0, |latest| latest.size);
        if refusal != Refusal::Inconsistent {
            return;
        }
        tracing::warn!(
            origin,
            size = new.size,
            seen,
            "a signed checkpoint does not go on from the one that was cosigned"
        );
        let is_fork = latest.is_some_and(|seen| seen.size == new.size && seen.root != new.root);
        if !is_fork {
            return;
        }
        let path = self.folder.join(format!("{}.fork", hash(origin)));
        let kept = if path.exists() {
            Ok(())
        } else {
            self.keep(&hash(origin), "fork", &request.note.to_string())
        };
        match kept {
            Ok(()) => tracing::error!(
                origin,
                size = new.size,
                file = %path.display(),
                "the log has signed two checkpoints of one size: the file proves it"
            ),
            Err(error) => tracing::error!(
                origin,
                size = new.size,
                "the log has signed two checkpoints of one size: {error}"
            ),
        }
    }

    fn keep(&self, hash: &str, kind: &str, note: &str) -> Result<(), String> {
        self.lock.check()?;
        let path = self.folder.join(format!("{hash}.{kind}"));
        replace(&path, note.as_bytes()).map_err(|(path, error)| unwritable(&path, &error))
    }
}

impl Lock {
    fn take(folder: &Path) -> Result<Self, String> {
        let path = folder.join(".lock");
        let file = lock(&path).map_err(|error| match error {
            JournalError::Locked => {
                format!("another witness uses `{}`", folder.display())
            }
            JournalError::Write(error) => unwritable(&path, &error),
            other => other.to_string(),
        })?;
        let id = file.metadata().map(|found| file_id(&found));
        let id = id.map_err(|error| unreadable(&path, &error))?;
        Ok(Self { _file: file, path, id })
    }

    /// Checks that no other process can have locked the folder meanwhile.
    fn check(&self) -> Result<(), String> {
        let is_same = fs::metadata(&self.path).is_ok_and(|found| file_id(&found) == self.id);
        let replaced = || {
            format!(
                "`{}` was deleted or replaced: another witness may use the folder",
                self.path.display()
            )
        };
        if is_same { Ok(()) } else { Err(replaced()) }
    }
}

/// Locks the folder of a witness, and checks that it is of this one; or makes it.
fn identify(folder: &Path, is_new: bool, signer: &LogSigner) -> Result<Lock, String> {
    let (path, expected) = (folder.join("identity"), signer.verifier());
    let expected = format!("{IDENTITY}\n{expected}\n");
    let shown = folder.display();
    if is_new {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    } else if !path.exists() {
        return Err(format!(
            "`{shown}` has no state of a witness: `--new` makes it, but a witness whose state is lost needs another key"
        ));
    }
    let lock = Lock::take(folder)?;
    match (bounded(&path, MAX_IDENTITY_BYTES), is_new) {
        (Ok(_), true) => {
            Err(format!("`{shown}` has the state of a witness already: leave `--new` out"))
        }
        (Ok(found), false) if found == expected.as_bytes() => Ok(lock),
        (Ok(_), false) => Err(format!("`{shown}` has the state of a witness with another key")),
        (Err(error), true) if error.kind() == io::ErrorKind::NotFound => {
            let written = replace(&path, expected.as_bytes());
            written.map_err(|(path, error)| unwritable(&path, &error))?;
            Ok(lock)
        }
        (Err(error), _) => Err(unreadable(&path, &error)),
    }
}

/// Reads what was cosigned of a log; `None` if nothing was.
fn read_state(path: &Path, origin: &str, own: &LogKey) -> Result<Option<State>, String> {
    let most = u64::try_from(MAX_NOTE_BYTES).unwrap_or(u64::MAX);
    let bytes = match bounded(path, most) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let opened = own.open(&bytes).ok().filter(|opened| opened.checkpoint.origin == origin);
    let damaged = || {
        format!("`{}` is damaged: it is no checkpoint that this witness cosigned", path.display())
    };
    let opened = opened.ok_or_else(damaged)?;
    let note = String::from_utf8(bytes).map_err(|_| damaged())?;
    Ok(Some(State { head: opened.checkpoint.head, seconds: opened.seconds, note }))
}

/// Returns the digest of an origin in hexadecimal digits.
pub(super) fn hash(origin: &str) -> String {
    let digest = digest(&SHA256, origin.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unwritable(path: &Path, error: &io::Error) -> String {
    format!("cannot write `{}`: {}", path.display(), reason(error))
}

/// The first line of the file `identity`.
const IDENTITY: &str = "wardgate witness 1";

/// The most bytes of the file `identity`: a key of ML-DSA-44 in Base64, and a few words.
const MAX_IDENTITY_BYTES: u64 = 8192;
