//! Source files, positions and locations.
//!
//! A position counts from 1, in characters, as editors do. A location adds the file and the path
//! inside the policy, so that a message can name all three.

use std::sync::{Arc, OnceLock};

use crate::limits::MAX_FILE_BYTES;

/// One input file.
#[derive(Debug)]
pub struct SourceFile {
    /// The path relative to the policy directory, with `/` between its segments.
    pub path: String,
    /// The contents, without a byte order mark.
    pub text: String,
    /// The starts of the lines: found once, for there may be as many diagnostics as lines.
    starts: OnceLock<Vec<usize>>,
}

impl SourceFile {
    /// Takes the bytes of a file in.
    ///
    /// # Errors
    /// The file is too large, or not UTF-8.
    pub fn new(path: &str, bytes: &[u8]) -> Result<Arc<Self>, SourceError> {
        if bytes.len() > MAX_FILE_BYTES {
            return Err(SourceError::TooLarge { bytes: bytes.len() });
        }
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let before = String::from_utf8_lossy(before);
            SourceError::NotUtf8 { at: before.chars().fold(Position::START, Position::after) }
        })?;
        Ok(Self::of(path, one_kind_of_line_end(text)))
    }

    /// Takes a text in as it is.
    pub fn of(path: &str, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { path: path.to_owned(), text: text.into(), starts: OnceLock::new() })
    }

    /// Returns a line without its end; they count from 1.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&str> {
        let starts = self.starts.get_or_init(|| {
            let after = |(end, _): (usize, &str)| end.saturating_add(1);
            std::iter::once(0).chain(self.text.match_indices('\n').map(after)).collect()
        });
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.text.get(*starts.get(at)?..)?.lines().next()
    }
}

impl PartialEq for SourceFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.text == other.text
    }
}

impl Eq for SourceFile {}

/// The reason why the bytes of a file are no source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// The file has more than [`MAX_FILE_BYTES`].
    TooLarge {
        /// The bytes of the file.
        bytes: usize,
    },
    /// The file is not UTF-8.
    NotUtf8 {
        /// The position of the first byte that is wrong.
        at: Position,
    },
}

/// Replaces a lone carriage return, which YAML takes for the end of a line, by a line feed.
fn one_kind_of_line_end(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        out.push(if c == '\r' && rest.peek() != Some(&'\n') { '\n' } else { c });
    }
    out
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Position {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Returns the position after `c` at this position.
    #[must_use]
    pub const fn after(self, c: char) -> Self {
        if c == '\n' {
            Self { line: self.line.saturating_add(1), column: 1 }
        } else {
            Self { line: self.line, column: self.column.saturating_add(1) }
        }
    }
}

/// A position in a file, and the path of the value there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The position in the file.
    pub position: Position,
    /// The path in the policy, such as `$.resourcePolicy.rules[0].condition.match.expr`.
    pub path: Arc<str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_numbers() {
        for text in ["", "a", "a\n", "\n", "a\r\nb", "a\n\nb\n", "é\nü\r", "\r\n\r\n"] {
            let file = SourceFile::of("p", text);
            let found: Vec<_> = (0..6).map(|number| file.line(number)).collect();
            let mut lines = text.lines();
            let expected: Vec<_> =
                (0..6).map(|number| if number == 0 { None } else { lines.next() }).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
