//! The frame: the values that one decision reads of a request, one word for each slot.
//!
//! Numbers are beside the words. A word serves for equality only: two strings of one request have
//! the same word if and only if they are equal, as far as the fast path compares them.

use crate::at;
use crate::layout::{ALWAYS, FRAME_WORDS};

/// The words that stand for values. Those below [`NULL`](word::NULL) are errors when they are read.
pub mod word {
    /// The last step of the path leads to no value.
    pub const MISSING: u32 = 0;
    /// A step before the last one fails, or the last one looks into a list.
    pub const BROKEN: u32 = 1;
    /// `null`.
    pub const NULL: u32 = 2;
    /// `false`.
    pub const FALSE: u32 = 3;
    /// `true`.
    pub const TRUE: u32 = 4;
    /// A finite number, which is in the numbers of the frame.
    pub const NUMBER: u32 = 5;
    /// A list or a map, which stays with the host. Used only where the fast path reads the value.
    pub const VALUE: u32 = 6;
    /// The string with id 0 of the table; the others follow.
    pub const FIRST_STRING: u32 = 16;
    /// The first string of the request that is not in the table; others follow.
    pub const FIRST_TEMPORARY: u32 = 1 << 24;
}

/// The words of the slots of one request. A host has written them all, as in a [`Frame`], or reads
/// the value of a slot when an entry first needs it.
pub trait Slots {
    /// Returns the word of a slot, of which the lowest six bits count; a slot beyond the fast path may
    /// have any word.
    fn word(&self, slot: u32) -> u32;

    /// Returns the number of a slot whose word is [`word::NUMBER`]; the lowest six bits count.
    fn number(&self, slot: u32) -> f64;
}

/// The words and numbers of one request. In the runtime module JavaScript writes them in place.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Frame {
    /// A word for each slot of the fast path; the last one is always [`word::TRUE`].
    pub words: [u32; FRAME_WORDS],
    /// The numbers of those slots whose word is [`word::NUMBER`].
    pub numbers: [f64; FRAME_WORDS],
}

impl Frame {
    /// Returns a frame in which every slot is missing.
    #[must_use]
    pub const fn new() -> Self {
        let mut words = [word::MISSING; FRAME_WORDS];
        words[FRAME_WORDS - 1] = word::TRUE;
        Self { words, numbers: [0.0; FRAME_WORDS] }
    }

    /// Writes the word of a slot. Ignores a slot beyond the largest number that a fast path can
    /// have.
    #[inline]
    pub fn set(&mut self, slot: usize, word: u32) {
        if slot != at(ALWAYS)
            && let Some(position) = self.words.get_mut(slot)
        {
            *position = word;
        }
    }

    /// Writes a finite number into a slot.
    #[inline]
    pub fn set_number(&mut self, slot: usize, number: f64) {
        self.set(slot, word::NUMBER);
        if let Some(position) = self.numbers.get_mut(slot) {
            *position = number;
        }
    }

    /// Returns the word of a slot; slots beyond the frame wrap around.
    #[inline]
    #[must_use]
    pub fn word(&self, slot: u32) -> u32 {
        self.words.get(at(slot) % FRAME_WORDS).copied().unwrap_or(word::MISSING)
    }

    /// Returns the number of a slot.
    #[inline]
    #[must_use]
    pub fn number(&self, slot: u32) -> f64 {
        self.numbers.get(at(slot) % FRAME_WORDS).copied().unwrap_or(0.0)
    }
}

impl Slots for Frame {
    #[inline]
    fn word(&self, slot: u32) -> u32 {
        self.word(slot)
    }

    #[inline]
    fn number(&self, slot: u32) -> f64 {
        self.number(slot)
    }
}

impl Default for Frame {
    fn default() -> Self {
        Self::new()
    }
}
