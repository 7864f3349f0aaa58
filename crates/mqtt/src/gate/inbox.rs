//! Bytes of one side, cut into packets wherever reads end.

use alloc::vec::Vec;

use crate::limits::IDLE_BUFFER_BYTES;

/// The beginning of a packet that is not there in full.
#[derive(Debug)]
pub(super) struct Inbox {
    kept: Vec<u8>,
    /// The bytes that the packet has at least.
    least: usize,
    /// The bytes of the packets before it.
    offset: u64,
}

/// The result of a look at the front of some bytes.
pub(super) enum Parsed {
    /// A packet of so many bytes was dealt with.
    Used(usize),
    /// The packet has at least so many bytes.
    More(usize),
    /// No more packets are taken.
    Over,
}

impl Inbox {
    pub(super) const fn new() -> Self {
        Self { kept: Vec::new(), least: 0, offset: 0 }
    }

    /// Calls `packet` with the front of each packet, and with the offset of its first byte.
    ///
    /// Packets that are there in full are not copied. Of others, only bytes that came are held,
    /// however many were announced.
    pub(super) fn take(&mut self, bytes: &[u8], mut packet: impl FnMut(&[u8], u64) -> Parsed) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let has_begun = !self.kept.is_empty();
            if has_begun {
                rest = self.complete(rest);
                if self.kept.len() < self.least {
                    return;
                }
            }
            let front = if has_begun { &self.kept } else { rest };
            match packet(front, self.offset) {
                Parsed::Over => return,
                Parsed::More(least) => {
                    self.least = least;
                    if !has_begun {
                        return self.kept.extend_from_slice(rest);
                    }
                }
                Parsed::Used(used) => {
                    if !has_begun {
                        rest = rest.get(used..).unwrap_or_default();
                    }
                    self.clear();
                    self.offset =
                        self.offset.saturating_add(u64::try_from(used).unwrap_or(u64::MAX));
                }
            }
        }
    }

    /// Adds bytes to the packet that has begun, but none behind it, and returns the others.
    fn complete<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let missing = self.least.saturating_sub(self.kept.len()).max(1);
        let (more, rest) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
        self.kept.extend_from_slice(more);
        rest
    }

    /// Drops what is held.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.least = 0;
        if self.kept.capacity() > IDLE_BUFFER_BYTES {
            self.kept = Vec::new();
        }
    }

    pub(super) const fn bytes(&self) -> usize {
        self.kept.capacity()
    }
}
