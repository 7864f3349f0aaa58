//! What logs and witnesses say to each other (C2SP, tlog-witness).
//!
//! A log sends a checkpoint and the proof that it goes on from the one which the witness saw last. A
//! witness cosigns it only if that holds, and remembers it before the cosignature leaves: who has
//! enough cosignatures of honest witnesses knows that others are shown the same log.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64ct::{Base64, Encoding};

use crate::checkpoint::{Checkpoint, CheckpointError, LogKey, Opened, decimal};
use crate::limits::{MAX_ADD_CHECKPOINT_BYTES, MAX_PATH};
use crate::merkle::{self, Digest, Head};
use crate::note::{Note, NoteError};

/// The path of the request, behind the prefix that a witness has.
pub const ADD_CHECKPOINT: &str = "/add-checkpoint";

/// The content type of an answer that tells a size.
pub const SIZE_TYPE: &str = "text/x.tlog.size";

/// A request to cosign a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size of the log that the witness saw last, as the sender believes.
    pub old: u64,
    /// The proof that the log of that size is the beginning of this one.
    pub proof: Vec<Digest>,
    /// The checkpoint, whose signatures nobody has verified yet.
    pub note: Note,
}

/// The reason for which a witness does not cosign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request is none, or its old size is larger than the new one.
    Malformed,
    /// The witness knows no log of this origin.
    UnknownLog,
    /// No trusted key of the log signed the checkpoint, or a signature of one is wrong.
    Unsigned,
    /// The witness saw another size last.
    Conflict {
        /// That size.
        size: u64,
    },
    /// The log does not go on from what the witness saw.
    Inconsistent,
}

impl AddCheckpoint {
    /// Reads a request. Returns `None` if the bytes are none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_ADD_CHECKPOINT_BYTES {
            return None;
        }
        let (head, note) = core::str::from_utf8(bytes).ok()?.split_once("\n\n")?;
        let mut lines = head.split('\n');
        let old = decimal(lines.next()?.strip_prefix("old ")?)?;
        let mut proof = Vec::new();
        for line in lines {
            if proof.len() >= MAX_PATH {
                return None;
            }
            proof.push(Base64::decode_vec(line).ok()?.try_into().ok()?);
        }
        Some(Self { old, proof, note: Note::read(note.as_bytes()).ok()? })
    }

    /// Verifies the signature of the log, one of those that have these keys.
    ///
    /// # Errors
    /// It is no checkpoint, of none of these logs, or not signed.
    pub fn signed(&self, keys: &[LogKey]) -> Result<Opened, Refusal> {
        let checkpoint = Checkpoint::read(&self.note.text).map_err(|_| Refusal::Malformed)?;
        let mut found = Err(Refusal::UnknownLog);
        for key in keys.iter().filter(|key| key.name() == checkpoint.origin) {
            match key.open_note(&self.note) {
                Ok(opened) => found = Ok(opened),
                Err(CheckpointError::Unsigned) => found = found.or(Err(Refusal::Unsigned)),
                Err(_) => return Err(Refusal::Unsigned),
            }
        }
        found
    }

    /// Verifies that the log goes on from what this witness saw last of it; `None` if it saw nothing yet.
    ///
    /// # Errors
    /// The request is about another size than that, or its proof does not hold.
    pub fn follows(&self, new: Head, latest: Option<Head>) -> Result<(), Refusal> {
        let latest = latest.unwrap_or_else(|| Head { size: 0, root: merkle::empty() });
        if self.old > new.size {
            return Err(Refusal::Malformed);
        }
        if self.old != latest.size {
            return Err(Refusal::Conflict { size: latest.size });
        }
        let is_possible = new.size > 0 || new.root == merkle::empty();
        let holds = is_possible && merkle::is_consistent(latest, new, &self.proof);
        if holds { Ok(()) } else { Err(Refusal::Inconsistent) }
    }
}

/// The body of the request.
impl fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old)?;
        for digest in &self.proof {
            writeln!(f, "{}", Base64::encode_string(digest))?;
        }
        write!(f, "\n{}", self.note)
    }
}

impl Refusal {
    /// Returns the status of HTTP.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Unsigned => 403,
            Self::UnknownLog => 404,
            Self::Conflict { .. } => 409,
            Self::Inconsistent => 422,
        }
    }
}

/// The body of the answer. Of a conflict it is the size, and else words for an operator.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("expected an old size, a proof and a checkpoint\n"),
            Self::Unsigned => f.write_str("no trusted key of the log signed the checkpoint\n"),
            Self::UnknownLog => f.write_str("no log of this origin is known\n"),
            Self::Conflict { size } => writeln!(f, "{size}"),
            Self::Inconsistent => {
                f.write_str("the log does not go on from the checkpoint that was cosigned last\n")
            }
        }
    }
}

/// Reads the size out of the answer to a conflict. Returns `None` if it has none.
#[must_use]
pub fn conflict_size(body: &[u8]) -> Option<u64> {
    decimal(core::str::from_utf8(body).ok()?.strip_suffix('\n')?)
}

/// Reads the cosignatures in the answer of a witness, as a note about the text of the checkpoint. None of them was
/// verified.
///
/// # Errors
/// The answer has no lines of signatures, or too many.
pub fn cosigned(text: &str, body: &[u8]) -> Result<Note, NoteError> {
    let lines = core::str::from_utf8(body).map_err(|_| NoteError::Characters)?;
    let note: String = [text, "\n", lines].concat();
    // Further lines of text would move the place at which the text ends.
    let note = Note::read(note.as_bytes())?;
    if note.text == text { Ok(note) } else { Err(NoteError::Form) }
}

/// Returns a note with the same text and the signatures of both, each once.
#[must_use]
pub fn merged(note: &Note, other: &Note) -> Note {
    let mut all = Note { text: note.text.to_owned(), signatures: note.signatures.clone() };
    for signature in other.signatures.iter().filter(|_| other.text == note.text) {
        if !all.signatures.contains(signature) {
            all.signatures.push(signature.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests;
