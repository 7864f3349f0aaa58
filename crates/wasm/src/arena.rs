//! Texts and values that JavaScript wrote behind a frame.
//!
//! Values are copied only when a program reads them, and all of them are validated: a value that is
//! malformed, nested too deeply or reaches beyond the filled bytes is absent, and the general path
//! decides.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::iter::repeat_with;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Value;
use wardgate_engine::fastpath::Contents;
use wardgate_engine::limits::MAX_VALUE_DEPTH;
use wardgate_fastpath::layout::{FRAME_WORDS, MAX_SLOTS};

/// The filled part of an arena, and the values read from it so far.
pub(crate) struct Arena<'f> {
    spans: &'f [u32; FRAME_WORDS],
    bytes: &'f [u8],
    /// The values by slot, allocated when the first list or map is read: most programs read texts.
    values: OnceCell<Box<[OnceCell<Option<Attr>>]>>,
}

impl<'f> Arena<'f> {
    /// Wraps the filled bytes of an arena.
    #[inline]
    pub(crate) const fn new(spans: &'f [u32; FRAME_WORDS], bytes: &'f [u8]) -> Self {
        Self { spans, bytes, values: OnceCell::new() }
    }

    fn reader(&self, slot: usize) -> Option<Reader<'f>> {
        let start = self.spans.get(slot).filter(|start| **start != 0)?;
        Some(Reader { rest: self.bytes.get(usize::try_from(*start).ok()?..)? })
    }
}

impl Contents for Arena<'_> {
    fn text(&self, slot: usize) -> Option<&str> {
        let mut reader = self.reader(slot)?;
        (reader.byte()? == TEXT).then(|| reader.text())?
    }

    /// Returns the list or map of a slot; it is read once, on first use.
    fn value(&self, slot: usize) -> Option<Value<'_>> {
        let read = || self.reader(slot)?.value(MAX_VALUE_DEPTH);
        let values =
            self.values.get_or_init(|| repeat_with(OnceCell::new).take(MAX_SLOTS).collect());
        let value = values.get(slot)?.get_or_init(read).as_ref();
        value.filter(|value| matches!(value, Attr::List(_) | Attr::Map(_))).map(Value::from)
    }
}

/// A reader of values from the front of some bytes.
struct Reader<'f> {
    rest: &'f [u8],
}

impl<'f> Reader<'f> {
    /// Reads one value of at most `depth` nested lists and maps.
    fn value(&mut self, depth: usize) -> Option<Attr> {
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
                let entries: Vec<(Box<str>, Attr)> =
                    self.counted(|reader| Some((reader.text()?.into(), reader.value(depth)?)))?;
                Attr::Map(AttrMap::from_iter(entries))
            }
            _ => return None,
        })
    }

    /// Reads a count and as many items. Each takes at least a byte, so a count cannot make more
    /// items than the arena has bytes.
    fn counted<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.length()?).map(|_| item(self)).collect()
    }

    /// Reads a number, which is finite in a request.
    fn number(&mut self) -> Option<f64> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(f64::from_le_bytes(*bytes)).filter(|number| number.is_finite())
    }

    fn text(&mut self) -> Option<&'f str> {
        let length = usize::try_from(self.length()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        core::str::from_utf8(text).ok()
    }

    fn length(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }
}

/// The first byte of a value, which determines the rest. A number is eight bytes, low byte first; a
/// text is its length in four bytes and UTF-8; a list is a count and values; a map is a count and,
/// for each member, the text of its name and its value.
const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const NUMBER: u8 = 3;
const TEXT: u8 = 4;
const LIST: u8 = 5;
const MAP: u8 = 6;

#[cfg(test)]
mod tests;
