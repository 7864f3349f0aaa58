//! A ring of words with one writer and one reader, and no lock between them.
//!
//! An entry is written word by word, and then its end is: the reader sees an entry whole or not at all. An entry never
//! wraps: where the rest of the memory is too short for it, a word says that the next one is at the beginning. Each entry
//! has a sequence that counts the lost ones too, so that a gap tells how many.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use wardgate_decision_log::record::Effect;

use super::entry::{Entry, EntryRead, MAX_ENTRY_WORDS, Measured};

/// The memory of a ring.
#[derive(Debug)]
struct Ring {
    words: Box<[AtomicU64]>,
    /// The words that were written since the beginning.
    written: Line,
    /// The words that were read since the beginning.
    read: Line,
    /// The entries that were to be written since the beginning.
    sequence: Line,
}

/// A number that does not share its line of the cache: writer and reader would wait for each other.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Line(AtomicU64);

/// The end of a ring that a deciding thread has.
#[derive(Debug)]
pub struct RingWriter {
    ring: Arc<Ring>,
    written: u64,
    /// The words that were read when this was last looked at.
    read: u64,
    sequence: u64,
}

/// The end of a ring from which entries are taken.
#[derive(Debug)]
pub struct RingReader {
    ring: Arc<Ring>,
    read: u64,
    /// The sequence of the next entry.
    sequence: u64,
    bytes: Vec<u8>,
}

/// What a reader finds.
#[derive(Clone, Copy, Debug)]
pub enum Drained<'b> {
    /// An entry, behind its sequence.
    Entry(u64, EntryRead<'b>),
    /// Entries that were not written.
    Lost {
        /// The sequence of the first one.
        first: u64,
        /// How many.
        count: u64,
    },
}

/// An entry that was taken, by its sequence, or those that were not written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Entry(u64),
    Lost { first: u64, count: u64 },
}

/// Whether the writer of a ring may be about to write.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Open,
    /// It is gone or stands still.
    Final,
}

/// Makes a ring of about so many bytes: a power of two of words, with room for at least one entry of the largest size.
/// Its memory is taken here, and none later but by a reader that meets a larger entry than before.
#[must_use]
pub fn ring(bytes: usize) -> (RingWriter, RingReader) {
    let words = (bytes / 8).clamp(2 * MAX_ENTRY_WORDS, MAX_WORDS).next_power_of_two();
    let words = (0..words).map(|_| AtomicU64::new(0)).collect();
    let ring =
        Ring { words, written: Line::default(), read: Line::default(), sequence: Line::default() };
    let ring = Arc::new(ring);
    let writer = RingWriter { ring: Arc::clone(&ring), written: 0, read: 0, sequence: 0 };
    (writer, RingReader { ring, read: 0, sequence: 0, bytes: Vec::new() })
}

impl RingWriter {
    /// Writes an entry with its actions. Returns false, and counts it as lost, if the ring has no room.
    #[inline]
    pub fn write(&mut self, entry: &Entry<'_>, actions: &[(&str, Effect)]) -> bool {
        let sized = Measured::new(entry, actions);
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        self.ring.sequence.0.store(self.sequence, Ordering::Release);
        let Some(start) = self.reserve(sized.words) else { return false };
        let mut words = self.ring.words.get(start..).unwrap_or_default().iter();
        #[expect(clippy::as_conversions, reason = "the low half")]
        sized.write(sequence as u32, |word| {
            if let Some(place) = words.next() {
                place.store(word, Ordering::Relaxed);
            }
        });
        self.written = self.written.wrapping_add(wide(sized.words));
        self.ring.written.0.store(self.written, Ordering::Release);
        true
    }

    /// Returns true if the reader is gone: nothing takes what is written.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        Arc::strong_count(&self.ring) == 1
    }

    /// Returns true if the largest entry fits. A host that may decide nothing unrecorded asks before it decides.
    #[inline]
    #[must_use]
    pub fn has_room(&mut self) -> bool {
        self.reserve(MAX_ENTRY_WORDS).is_some()
    }

    /// Returns the place of so many words in one piece, or None if the reader has not yet taken what is there.
    #[inline]
    fn reserve(&mut self, words: usize) -> Option<usize> {
        let start = self.ring.place(self.written);
        let rest = self.ring.words.len().saturating_sub(start);
        if words <= rest {
            return self.is_free(words).then_some(start);
        }
        self.wrap(rest, words)
    }

    /// Goes on at the beginning of the memory.
    #[cold]
    fn wrap(&mut self, rest: usize, words: usize) -> Option<usize> {
        if !self.is_free(rest.saturating_add(words)) {
            return None;
        }
        let start = self.ring.place(self.written);
        self.ring.words.get(start)?.store(WRAPPED, Ordering::Relaxed);
        self.written = self.written.wrapping_add(wide(rest));
        self.ring.written.0.store(self.written, Ordering::Release);
        Some(0)
    }

    #[inline]
    fn is_free(&mut self, words: usize) -> bool {
        let is_free = |read: u64| {
            let taken = self.written.wrapping_sub(read);
            taken.saturating_add(wide(words)) <= wide(self.ring.words.len())
        };
        if is_free(self.read) {
            return true;
        }
        self.read = self.ring.read.0.load(Ordering::Acquire);
        is_free(self.read)
    }
}

impl RingReader {
    /// Takes the next entry out of the ring, or tells which were lost before it. Returns None if there is
    /// nothing new.
    #[expect(clippy::should_implement_trait, reason = "an entry borrows from the reader")]
    pub fn next(&mut self) -> Option<Drained<'_>> {
        self.taken(End::Open)
    }

    /// Tells the entries that were lost at the end, once the writer is gone or stands still.
    pub fn finish(&mut self) -> Option<Drained<'_>> {
        self.taken(End::Final)
    }

    fn taken(&mut self, end: End) -> Option<Drained<'_>> {
        let mut bytes = core::mem::take(&mut self.bytes);
        bytes.clear();
        let found = self.take_into(end, &mut bytes);
        self.bytes = bytes;
        match found? {
            Found::Lost { first, count } => Some(Drained::Lost { first, count }),
            Found::Entry(sequence) => {
                let (_, entry) = EntryRead::read(&self.bytes)?;
                Some(Drained::Entry(sequence, entry))
            }
        }
    }

    /// Takes the next entry, and writes its bytes behind `out`. Returns None if there is nothing new.
    pub(super) fn take_into(&mut self, end: End, out: &mut Vec<u8>) -> Option<Found> {
        let counted = self.ring.sequence.0.load(Ordering::Acquire);
        let written = self.ring.written.0.load(Ordering::Acquire);
        if self.read == written {
            // The writer counts an entry before it writes it, and has at most one under way.
            let lost = counted.wrapping_sub(self.sequence).saturating_sub(match end {
                End::Open => 1,
                End::Final => 0,
            });
            return self.lost(self.sequence.wrapping_add(lost));
        }
        let start = self.ring.place(self.read);
        let rest = self.ring.words.get(start..)?;
        let first = rest.first()?.load(Ordering::Relaxed);
        if first == WRAPPED {
            let words = rest.len();
            self.advance(words);
            return self.take_into(end, out);
        }
        let sequence = self.sequence_of(first);
        if sequence != self.sequence {
            return self.lost(sequence);
        }
        let words = usize::try_from(first & 0xffff).unwrap_or(0).max(1);
        let from = out.len();
        out.resize(from.saturating_add(words.saturating_mul(8)), 0);
        let (places, _) = out.get_mut(from..).unwrap_or_default().as_chunks_mut();
        for (place, word) in places.iter_mut().zip(rest) {
            *place = word.load(Ordering::Relaxed).to_le_bytes();
        }
        self.advance(words);
        self.sequence = sequence.wrapping_add(1);
        Some(Found::Entry(sequence))
    }

    /// Returns true if the writer is gone: what is in the ring then is all that there will be.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        Arc::strong_count(&self.ring) == 1
    }

    fn lost(&mut self, next: u64) -> Option<Found> {
        let first = core::mem::replace(&mut self.sequence, next);
        let count = next.wrapping_sub(first);
        (count > 0).then_some(Found::Lost { first, count })
    }

    /// Returns the sequence whose low half an entry has: the next such one.
    fn sequence_of(&self, first: u64) -> u64 {
        #[expect(clippy::as_conversions, reason = "the low half")]
        let ahead = ((first >> 32) as u32).wrapping_sub(self.sequence as u32);
        self.sequence.wrapping_add(u64::from(ahead))
    }

    fn advance(&mut self, words: usize) {
        self.read = self.read.wrapping_add(wide(words));
        self.ring.read.0.store(self.read, Ordering::Release);
    }
}

impl Ring {
    /// Returns the place of a word in the memory, whose length is a power of two.
    #[inline]
    fn place(&self, at: u64) -> usize {
        #[expect(clippy::as_conversions, reason = "only low bits are left")]
        let place = at as usize & self.words.len().wrapping_sub(1);
        place
    }
}

const fn wide(words: usize) -> u64 {
    #[expect(clippy::as_conversions, reason = "a number of words in memory")]
    let words = words as u64;
    words
}

/// The word where an entry would be, if the next one is at the beginning of the memory: an entry has at least five words.
const WRAPPED: u64 = 0;

/// The most words of a ring: a gibibyte.
const MAX_WORDS: usize = 1 << 27;

#[cfg(test)]
mod tests;
