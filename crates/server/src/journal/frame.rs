//! The bytes of the journal of changes.
//!
//! The file begins with the `START` of its records. Then come frames: a head of fixed length, and
//! the changes that were written as one. The head has a check of its own, so that a damaged length
//! is not mistaken for a file that ends too early, and the frame has one as a whole. All numbers
//! are little-endian.
//!
//! | bytes | head |
//! |---|---|
//! | 4 | `MAGIC` |
//! | 4 | bytes of the changes |
//! | 8 | the number of the first change; the changes of a file are numbered without a gap |
//! | 8 | the number of the last change that was known to be on the disk when this was written |
//! | 4 | how many changes |
//! | 8 | the beginning of the BLAKE3 digest of the above |
//!
//! The records write their own bytes. The first 16 bytes of the BLAKE3 digest of head and changes
//! follow the changes.

use std::marker::PhantomData;

use wardgate_crypto::blake3;

use super::format::{Extent, Format};
use crate::journal::limits::{MAX_FRAME_BYTES, MAX_FRAME_CHANGES};

/// The first bytes of a frame.
pub(crate) const MAGIC: &[u8; 4] = b"\xd7WGr";

/// Bytes of a head.
pub(crate) const HEAD_BYTES: usize = 36;

/// Bytes of the check at the end.
pub(crate) const CHECK_BYTES: usize = 16;

/// A record of a journal, and its bytes in a frame.
pub(crate) trait Record: Sized {
    /// The beginning of a file of these records; the last byte is the version of the format.
    const START: &'static [u8; 16];

    /// Returns the bytes that the record takes in a frame.
    fn bytes(&self) -> usize;

    /// Writes the record.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads the first record of `bytes`, and returns the rest.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])>;
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The bytes of its changes.
    pub(crate) length: usize,
    /// The number of its first change.
    pub(crate) first: u64,
    /// The last change that was known to be on the disk.
    pub(crate) durable: u64,
    /// The number of changes.
    pub(crate) count: u32,
}

impl Head {
    /// Reads a head, if it is one and undamaged.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (covered, check) = bytes.get(..HEAD_BYTES)?.split_at_checked(HEAD_BYTES - 8)?;
        if !covered.starts_with(MAGIC) || blake3::hash(covered).get(..8)? != check {
            return None;
        }
        let length = usize::try_from(word(covered, 4)?).ok()?;
        let count = word(covered, 24)?;
        let bounded =
            length <= MAX_FRAME_BYTES && usize::try_from(count).ok()? <= MAX_FRAME_CHANGES;
        bounded.then_some(Self {
            length,
            first: long(covered, 8)?,
            durable: long(covered, 16)?,
            count,
        })
    }

    /// Returns the bytes of the frame, head and check included.
    pub(crate) const fn frame_bytes(&self) -> usize {
        HEAD_BYTES.saturating_add(self.length).saturating_add(CHECK_BYTES)
    }

    /// Returns the number of the change after the last one of the frame.
    pub(crate) fn next(&self) -> u64 {
        self.first.saturating_add(u64::from(self.count))
    }

    fn extent(&self) -> Extent {
        let durable = self.durable.saturating_add(1);
        Extent { bytes: self.frame_bytes(), first: self.first, next: self.next(), durable }
    }
}

/// Frames of changes.
pub(crate) struct Changes<R>(PhantomData<R>);

impl<R: Record> Format for Changes<R> {
    const START: &'static [u8; 16] = R::START;
    const MAGIC: &'static [u8; 4] = MAGIC;
    const HEAD_BYTES: usize = HEAD_BYTES;

    type Content = Vec<R>;

    fn head(bytes: &[u8]) -> Option<Extent> {
        Head::read(bytes).map(|head| head.extent())
    }

    fn read(frame: &[u8]) -> Option<(Extent, Vec<R>)> {
        read(frame).map(|(head, changes)| (head.extent(), changes))
    }
}

/// Writes the changes as one frame. There are no more of them than `fits` allows.
pub(crate) fn write<R: Record>(changes: &[R], first: u64, durable: u64, out: &mut Vec<u8>) {
    let from = out.len();
    let length: usize = changes.iter().map(R::bytes).sum();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&short(length));
    out.extend_from_slice(&first.to_le_bytes());
    out.extend_from_slice(&durable.to_le_bytes());
    out.extend_from_slice(&short(changes.len()));
    check(from, 8, out);
    changes.iter().for_each(|change| change.write(out));
    check(from, CHECK_BYTES, out);
}

/// Tells whether a frame that holds `count` changes of `bytes` can take one more of `more` bytes.
pub(crate) const fn fits(count: usize, bytes: usize, more: usize) -> bool {
    count < MAX_FRAME_CHANGES && bytes.saturating_add(more) <= MAX_FRAME_BYTES
}

/// Reads the changes of a whole frame, if nothing of it is damaged.
pub(crate) fn read<R: Record>(frame: &[u8]) -> Option<(Head, Vec<R>)> {
    let head = Head::read(frame)?;
    let (covered, check) = frame.get(..head.frame_bytes())?.split_last_chunk::<CHECK_BYTES>()?;
    if !blake3::hash(covered).starts_with(check) {
        return None;
    }
    let mut rest = covered.get(HEAD_BYTES..)?;
    let mut changes = Vec::new();
    while !rest.is_empty() {
        let (change, after) = R::read(rest)?;
        changes.push(change);
        rest = after;
    }
    (u32::try_from(changes.len()).ok()? == head.count).then_some((head, changes))
}

fn check(from: usize, bytes: usize, out: &mut Vec<u8>) {
    let digest = blake3::hash(out.get(from..).unwrap_or_default());
    out.extend(digest.iter().take(bytes));
}

/// Lengths and counts are bounded far below.
pub(crate) fn short(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::change::{Change, Kind};

    fn changes() -> Vec<Change> {
        vec![
            Change { kind: Kind::Added, rule: b"(1:a)".to_vec() },
            Change { kind: Kind::Hidden, rule: Vec::new() },
            Change { kind: Kind::Forgotten, rule: vec![0; 1000] },
        ]
    }

    fn frame() -> Vec<u8> {
        let mut out = Vec::new();
        write(&changes(), 7, 6, &mut out);
        out
    }

    #[test]
    fn written_bytes_are_read_again() {
        let (head, read) = read::<Change>(&frame()).unwrap();
        assert_eq!(read, changes());
        assert_eq!((head.first, head.durable, head.count, head.next()), (7, 6, 3, 10));
        assert_eq!(head.frame_bytes(), frame().len());
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let frame = frame();
        for at in 0..frame.len() {
            for bit in 0..8 {
                let mut damaged = frame.clone();
                damaged[at] ^= 1 << bit;
                assert!(read::<Change>(&damaged).is_none(), "byte {at}, bit {bit}");
                assert_eq!(Head::read(&damaged).is_none(), at < HEAD_BYTES);
            }
        }
    }

    #[test]
    fn no_missing_byte_goes_unnoticed() {
        let frame = frame();
        for length in 0..frame.len() {
            assert!(read::<Change>(&frame[..length]).is_none(), "{length} bytes");
        }
    }
}
