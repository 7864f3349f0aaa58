//! Syntax errors of the scanner, at the position where the author must look.

use saphyr_parser::ScanError;

use super::{AFTER_QUOTE, Builder};
use crate::source::Position;
use crate::yaml::{Fault, scanner_messages};

impl Builder<'_> {
    pub(super) fn syntax(&self, error: &ScanError) -> Fault {
        let at = self.padding.position(error.marker());
        let info = error.info();
        if info.starts_with("simple key expect") {
            return self.error(self.line_before(at), scanner_messages::NO_COLON);
        }
        if info.starts_with("mapping values are not allowed") {
            return match self.last_plain {
                Some((start, end)) if start.line < end.line => {
                    self.error(start, scanner_messages::NO_COLON)
                }
                _ => self.error(at, "unexpected `:`: no key can end here"),
            };
        }
        if info.starts_with(AFTER_QUOTE) {
            let message = "text goes on after its closing quote: write it as a block, after `|`";
            return self.error(self.quote_before(at), message);
        }
        if let Some(c) = info.strip_prefix("unexpected character: `").and_then(|c| c.chars().next())
        {
            return self.error(at, format!("text without quotes cannot start with `{c}`"));
        }
        self.error(at, scanner_messages::message(info))
    }

    /// Returns the beginning of the last text before the line of `at`.
    fn line_before(&self, at: Position) -> Position {
        let above = usize::try_from(at.line).unwrap_or(0).saturating_sub(1);
        let lines = self.file.text.lines().take(above).zip(1_u32..);
        let has_text = |(line, _): &(&str, u32)| !line.trim().is_empty();
        let Some((line, number)) = lines.filter(has_text).last() else { return at };
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        let column = u32::try_from(indent).unwrap_or(u32::MAX).saturating_add(1);
        Position { line: number, column }
    }

    /// Returns the beginning of the quoted text that ends before `at`.
    fn quote_before(&self, at: Position) -> Position {
        let line = self.file.line(at.line).unwrap_or_default();
        let quote = line.chars().position(|c| matches!(c, '"' | '\''));
        let column = quote.and_then(|n| u32::try_from(n).ok()).map(|n| n.saturating_add(1));
        match column {
            Some(column) if column < at.column => Position { line: at.line, column },
            _ => at,
        }
    }
}
