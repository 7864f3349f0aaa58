//! Numbers, bytes and texts of bounded length, little-endian.
//!
//! Every reader returns `None` where the bytes end too early or a length is above its bound.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// A text of at most so many bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<const MOST: usize>(String);

impl<const MOST: usize> Text<MOST> {
    /// Returns the text, or `None` if it is longer.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (text.len() <= MOST).then(|| Self(text.to_owned()))
    }

    /// Returns the beginning of a text, up to the last character that fits.
    #[must_use]
    pub fn cut(text: &str) -> Self {
        Self(beginning(text, MOST).to_owned())
    }

    /// Returns the text.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let bytes = reader.bytes(MOST)?;
        core::str::from_utf8(bytes).ok().map(|text| Self(text.to_owned()))
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_bytes(self.0.as_bytes(), out);
    }
}

/// Returns the beginning of a text, up to the last character that fits into so many bytes.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// The rest of the bytes that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns true if all bytes were read.
    pub(crate) const fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the bytes that were not read.
    pub(crate) const fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn short(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads bytes after their length of 16 bits.
    pub(crate) fn bytes(&mut self, most: usize) -> Option<&'b [u8]> {
        let length = usize::from(self.short()?);
        if length <= most { self.take(length) } else { None }
    }
}

/// Writes bytes after their length of 16 bits. Their types bound them below that.
pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend_from_slice(bytes);
}
