//! Diagnostics as text: the place, the message, the source line and a caret.
//!
//! A line of any length fits a terminal: only the part around the caret is shown.

use std::borrow::Cow;
use std::fmt;

use super::{Diagnostic, Severity};
use crate::message::sentence;
use crate::source::{Position, SourceFile};

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{}", visible(&self.file))?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        let (found, expected) = (self.found.as_deref(), self.expected.as_deref());
        write!(
            f,
            ": {severity}[{}]: {}",
            self.code.name(),
            visible(&sentence(&self.message, found, expected))
        )?;
        if !self.path.is_empty() {
            write!(f, "\n  at {}", visible(&self.path))?;
        }
        match (&self.source, self.position) {
            (Some(source), Some(position)) => excerpt(f, source, position),
            _ => Ok(()),
        }
    }
}

fn excerpt(f: &mut fmt::Formatter<'_>, source: &SourceFile, at: Position) -> fmt::Result {
    let Some(line) = source.line(at.line) else { return Ok(()) };
    let caret = usize::try_from(at.column).unwrap_or(usize::MAX).saturating_sub(1);
    let hidden = caret.saturating_sub(SHOWN_BEFORE_CARET);
    let shown: String = line.chars().skip(hidden).take(SHOWN).map(blank_controls).collect();
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(caret.saturating_sub(hidden).min(SHOWN));
    let line = format!(" {number} | {shown}");
    write!(f, "\n {margin} |\n{}\n {margin} | {indent}^", line.trim_end())
}

/// Returns `text` in one line: control characters, and those that turn the text around them, are
/// escaped. Names of files may hold any of them.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.chars().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match is_escaped(c) {
            true => escaped.extend(c.escape_default()),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Returns a space for a tab or a control character, which would move the caret, or worse.
fn blank_controls(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// Characters of a source line that are shown.
const SHOWN: usize = 120;

/// The largest number of characters before the caret.
const SHOWN_BEFORE_CARET: usize = 80;
