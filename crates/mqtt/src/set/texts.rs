//! The texts of a set, one after the other, each with its length before it.

use alloc::vec::Vec;

use crate::topic::Filter;

/// Texts by their offsets.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    /// The bytes of removed texts.
    dead: usize,
}

impl Texts {
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a text of at most 65,535 bytes.
    pub(super) fn add(&mut self, text: &[u8]) -> u32 {
        let at = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let len = u16::try_from(text.len()).unwrap_or(0);
        let more = text.len().saturating_add(2);
        if self.bytes.capacity().saturating_sub(self.bytes.len()) < more {
            self.bytes.reserve_exact((self.bytes.len() / 4).max(more).max(64));
        }
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.bytes.extend_from_slice(text);
        at
    }

    /// Returns the text at an offset that `add` gave.
    #[inline]
    pub(super) fn get(&self, at: u32) -> &[u8] {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let found = self.bytes.get(at..).and_then(<[u8]>::split_first_chunk::<2>);
        let Some((len, rest)) = found else { return b"" };
        rest.get(..usize::from(u16::from_le_bytes(*len))).unwrap_or_default()
    }

    /// Returns a byte of the text at an offset.
    #[inline]
    pub(super) fn touch(&self, at: u32) -> Option<u8> {
        self.bytes.get(usize::try_from(at).unwrap_or(usize::MAX)).copied()
    }

    /// Returns the same as a filter, which it was.
    pub(super) fn filter(&self, at: u32) -> Filter<'_> {
        Filter::of_checked(core::str::from_utf8(self.get(at)).unwrap_or_default())
    }

    /// Counts the text at an offset as removed.
    pub(super) fn remove(&mut self, at: u32) {
        let bytes = self.get(at).len().saturating_add(2);
        self.dead = self.dead.saturating_add(bytes);
    }

    /// Returns true if most of the bytes are of removed texts.
    pub(super) fn is_sparse(&self) -> bool {
        self.dead > LITTLE && self.dead > self.bytes.len() / 2
    }

    /// Returns all texts, and is empty afterwards.
    pub(super) fn take(&mut self) -> Self {
        core::mem::take(self)
    }
}

/// The number of unused bytes below which compacting does not pay.
const LITTLE: usize = 4096;
