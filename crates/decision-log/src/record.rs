//! Records: a decision, or an event without which decisions cannot be read.
//!
//! A record is written in one way only: bytes that are read as a record are those that writing it
//! gives. Names are numbers that records before it define, so a log is read without its bundles.
//!
//! | bytes | head of a record |
//! |---|---|
//! | 1 | kind |
//! | 1 | flags, of decisions |
//! | 2 | length of the record, with its head |
//! | 2 | stream: the thread or isolate that wrote it |
//! | 2 | caller: a number that the host gives to whoever asked; 0 is the host itself |
//! | 4 | sequence: counts the records of a stream without gaps, modulo 2^32 |
//!
//! All numbers are little-endian. A text or a string of bytes has its length before it, in 16 bits.

mod decision;
mod event;

use alloc::vec::Vec;

pub use decision::{
    BorrowedDecision, BorrowedEvidence, BorrowedIdentity, CommitmentPlaces, Decision, Effect,
    Evidence, Identity, Outcome, request_digest,
};
pub use event::{
    Clock, Erasure, Loss, Lost, Policies, Process, ProcessEvent, Search, Settings, Target,
};

use crate::bytes::Reader;
pub use crate::bytes::Text;
use crate::limits::{MAX_RECORD_BYTES, MAX_TEXT_BYTES};

/// The bytes of the head of a record.
pub const HEAD_BYTES: usize = 12;

/// A text in a record: an id, a name or a reason.
pub type ShortText = Text<MAX_TEXT_BYTES>;

/// A record, and who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The thread or isolate that wrote the record.
    pub stream: u16,
    /// The number that the host gives to the caller; 0 is the host itself.
    pub caller: u16,
    /// The number of the record in its stream, modulo 2^32.
    pub sequence: u32,
    /// The content of the record.
    pub body: Body,
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A request was decided.
    Decision(Decision),
    /// Policies came into force under a number.
    Policies(Policies),
    /// A kind, version, scope and action have a number under these policies.
    Target(Target),
    /// Records of a stream were not written.
    Lost(Lost),
    /// The clock of the host went back.
    Clock(Clock),
    /// The process that writes the log started or stopped.
    Process(Process),
    /// The keys of subjects were deleted.
    Erasure(Erasure),
    /// The settings of the log.
    Settings(Settings),
    /// A search asked which of many resources are allowed.
    Search(Search),
    /// An operator accepted that the end of the log is missing.
    Loss(Loss),
}

impl Record {
    /// Writes the record behind `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let writer = (self.stream, self.caller, self.sequence);
        let from = put_head(self.body.kind(), self.body.flags(), writer, out);
        self.body.write(out);
        put_length(from, out);
    }

    /// Returns the bytes of the record.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Reads one record that takes all of `bytes`. Returns `None` for other bytes.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (kind, flags, length) = (reader.byte()?, reader.byte()?, reader.short()?);
        if usize::from(length) != bytes.len() || bytes.len() > MAX_RECORD_BYTES {
            return None;
        }
        let (stream, caller, sequence) = (reader.short()?, reader.short()?, reader.word()?);
        let body = Body::read(kind, flags, &mut reader)?;
        reader.is_done().then_some(Self { stream, caller, sequence, body })
    }
}

impl Body {
    const fn kind(&self) -> u8 {
        match self {
            Self::Decision(_) => 1,
            Self::Policies(_) => 2,
            Self::Target(_) => 3,
            Self::Lost(_) => 4,
            Self::Clock(_) => 5,
            Self::Process(_) => 6,
            Self::Erasure(_) => 7,
            Self::Settings(_) => 8,
            Self::Search(_) => 9,
            Self::Loss(_) => 10,
        }
    }

    fn flags(&self) -> u8 {
        if let Self::Decision(decision) = self { decision.flags() } else { 0 }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Decision(body) => body.write(out),
            Self::Policies(body) => body.write(out),
            Self::Target(body) => body.write(out),
            Self::Lost(body) => body.write(out),
            Self::Clock(body) => body.write(out),
            Self::Process(body) => body.write(out),
            Self::Erasure(body) => body.write(out),
            Self::Settings(body) => body.write(out),
            Self::Search(body) => body.write(out),
            Self::Loss(body) => body.write(out),
        }
    }

    fn read(kind: u8, flags: u8, reader: &mut Reader<'_>) -> Option<Self> {
        if kind == 1 {
            return Decision::read(flags, reader).map(Self::Decision);
        }
        if flags != 0 {
            return None;
        }
        Some(match kind {
            2 => Self::Policies(Policies::read(reader)?),
            3 => Self::Target(Target::read(reader)?),
            4 => Self::Lost(Lost::read(reader)?),
            5 => Self::Clock(Clock::read(reader)?),
            6 => Self::Process(Process::read(reader)?),
            7 => Self::Erasure(Erasure::read(reader)?),
            8 => Self::Settings(Settings::read(reader)?),
            9 => Self::Search(Search::read(reader)?),
            10 => Self::Loss(Loss::read(reader)?),
            _ => return None,
        })
    }
}

/// Writes the head of a record of this stream, caller and sequence, without its length. Returns where the record begins.
fn put_head(
    kind: u8,
    flags: u8,
    (stream, caller, sequence): (u16, u16, u32),
    out: &mut Vec<u8>,
) -> usize {
    let from = out.len();
    out.extend_from_slice(&[kind, flags, 0, 0]);
    out.extend_from_slice(&stream.to_le_bytes());
    out.extend_from_slice(&caller.to_le_bytes());
    out.extend_from_slice(&sequence.to_le_bytes());
    from
}

/// Writes the length of the record that begins at `from`.
fn put_length(from: usize, out: &mut [u8]) {
    let length = u16::try_from(out.len().saturating_sub(from)).unwrap_or(u16::MAX);
    if let Some(place) = out.get_mut(from..).and_then(|record| record.get_mut(2..4)) {
        place.copy_from_slice(&length.to_le_bytes());
    }
}

/// The records in the bytes of a frame, each as its bytes.
#[derive(Clone, Debug)]
pub struct Records<'b> {
    rest: &'b [u8],
}

impl<'b> Records<'b> {
    /// Splits `bytes` into records.
    #[must_use]
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl<'b> Iterator for Records<'b> {
    /// The bytes of a record, or `None` where the rest is no record; it ends after that.
    type Item = Option<&'b [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let split = length(self.rest).and_then(|length| self.rest.split_at_checked(length));
        let (record, rest) = split.unzip();
        self.rest = rest.unwrap_or_default();
        Some(record)
    }
}

/// Returns the length in the head of the first record, if it can be one.
fn length(bytes: &[u8]) -> Option<usize> {
    let length = usize::from(u16::from_le_bytes(*bytes.get(2..)?.first_chunk()?));
    (HEAD_BYTES..=MAX_RECORD_BYTES).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests;
