//! Scalars: their text, and where it begins behind anchors, tags and block indicators.

use std::sync::Arc;

use saphyr_parser::{ScalarStyle, Span, Tag};

use super::Builder;
use crate::expression::Style;
use crate::source::Position;
use crate::yaml::{Kind, Node, plain};

impl Builder<'_> {
    pub(super) fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Node {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let start = self.offsets.byte(self.padding.index(&span.start));
        let (mut offset, mut at) = match is_block && !self.is_indicator(start) {
            // The content begins a line, and a `!` or `&` there is the author's.
            true => (start, self.padding.position(&span.start)),
            false => self.value_start(span),
        };
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal | ScalarStyle::Folded => {
                (offset, at) = self.block_start(offset, at);
                Style::Block
            }
        };
        let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
        let text = match style {
            Style::Block if self.ends_without_a_line_end(span) => text.trim_end_matches('\n'),
            _ => text,
        };
        let kind = match style {
            Style::Plain if !is_text => plain::resolve(text),
            _ => Kind::String(Arc::from(text), style),
        };
        Node { position: at, offset, kind }
    }

    /// Skips anchor and tag, which the scanner counts as part of the value.
    pub(super) fn value_start(&self, span: Span) -> (usize, Position) {
        let mut offset = self.offsets.byte(self.padding.index(&span.start));
        let mut at = self.padding.position(&span.start);
        let end = self.offsets.byte(self.padding.index(&span.end));
        while let Some(rest) = self.file.text.get(offset..end) {
            if !rest.starts_with(['&', '!']) {
                break;
            }
            let property = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let blank = rest.get(property..).and_then(|r| r.find(|c: char| !c.is_whitespace()));
            let skipped = blank.map_or(rest.len(), |blank| property.saturating_add(blank));
            at = rest
                .chars()
                .zip(rest.char_indices().map(|(i, _)| i))
                .fold(at, |at, (c, i)| if i < skipped { at.after(c) } else { at });
            offset = offset.saturating_add(skipped);
            if skipped == 0 {
                break;
            }
        }
        (offset, at)
    }

    /// Returns the start of a block scalar's content. With an anchor or a tag, it starts at its
    /// indicator, whose line is skipped.
    fn block_start(&self, offset: usize, at: Position) -> (usize, Position) {
        let rest = self.file.text.get(offset..).unwrap_or_default();
        match rest.find('\n') {
            Some(line) if rest.starts_with(['|', '>']) && self.is_indicator(offset) => {
                let next = Position { line: at.line.saturating_add(1), column: 1 };
                (offset.saturating_add(line).saturating_add(1), next)
            }
            _ => (offset, at),
        }
    }

    /// Returns true if a block goes on to the last character of a file that ends within a line:
    /// then that line has no end that could belong to the text, though the scanner gives it one.
    fn ends_without_a_line_end(&self, span: Span) -> bool {
        let last = self.file.text.rsplit('\n').next().unwrap_or_default();
        let end = self.offsets.byte(self.padding.index(&span.end));
        !last.trim().is_empty() && end >= self.file.text.len()
    }

    /// Returns true if an offset has something before it on its line: content begins a line of its
    /// own, an indicator does not.
    fn is_indicator(&self, offset: usize) -> bool {
        let before = self.file.text.get(..offset).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        !line.trim().is_empty()
    }
}
