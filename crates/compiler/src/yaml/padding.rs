//! Flow collections that are indented less than the block around them.
//!
//! YAML 1.2 forbids the closing bracket in
//!
//! ```yaml
//! condition: {
//!   match: { expr: a }
//! }
//! ```
//!
//! yet go-yaml and other readers allow it, and policies in JSON style are written so. The scanner
//! stops at such a line; it then gets spaces in front, and positions are counted without them.
//! Between brackets, indentation has no meaning of its own.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::Marker;

use crate::limits::{MAX_BYTES_READ_AGAIN, MAX_PADDING};
use crate::source::Position;

/// The number of spaces in front of each padded line.
#[derive(Debug, Default)]
pub(super) struct Padding {
    lines: BTreeMap<usize, usize>,
    /// Bytes that were read once more because of a line.
    read_again: usize,
}

impl Padding {
    /// Indents the line of `marker` by more. Returns whether that is still within bounds.
    pub(super) fn widen(&mut self, marker: &Marker, text: &str) -> bool {
        self.read_again = self.read_again.saturating_add(text.len());
        let spaces: usize = self.lines.values().sum();
        if spaces >= MAX_PADDING || self.read_again > MAX_BYTES_READ_AGAIN {
            return false;
        }
        let spaces = self.lines.entry(marker.line()).or_default();
        *spaces = spaces.saturating_mul(2).saturating_add(1);
        true
    }

    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.lines.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut padded = String::with_capacity(text.len());
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let spaces = self.lines.get(&number).copied().unwrap_or(0);
            padded.extend(std::iter::repeat_n(' ', spaces));
            padded.push_str(line);
        }
        Cow::Owned(padded)
    }

    /// Returns the position of `marker` in the text as it was.
    pub(super) fn position(&self, marker: &Marker) -> Position {
        let spaces = self.lines.get(&marker.line()).copied().unwrap_or(0);
        let column = marker.col().saturating_sub(spaces).saturating_add(1);
        Position {
            line: u32::try_from(marker.line()).unwrap_or(u32::MAX).max(1),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }

    /// Returns the number of characters before `marker` in the original text.
    pub(super) fn index(&self, marker: &Marker) -> usize {
        let above: usize = self.lines.range(..marker.line()).map(|(_, spaces)| spaces).sum();
        let here = self.lines.get(&marker.line()).copied().unwrap_or(0).min(marker.col());
        marker.index().saturating_sub(above).saturating_sub(here)
    }
}
