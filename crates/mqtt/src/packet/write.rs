//! Writing fields: to bytes, or only counting them.

use alloc::vec::Vec;

/// What fields are written to.
pub(super) trait Sink {
    fn bytes(&mut self, bytes: &[u8]);

    /// Notes that a field is longer than 65,535 bytes.
    fn too_long(&mut self);

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.bytes(&[byte]);
    }

    #[inline]
    fn two(&mut self, number: u16) {
        self.bytes(&number.to_be_bytes());
    }

    #[inline]
    fn four(&mut self, number: u32) {
        self.bytes(&number.to_be_bytes());
    }

    /// Writes bytes with their length before them.
    #[inline]
    fn binary(&mut self, bytes: &[u8]) {
        match u16::try_from(bytes.len()) {
            Ok(len) => {
                self.two(len);
                self.bytes(bytes);
            }
            Err(_) => self.too_long(),
        }
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.binary(text.as_bytes());
    }

    /// Writes a variable byte integer (5.0, section 1.5.5).
    #[inline]
    fn number(&mut self, number: u32) {
        if number > MAX_NUMBER {
            return self.too_long();
        }
        let mut left = number;
        for _ in 0..4 {
            let [low, ..] = (left & 0x7f).to_le_bytes();
            left >>= 7;
            self.byte(if left > 0 { low | 0x80 } else { low });
            if left == 0 {
                return;
            }
        }
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn too_long(&mut self) {}
}

/// Counts the bytes of fields.
#[derive(Default)]
pub(super) struct Counter {
    bytes: usize,
    is_too_long: bool,
}

impl Counter {
    /// Returns the number of bytes, if it can be the length of a packet.
    #[inline]
    pub(super) fn bytes(&self) -> Option<u32> {
        let bytes = u32::try_from(self.bytes).ok()?;
        (bytes <= MAX_NUMBER && !self.is_too_long).then_some(bytes)
    }
}

impl Sink for Counter {
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len());
    }

    fn too_long(&mut self) {
        self.is_too_long = true;
    }
}

/// The largest variable byte integer.
const MAX_NUMBER: u32 = 268_435_455;
