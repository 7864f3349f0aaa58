//! The faults of patterns.

use alloc::format;
use alloc::string::String;
use core::ops::Range;

/// A fault in a pattern, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of fault.
    pub kind: ErrorKind,
    /// Byte offset of the fault in the pattern.
    pub at: usize,
    /// The bytes of the pattern that a message quotes.
    pub quoted: Range<usize>,
}

/// The kinds of fault, with the wording of RE2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A range that ends before it starts, or an unknown class name.
    InvalidCharRange,
    /// A backslash before a character that has no meaning as an escape.
    InvalidEscape,
    /// A group whose name is empty, unfinished or has characters other than letters, digits and
    /// `_`.
    InvalidNamedCapture,
    /// `(?` followed by an unknown character.
    InvalidPerlOp,
    /// A repetition of a repetition, such as `a**`.
    InvalidRepeatOp,
    /// Counts that are too large, alone or multiplied by inner counts, or in the wrong order.
    InvalidRepeatSize,
    /// A character class without its end.
    MissingBracket,
    /// A group without its end.
    MissingParen,
    /// A repetition without an atom before it.
    MissingRepeatArgument,
    /// The pattern ends with a backslash.
    TrailingBackslash,
    /// A `)` without its group.
    UnexpectedParen,
    /// More nested groups than [`crate::limits::MAX_REGEX_DEPTH`].
    NestingDepth,
    /// The pattern or its program is over one of the limits.
    TooLarge,
    /// The pattern is valid but needs tables that only the compiler has.
    NotAtRunTime,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, quoted: Range<usize>) -> Self {
        Self { kind, at: quoted.start, quoted }
    }

    /// Returns the whole message, quoting `pattern`.
    #[must_use]
    pub fn message(&self, pattern: &str) -> String {
        let quoted = pattern.get(self.quoted.clone()).unwrap_or_default();
        format!("error parsing regexp: {}: `{quoted}`", self.kind.text())
    }
}

impl ErrorKind {
    /// Returns the message without the quotation.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::InvalidCharRange => "invalid character class range",
            Self::InvalidEscape => "invalid escape sequence",
            Self::InvalidNamedCapture => "invalid named capture",
            Self::InvalidPerlOp => "invalid or unsupported Perl syntax",
            Self::InvalidRepeatOp => "invalid nested repetition operator",
            Self::InvalidRepeatSize => "invalid repeat count",
            Self::MissingBracket => "missing closing ]",
            Self::MissingParen => "missing closing )",
            Self::MissingRepeatArgument => "missing argument to repetition operator",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::UnexpectedParen => "unexpected )",
            Self::NestingDepth => "expression nests too deeply",
            Self::TooLarge => "expression too large",
            Self::NotAtRunTime => "unicode tables are only there for a pattern that is a literal",
        }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} at offset {}", self.kind.text(), self.at)
    }
}

impl core::error::Error for Error {}
