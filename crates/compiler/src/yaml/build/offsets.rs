//! Byte offsets of characters: the scanner counts characters.

use crate::expression::Style;
use crate::source::Position;
use crate::yaml::{Kind, Node};

/// Byte offsets of characters: the scanner counts characters.
pub(super) struct Offsets<'a> {
    text: &'a str,
    /// The byte offset of each character; empty if the text is ASCII.
    table: Vec<usize>,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let table = match text.is_ascii() {
            true => Vec::new(),
            false => text.char_indices().map(|(offset, _)| offset).collect(),
        };
        Self { text, table }
    }

    pub(super) fn byte(&self, character: usize) -> usize {
        match self.table.is_empty() {
            true => character.min(self.text.len()),
            false => self.table.get(character).copied().unwrap_or(self.text.len()),
        }
    }

    /// Returns the position of messages about a map: its `{`, or the `:` after its first key.
    pub(super) fn map_position(&self, map: &Node, first_key: &Node) -> Position {
        let rest = self.text.get(first_key.offset..).unwrap_or_default();
        if self.text.get(map.offset..).is_some_and(|rest| rest.starts_with('{')) {
            return map.position;
        }
        let key_length = match &first_key.kind {
            Kind::String(text, style) => text.chars().count().saturating_add(match style {
                Style::Plain | Style::Block => 0,
                Style::SingleQuoted | Style::DoubleQuoted => 2,
            }),
            _ => 0,
        };
        let mut at = first_key.position;
        for (i, c) in rest.chars().take_while(|c| *c != '\n').enumerate() {
            if c == ':' && i >= key_length {
                return at;
            }
            at = at.after(c);
        }
        first_key.position
    }

    /// Returns true if the value at `offset` is written down, rather than left out.
    pub(super) fn has_text(&self, offset: usize) -> bool {
        self.text.get(offset..).is_some_and(|rest| rest.starts_with(['~', 'n', 'N']))
    }
}
