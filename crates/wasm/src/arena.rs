//! Texts and values that JavaScript wrote behind a frame.
//!
//! Values are copied only when a program reads them, and all of them are validated: a value that is
//! malformed, nested too deeply or reaches beyond the filled bytes is absent, and the general path
//! decides.

use alloc::boxed::Box;
use core::cell::OnceCell;
use core::iter::repeat_with;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Value;
use wardgate_engine::fastpath::Contents;
use wardgate_engine::limits::MAX_VALUE_DEPTH;
use wardgate_fastpath::layout::{FRAME_WORDS, MAX_SLOTS};

use crate::reader::Reader;

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
        Some(Reader::new(self.bytes.get(usize::try_from(*start).ok()?..)?))
    }
}

impl Contents for Arena<'_> {
    fn text(&self, slot: usize) -> Option<&str> {
        self.reader(slot)?.only_text()
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

#[cfg(test)]
mod tests;
