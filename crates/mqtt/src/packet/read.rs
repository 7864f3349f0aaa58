//! Reading fields of a packet, with offsets for errors.

use core::num::NonZeroU16;

use super::error::{Fault, PacketError};

/// The part of a packet that is still to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'p> {
    rest: &'p [u8],
    /// The offset of the end of the part in the packet.
    end: usize,
}

type Field<T> = Result<T, PacketError>;

impl<'p> Reader<'p> {
    /// Reads what stands before the offset `end` of a packet.
    #[inline]
    pub(super) const fn new(rest: &'p [u8], end: usize) -> Self {
        Self { rest, end }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the offset of the next byte.
    #[inline]
    pub(super) const fn offset(&self) -> usize {
        self.end.saturating_sub(self.rest.len())
    }

    #[inline]
    pub(super) const fn fault<T>(&self, fault: Fault) -> Field<T> {
        Err(PacketError { fault, offset: self.offset() })
    }

    /// Returns a fault of the topic that follows the two bytes of its length.
    pub(super) const fn topic_fault<T>(&self, fault: Fault) -> Field<T> {
        Err(PacketError { fault, offset: self.offset().saturating_add(2) })
    }

    #[inline]
    pub(super) fn take(&mut self, bytes: usize) -> Field<&'p [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(bytes) else {
            return self.fault(Fault::Short);
        };
        self.rest = rest;
        Ok(taken)
    }

    /// Takes all that is left.
    #[inline]
    pub(super) const fn take_rest(&mut self) -> &'p [u8] {
        let rest = self.rest;
        self.rest = &[];
        rest
    }

    #[inline]
    fn chunk<const N: usize>(&mut self) -> Field<[u8; N]> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return self.fault(Fault::Short);
        };
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Field<u8> {
        self.chunk::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(super) fn two(&mut self) -> Field<u16> {
        self.chunk().map(u16::from_be_bytes)
    }

    #[inline]
    pub(super) fn four(&mut self) -> Field<u32> {
        self.chunk().map(u32::from_be_bytes)
    }

    /// Reads a packet identifier.
    #[inline]
    pub(super) fn id(&mut self) -> Field<NonZeroU16> {
        let before = *self;
        match NonZeroU16::new(self.two()?) {
            Some(id) => Ok(id),
            None => before.fault(Fault::PacketId),
        }
    }

    /// Reads a variable byte integer (5.0, section 1.5.5).
    #[inline]
    pub(super) fn number(&mut self) -> Field<u32> {
        let before = *self;
        match number(self.rest) {
            Number::Is(number, bytes) => self.take(bytes).map(|_| number),
            Number::Short => self.fault(Fault::Short),
            Number::Wrong => before.fault(Fault::Length),
        }
    }

    /// Reads the bytes of a field with its length in two bytes before it.
    #[inline]
    pub(super) fn binary(&mut self) -> Field<&'p [u8]> {
        let bytes = self.two()?;
        self.take(usize::from(bytes))
    }

    /// Reads a text, which may have U+0000.
    #[inline]
    pub(super) fn any_text(&mut self) -> Field<&'p str> {
        let bytes = self.binary()?;
        let at = self.offset().saturating_sub(bytes.len());
        core::str::from_utf8(bytes).map_err(|error| PacketError {
            fault: Fault::Utf8,
            offset: at.saturating_add(error.valid_up_to()),
        })
    }

    /// Reads a text (5.0, section 1.5.4).
    #[inline]
    pub(super) fn text(&mut self) -> Field<&'p str> {
        let text = self.any_text()?;
        let at = self.offset().saturating_sub(text.len());
        match text.bytes().position(|byte| byte == 0) {
            Some(inside) => {
                Err(PacketError { fault: Fault::Nul, offset: at.saturating_add(inside) })
            }
            None => Ok(text),
        }
    }
}

/// A variable byte integer at the front of some bytes.
pub(super) enum Number {
    /// The number, and the bytes that it has.
    Is(u32, usize),
    /// The bytes end inside.
    Short,
    /// It is longer than four bytes, or than needed.
    Wrong,
}

/// Reads a variable byte integer.
#[inline]
pub(super) fn number(bytes: &[u8]) -> Number {
    match *bytes {
        [first @ ..0x80, ..] => return Number::Is(u32::from(first), 1),
        [first, second @ 1..0x80, ..] => {
            return Number::Is(u32::from(first & 0x7f) | u32::from(second) << 7, 2);
        }
        _ => {}
    }
    let mut number = 0_u32;
    for (place, byte) in bytes.iter().take(4).enumerate() {
        let shift = u32::try_from(place).unwrap_or(0).saturating_mul(7);
        number |= u32::from(byte & 0x7f) << shift;
        if *byte == 0 && place > 0 {
            return Number::Wrong;
        }
        if *byte < 0x80 {
            return Number::Is(number, place.saturating_add(1));
        }
    }
    if bytes.len() < 4 { Number::Short } else { Number::Wrong }
}
