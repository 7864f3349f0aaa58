//! Entries of several rings in one piece of memory, in the order in which they were taken out.
//!
//! A thread that may not wait takes entries out of rings and leaves the rest to another one. The bytes of a batch can be
//! written to a file meanwhile, and read again after the end of the process.
//!
//! | word | content |
//! |---|---|
//! | 0 | stream (16), 0 for an entry and 1 for lost ones (16), bytes behind the next word (32) |
//! | 1 | the sequence of the entry, or of the first lost one |
//!
//! The words of the entry follow, or how many are lost.

use super::entry::EntryRead;
use super::ring::{Drained, End, Found, RingReader};

/// Entries that were taken out of rings.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
}

/// The rest of the items of a batch.
#[derive(Clone, Debug)]
pub struct Items<'b> {
    rest: &'b [u8],
}

impl Batch {
    /// Takes all entries out of the ring of a stream, or the first ones until the batch has so many bytes.
    pub fn take(&mut self, stream: u16, reader: &mut RingReader, most: usize) {
        while self.bytes.len() < most && self.take_one(stream, reader, End::Open) {}
    }

    /// Takes like [`Batch::take`] out of a ring whose writer is gone or stands still, also how many are lost at its end.
    pub fn finish(&mut self, stream: u16, reader: &mut RingReader, most: usize) {
        while self.bytes.len() < most && self.take_one(stream, reader, End::Final) {}
    }

    fn take_one(&mut self, stream: u16, reader: &mut RingReader, end: End) -> bool {
        let from = self.bytes.len();
        self.bytes.extend([0; HEAD_BYTES]);
        let (kind, sequence) = match reader.take_into(end, &mut self.bytes) {
            None => {
                self.bytes.truncate(from);
                return false;
            }
            Some(Found::Entry(sequence)) => (ENTRY, sequence),
            Some(Found::Lost { first, count }) => {
                self.bytes.extend(count.to_le_bytes());
                (LOST, first)
            }
        };
        let length = self.bytes.len().saturating_sub(from).saturating_sub(HEAD_BYTES);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let head = u64::from(stream) | u64::from(kind) << 16 | u64::from(length) << 32;
        let place = self.bytes.get_mut(from..).unwrap_or_default();
        if let Some((first, rest)) = place.split_first_chunk_mut() {
            *first = head.to_le_bytes();
            if let Some(second) = rest.first_chunk_mut() {
                *second = sequence.to_le_bytes();
            }
        }
        true
    }

    /// Returns the bytes of all items.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes all items, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

impl<'b> Items<'b> {
    /// Reads items from their bytes.
    #[must_use]
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the bytes of the items that were not read.
    #[must_use]
    pub const fn rest(&self) -> &'b [u8] {
        self.rest
    }
}

impl<'b> Iterator for Items<'b> {
    /// A stream, and what was read from its ring.
    type Item = (u16, Drained<'b>);

    /// Reads the next item. Returns `None` at the end, and before bytes that are no item.
    fn next(&mut self) -> Option<Self::Item> {
        let (head, rest) = self.rest.split_first_chunk()?;
        let (sequence, rest) = rest.split_first_chunk()?;
        let (head, sequence) = (u64::from_le_bytes(*head), u64::from_le_bytes(*sequence));
        let (content, rest) = rest.split_at_checked(usize::try_from(head >> 32).ok()?)?;
        let drained = match u16::try_from(head >> 16 & 0xffff).ok()? {
            ENTRY => Drained::Entry(sequence, EntryRead::read(content)?.1),
            LOST => {
                let count = u64::from_le_bytes(content.try_into().ok()?);
                Drained::Lost { first: sequence, count }
            }
            _ => return None,
        };
        self.rest = rest;
        Some((u16::try_from(head & 0xffff).ok()?, drained))
    }
}

const HEAD_BYTES: usize = 16;
const ENTRY: u16 = 0;
const LOST: u16 = 1;

#[cfg(test)]
mod tests {
    use super::super::{Effect, Entry, ring};
    use super::*;

    #[test]
    fn items_are_what_was_in_the_rings() {
        let (mut writers, mut readers): (Vec<_>, Vec<_>) = (0..2).map(|_| ring(0)).unzip();
        let (long, mut batch) = ("x".repeat(900), Batch::default());
        for (writer, id) in writers.iter_mut().zip([&long, "ada"]) {
            let entry = Entry { principal: id, ..Entry::default() };
            let written = (0..2000).filter(|_| writer.write(&entry, &[("view", Effect::Allowed)]));
            assert!(written.count() < 2000 || id == "ada");
        }
        for (stream, reader) in (7..).zip(&mut readers) {
            batch.take(stream, reader, usize::MAX);
        }
        for (stream, reader) in (7..).zip(&mut readers) {
            batch.finish(stream, reader, usize::MAX);
        }
        let (mut next, mut lost) = ([0_u64; 2], 0);
        for (stream, drained) in Items::new(batch.bytes()) {
            let next = &mut next[usize::from(stream - 7)];
            match drained {
                Drained::Entry(sequence, read) => {
                    assert_eq!(sequence, *next);
                    assert!(["ada", &long].contains(&read.entry.principal));
                    *next += 1;
                }
                Drained::Lost { first, count } => {
                    assert_eq!(first, *next);
                    (lost, *next) = (lost + count, *next + count);
                }
            }
        }
        assert!(next == [2000; 2] && lost > 0, "{next:?} {lost}");
    }

    #[test]
    fn a_batch_ends_where_its_bound_is_and_goes_on() {
        let ((mut writer, mut reader), mut batch) = (ring(0), Batch::default());
        (0..10).for_each(|_| assert!(writer.write(&Entry::default(), &[])));
        let mut found = Vec::new();
        for _ in 0..20 {
            batch.clear();
            batch.take(1, &mut reader, 100);
            let items = Items::new(batch.bytes());
            assert!(items.clone().count() <= 2);
            found.extend(items.map(|(_, drained)| match drained {
                Drained::Entry(sequence, _) => sequence,
                Drained::Lost { .. } => panic!(),
            }));
        }
        assert_eq!(found, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn other_bytes_are_no_items() {
        let ((mut writer, mut reader), mut batch) = (ring(0), Batch::default());
        assert!(writer.write(&Entry::default(), &[("view", Effect::Denied)]));
        batch.take(1, &mut reader, usize::MAX);
        let bytes = batch.bytes();
        for end in 0..bytes.len() {
            let mut items = Items::new(&bytes[..end]);
            assert!(items.next().is_none());
            assert_eq!(items.rest().len(), end);
        }
        let mut other = bytes.to_vec();
        other[2] = 2;
        assert!(Items::new(&other).next().is_none());
    }
}
