//! Proofs: one record, and the way from it to a checkpoint (C2SP, tlog-proof).
//!
//! The proof is that of the frame in its log, which any verifier of such proofs reads. The extra data beside it has the
//! record and its path in the frame:
//!
//! | bytes | extra data |
//! |---|---|
//! | 1 | 1, the version of this form |
//! | 112 | the head of the frame, without its check |
//! | 4 | the position of the record in the frame |
//! | 2 + n | the record |
//! | 32 each | the path of the record, the lowest digest first |

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64ct::{Base64, Encoding};

use crate::bytes::{Reader, put_bytes};
use crate::checkpoint::{CheckpointError, LogKey, Opened, decimal};
use crate::frame::{ENTRY_HEAD_BYTES, Frame, Head};
use crate::limits::{MAX_NOTE_BYTES, MAX_PATH, MAX_RECORD_BYTES};
use crate::merkle;
use crate::record::Record;
use crate::tree::{self, Digest};

/// The first line of a proof.
pub const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";

const VERSION: u8 = 1;

/// A proof of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The head of the frame.
    pub head: Head,
    /// The position of the record in its frame.
    pub position: u32,
    /// The bytes of the record.
    pub record: Vec<u8>,
    /// The path of the record in its frame.
    pub path: Vec<Digest>,
    /// The number of the frame in its log.
    pub index: u64,
    /// The path of the frame in its log.
    pub inclusion: Vec<Digest>,
    /// The checkpoint, a signed note.
    pub checkpoint: String,
}

/// A record that was proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proved {
    /// The record.
    pub record: Record,
    /// Its number in the log.
    pub number: u64,
    /// The checkpoint that the proof leads to.
    pub checkpoint: Opened,
}

/// The reason for which a proof is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// It is no proof of a record.
    Form,
    /// Its checkpoint is refused.
    Checkpoint(CheckpointError),
    /// The record is not in the frame.
    Record,
    /// The frame is not in the log.
    Frame,
}

impl Proof {
    /// Makes the proof of the record at a position of a frame. `index` and `inclusion` are those of the frame in
    /// the log of the checkpoint. Returns `None` if the frame has no such record.
    #[must_use]
    pub fn new(
        (frame, position): (&Frame<'_>, u32),
        (index, inclusion): (u64, Vec<Digest>),
        checkpoint: &str,
    ) -> Option<Self> {
        let at = usize::try_from(position).ok()?;
        Some(Self {
            head: frame.head,
            position,
            record: frame.records.get(at)?.to_vec(),
            path: tree::path(&frame.records, at)?,
            index,
            inclusion,
            checkpoint: String::from(checkpoint),
        })
    }

    /// Reads a proof.
    ///
    /// # Errors
    /// The bytes are no proof of a record.
    pub fn read(bytes: &[u8]) -> Result<Self, ProofError> {
        let text = bytes.get(..MAX_BYTES).map_or(Some(bytes), |_| None);
        let text = text.and_then(|bytes| core::str::from_utf8(bytes).ok());
        text.and_then(Self::of).ok_or(ProofError::Form)
    }

    fn of(text: &str) -> Option<Self> {
        let (proof, checkpoint) = text.split_once("\n\n")?;
        let mut lines = proof.split('\n');
        lines.next().filter(|line| *line == FIRST_LINE)?;
        let extra = Base64::decode_vec(lines.next()?.strip_prefix("extra ")?).ok()?;
        let index = decimal(lines.next()?.strip_prefix("index ")?)?;
        let mut inclusion = Vec::new();
        for line in lines {
            let digest = Base64::decode_vec(line).ok()?;
            inclusion.push(digest.try_into().ok()?);
            if inclusion.len() > MAX_PATH {
                return None;
            }
        }
        let checkpoint = String::from(checkpoint);
        let (head, position, record, path) = extra_data(&extra)?;
        Some(Self { head, position, record, path, index, inclusion, checkpoint })
    }

    /// Verifies the proof with the key of the log.
    ///
    /// # Errors
    /// The checkpoint is not signed by the key, or the record is none of its log.
    pub fn verify(&self, key: &LogKey) -> Result<Proved, ProofError> {
        let checkpoint = key.open(self.checkpoint.as_bytes()).map_err(ProofError::Checkpoint)?;
        let (position, count) = (u64::from(self.position), u64::from(self.head.count));
        let root = tree::climb(&self.record, position, count, &self.path);
        if root != Some(self.head.root) {
            return Err(ProofError::Record);
        }
        let head = checkpoint.checkpoint.head;
        let entry = self.head.entry(&checkpoint.checkpoint.origin);
        let root = merkle::climb(&entry, self.index, head.size, &self.inclusion);
        if root != Some(head.root) {
            return Err(ProofError::Frame);
        }
        let record = Record::read(&self.record).ok_or(ProofError::Form)?;
        let number = self.head.first.saturating_add(position);
        Ok(Proved { record, number, checkpoint })
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut extra = Vec::from([VERSION]);
        extra.extend(self.head.entry(""));
        extra.extend(self.position.to_le_bytes());
        put_bytes(&self.record, &mut extra);
        extra.extend_from_slice(self.path.as_flattened());
        let extra = Base64::encode_string(&extra);
        writeln!(f, "{FIRST_LINE}\nextra {extra}\nindex {}", self.index)?;
        for digest in &self.inclusion {
            writeln!(f, "{}", Base64::encode_string(digest))?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}

/// Reads the extra data: the head of the frame, the position, the record, and its path.
fn extra_data(extra: &[u8]) -> Option<(Head, u32, Vec<u8>, Vec<Digest>)> {
    let mut reader = Reader::new(extra);
    if reader.byte()? != VERSION {
        return None;
    }
    let head = Head::read_entry(reader.take(ENTRY_HEAD_BYTES)?)?;
    let (position, record) = (reader.word()?, reader.bytes(MAX_RECORD_BYTES)?.to_vec());
    let mut path = Vec::new();
    while !reader.is_done() {
        path.push(reader.array()?);
        if path.len() > MAX_PATH {
            return None;
        }
    }
    Some((head, position, record, path))
}

/// The most bytes of a proof: those of its checkpoint, of both paths, and of the record in Base64.
const MAX_BYTES: usize = MAX_NOTE_BYTES + 2 * MAX_PATH * 64 + MAX_RECORD_BYTES * 2;

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => write!(f, "expected the proof of a record, with `{FIRST_LINE}` first"),
            Self::Checkpoint(error) => error.fmt(f),
            Self::Record => f.write_str("the record is none of its frame"),
            Self::Frame => f.write_str("the frame is none of the log of the checkpoint"),
        }
    }
}

impl core::error::Error for ProofError {}

#[cfg(test)]
mod tests;
