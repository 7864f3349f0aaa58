//! Frames: records that were written as one, behind a head that says which and how many.
//!
//! | bytes | head of a frame |
//! |---|---|
//! | 4 | `MAGIC` |
//! | 4 | bytes of the records |
//! | 8 | the number of the first record; the records of a log are numbered without gaps |
//! | 8 | the records that were known to be on the disk when this was written |
//! | 4 | how many records |
//! | 4 | zero |
//! | 8 | the lowest time of the records, in microseconds since 1970 |
//! | 8 | the highest time |
//! | 32 | the digest of the head before, or zeros |
//! | 32 | the root of the records |
//! | 16 | the beginning of the BLAKE3 digest of the above |
//!
//! The records follow. The head covers them by their root; the digest at its end finds damage and proves nothing.
//! The entry of a frame in the log is its head without that digest, and the origin of the log.

use alloc::vec::Vec;

use wardgate_crypto::blake3;

use crate::bytes::Reader;
use crate::limits::{MAX_FRAME_BYTES, MAX_FRAME_RECORDS};
use crate::record::Records;
use crate::tree::{self, Digest};

/// The first bytes of a segment. The last one is the version of the format.
pub const START: &[u8; 16] = b"wardgate-log\0\0\0\x01";

/// The first bytes of a frame.
pub const MAGIC: &[u8; 4] = b"\xd7WGl";

/// The bytes of a head.
pub const HEAD_BYTES: usize = 128;

/// The bytes of a head in an entry: those that its check covers.
pub const ENTRY_HEAD_BYTES: usize = HEAD_BYTES - CHECK_BYTES;

const CHECK_BYTES: usize = 16;

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The bytes of the records.
    pub length: u32,
    /// The number of the first record.
    pub first: u64,
    /// The records that were known to be on the disk when the frame was written.
    pub durable: u64,
    /// The number of records.
    pub count: u32,
    /// The lowest time of the records, in microseconds since 1970.
    pub lowest: i64,
    /// The highest time of the records.
    pub highest: i64,
    /// The digest of the head before this one; zeros of the first one.
    pub before: Digest,
    /// The root of the records.
    pub root: Digest,
}

/// The reason for which bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// The bytes end before the frame does.
    Short,
    /// The head is damaged, or none.
    Head,
    /// A record does not end where its length says, or there are more or fewer than the head says.
    Records,
    /// The records are others than those of the head.
    Root,
}

impl Head {
    /// Reads the head at the beginning of `bytes`.
    ///
    /// # Errors
    /// The bytes are too short, damaged, or above a bound.
    pub fn read(bytes: &[u8]) -> Result<Self, FrameError> {
        let bytes: &[u8; HEAD_BYTES] = bytes.first_chunk().ok_or(FrameError::Short)?;
        let (covered, check) = bytes.split_at(ENTRY_HEAD_BYTES);
        if !covered.starts_with(MAGIC) || !blake3::hash(covered).starts_with(check) {
            return Err(FrameError::Head);
        }
        Self::of(covered).filter(Self::is_bounded).ok_or(FrameError::Head)
    }

    /// Reads a head without its check: the beginning of an entry.
    #[must_use]
    pub fn read_entry(entry: &[u8]) -> Option<Self> {
        let covered = entry.get(..ENTRY_HEAD_BYTES).filter(|covered| covered.starts_with(MAGIC))?;
        Self::of(covered).filter(Self::is_bounded)
    }

    fn of(covered: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(covered.get(MAGIC.len()..)?);
        let (length, first, durable) = (reader.word()?, reader.long()?, reader.long()?);
        let (count, zero) = (reader.word()?, reader.word()?);
        let (lowest, highest) = (reader.signed()?, reader.signed()?);
        let (before, root) = (reader.array()?, reader.array()?);
        let head = Self { length, first, durable, count, lowest, highest, before, root };
        (zero == 0).then_some(head)
    }

    fn is_bounded(&self) -> bool {
        let is_within = |number: u32, most: usize| usize::try_from(number).is_ok_and(|n| n <= most);
        is_within(self.length, MAX_FRAME_BYTES)
            && is_within(self.count, MAX_FRAME_RECORDS)
            && self.first.checked_add(u64::from(self.count)).is_some()
    }

    /// Returns the head with its check.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        let (covered, check) = bytes.split_at_mut(ENTRY_HEAD_BYTES);
        covered.copy_from_slice(&self.covered());
        let digest = blake3::hash(covered);
        check.iter_mut().zip(digest).for_each(|(byte, digest)| *byte = digest);
        bytes
    }

    /// Returns the entry of the frame in the log of that origin.
    #[must_use]
    pub fn entry(&self, origin: &str) -> Vec<u8> {
        [self.covered().as_slice(), origin.as_bytes()].concat()
    }

    /// Returns the digest that the next head has.
    #[must_use]
    pub fn digest(&self) -> Digest {
        blake3::hash(&self.covered())
    }

    /// Returns the bytes of the frame, its head included.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        usize::try_from(self.length).unwrap_or(usize::MAX).saturating_add(HEAD_BYTES)
    }

    /// Returns the number of the record after the last one.
    #[must_use]
    pub const fn next(&self) -> u64 {
        // Reading bounds the sum, and nobody writes 2^64 records.
        #[expect(clippy::as_conversions, reason = "a wider number")]
        self.first.saturating_add(self.count as u64)
    }

    fn covered(&self) -> [u8; ENTRY_HEAD_BYTES] {
        let mut covered = [0; ENTRY_HEAD_BYTES];
        let fields: [&[u8]; 10] = [
            MAGIC,
            &self.length.to_le_bytes(),
            &self.first.to_le_bytes(),
            &self.durable.to_le_bytes(),
            &self.count.to_le_bytes(),
            &[0; 4],
            &self.lowest.to_le_bytes(),
            &self.highest.to_le_bytes(),
            &self.before,
            &self.root,
        ];
        let bytes = fields.iter().copied().flatten();
        covered.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        covered
    }
}

/// A frame of bytes that were read and verified.
#[derive(Clone, Debug)]
pub struct Frame<'b> {
    /// The head.
    pub head: Head,
    /// The bytes of each record.
    pub records: Vec<&'b [u8]>,
}

impl<'b> Frame<'b> {
    /// Reads the frame at the beginning of `bytes`, and verifies that its records are those of its head.
    ///
    /// # Errors
    /// The bytes are no frame.
    pub fn read(bytes: &'b [u8]) -> Result<Self, FrameError> {
        let head = Head::read(bytes)?;
        let length = usize::try_from(head.length).map_err(|_| FrameError::Head)?;
        let rest = bytes.get(HEAD_BYTES..).unwrap_or_default();
        let records = rest.get(..length).ok_or(FrameError::Short)?;
        let records: Option<Vec<&[u8]>> = Records::new(records).collect();
        let records = records.ok_or(FrameError::Records)?;
        if u32::try_from(records.len()) != Ok(head.count) {
            return Err(FrameError::Records);
        }
        if tree::root(&records) != head.root {
            return Err(FrameError::Root);
        }
        Ok(Self { head, records })
    }

    /// Returns the bytes of the frame.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.head.frame_bytes()
    }
}

/// The place of a frame in its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramePosition {
    /// The number of the first record.
    pub first: u64,
    /// The records that are known to be on the disk.
    pub durable: u64,
    /// The digest of the head before; zeros of the first frame.
    pub before: Digest,
}

/// A frame to which records are added before it is written.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    bytes: Vec<u8>,
    /// The end of each record.
    ends: Vec<usize>,
    times: Option<(i64, i64)>,
}

impl Draft {
    /// Adds the bytes of a record with its time. Returns false, and adds nothing, if the frame has no
    /// room for it.
    pub fn add(&mut self, record: &[u8], micros: i64) -> bool {
        let end = self.bytes.len().saturating_add(record.len());
        if self.ends.len() >= MAX_FRAME_RECORDS || end > MAX_FRAME_BYTES {
            return false;
        }
        self.bytes.extend_from_slice(record);
        self.ends.push(end);
        let (lowest, highest) = self.times.unwrap_or((micros, micros));
        self.times = Some((lowest.min(micros), highest.max(micros)));
        true
    }

    /// Returns the number of records.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the bytes of the records.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns each record.
    #[must_use]
    pub fn records(&self) -> Vec<&[u8]> {
        let starts = core::iter::once(&0).chain(&self.ends);
        let records =
            starts.zip(&self.ends).filter_map(|(start, end)| self.bytes.get(*start..*end));
        records.collect()
    }

    /// Writes the frame behind `out`, empties the draft, and returns the head. A frame without records has
    /// the time `now`.
    pub fn write(&mut self, place: FramePosition, now: i64, out: &mut Vec<u8>) -> Head {
        let (lowest, highest) = self.times.unwrap_or((now, now));
        let head = Head {
            length: u32::try_from(self.bytes.len()).unwrap_or(u32::MAX),
            first: place.first,
            durable: place.durable,
            count: u32::try_from(self.ends.len()).unwrap_or(u32::MAX),
            lowest,
            highest,
            before: place.before,
            root: tree::root(&self.records()),
        };
        out.extend_from_slice(&head.to_bytes());
        out.append(&mut self.bytes);
        self.ends.clear();
        self.times = None;
        head
    }
}

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Short => "expected a whole frame, found the end of the bytes",
            Self::Head => "expected the head of a frame, found other or damaged bytes",
            Self::Records => "expected as many records as the head of the frame says",
            Self::Root => "expected the records of the head of the frame, found others",
        })
    }
}

impl core::error::Error for FrameError {}

#[cfg(test)]
mod tests;
