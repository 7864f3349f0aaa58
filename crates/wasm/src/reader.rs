//! Reads values that JavaScript wrote into the memory of the module.
//!
//! All bytes are validated: a value that is malformed, nested too deeply or reaches beyond the end
//! is absent.

use alloc::boxed::Box;
use alloc::vec::Vec;

use wardgate_engine::attr::{Attr, AttrMap};

/// A reader of values from the front of some bytes.
pub(crate) struct Reader<'f> {
    rest: &'f [u8],
}

impl<'f> Reader<'f> {
    /// Returns a reader of these bytes.
    pub(crate) const fn new(bytes: &'f [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Reads one value, which must be a text.
    pub(crate) fn only_text(mut self) -> Option<&'f str> {
        if self.byte()? == TEXT { self.text() } else { None }
    }

    /// Reads one value of at most `depth` nested lists and maps.
    pub(crate) fn value(&mut self, depth: usize) -> Option<Attr> {
        Some(match self.byte()? {
            NULL => Attr::Null,
            FALSE => Attr::Bool(false),
            TRUE => Attr::Bool(true),
            NUMBER => Attr::Number(self.number()?),
            TEXT => Attr::String(self.text()?.into()),
            LIST => {
                let depth = depth.checked_sub(1)?;
                Attr::List(self.counted(|reader| reader.value(depth))?)
            }
            MAP => {
                let depth = depth.checked_sub(1)?;
                Attr::Map(self.map(depth)?)
            }
            _ => return None,
        })
    }

    /// Reads the members of a map, whose values nest at most so deep.
    pub(crate) fn map(&mut self, depth: usize) -> Option<AttrMap> {
        let entries: Vec<(Box<str>, Attr)> =
            self.counted(|reader| Some((reader.text()?.into(), reader.value(depth)?)))?;
        Some(AttrMap::from_iter(entries))
    }

    /// Reads a count and as many items. Each takes at least a byte, so a count cannot make more
    /// items than the arena has bytes.
    pub(crate) fn counted<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.length()?;
        let mut items = Vec::with_capacity(usize::try_from(count).ok()?.min(FEW));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// Reads a number, which is finite in a request.
    fn number(&mut self) -> Option<f64> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(f64::from_le_bytes(*bytes)).filter(|number| number.is_finite())
    }

    pub(crate) fn text(&mut self) -> Option<&'f str> {
        let length = usize::try_from(self.length()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        core::str::from_utf8(text).ok()
    }

    #[inline(always)]
    fn length(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    #[inline(always)]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }
}

/// The first byte of a value, which determines the rest. A number is eight bytes, low byte first; a
/// text is its length in four bytes and UTF-8; a list is a count and values; a map is a count and,
/// for each member, the text of its name and its value.
pub(crate) const NULL: u8 = 0;
pub(crate) const FALSE: u8 = 1;
pub(crate) const TRUE: u8 = 2;
pub(crate) const NUMBER: u8 = 3;
pub(crate) const TEXT: u8 = 4;
pub(crate) const LIST: u8 = 5;
pub(crate) const MAP: u8 = 6;

/// The largest number of items for which memory is allocated before they are read.
const FEW: usize = 64;
