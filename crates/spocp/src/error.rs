//! The errors in the text of an expression, with the byte of each.

use core::fmt;

use crate::limits::{MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS};

/// The reason why an expression cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset of the error in bytes, counted from 0.
    pub offset: usize,
    /// The kind of the error.
    pub kind: Kind,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The text is empty.
    Empty,
    /// The text ends within an expression.
    Unfinished,
    /// The text goes on after the expression.
    Trailing,
    /// A closing parenthesis has no opening one.
    Unopened,
    /// The byte is not allowed at this offset.
    Unexpected(u8),
    /// The length of an atom is missing, zero, has a leading zero, or is no number.
    Length,
    /// An atom is longer than the rest of the text.
    Overlong,
    /// A quoted string has an escape that does not exist.
    Escape,
    /// A hexadecimal or base64 atom contains another byte.
    Encoding,
    /// An atom is empty.
    EmptyAtom,
    /// A list is empty, or does not begin with an atom.
    Tag,
    /// The word after `*` is none of `set`, `range`, `prefix` and `suffix`.
    StarForm,
    /// A set has no elements.
    EmptySet,
    /// A set is a direct element of a set.
    NestedSet,
    /// Two lists of a set have the same tag.
    SameTag,
    /// A prefix or suffix is not one atom.
    Affix,
    /// The type of a range does not exist.
    RangeType,
    /// A relation of a range is none of `lt`, `le`, `gt` and `ge`, or the same side is bounded
    /// twice.
    Relation,
    /// A constant of a range is not of its type.
    Constant,
    /// A range has fewer than two elements.
    NarrowRange,
    /// The text is longer than allowed.
    TooLong,
    /// The expression is deeper than allowed.
    TooDeep,
    /// The expression has more elements than allowed.
    TooMany,
}

impl Kind {
    pub(crate) const fn at(self, offset: usize) -> Error {
        Error { offset, kind: self }
    }
}

impl core::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "byte {}: {}", self.offset, self.kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Empty => "there is no expression",
            Self::Unfinished => "the expression is not finished",
            Self::Trailing => "text follows the expression",
            Self::Unopened => "`)` has no opening `(`",
            Self::Unexpected(byte) => {
                return write!(out, "unexpected byte `{}`", core::ascii::escape_default(*byte));
            }
            Self::Length => "expected the length of an atom, without leading zeros and at least 1",
            Self::Overlong => "the atom is longer than what is left of the text",
            Self::Escape => "unknown escape in a quoted string",
            Self::Encoding => "expected hexadecimal digits between `#`, base64 between `|`",
            Self::EmptyAtom => "an atom has at least one byte",
            Self::Tag => "a list begins with an atom, its tag",
            Self::StarForm => "expected `set`, `range`, `prefix`, `suffix` or nothing after `*`",
            Self::EmptySet => "a set has at least one element",
            Self::NestedSet => "a set cannot contain a set directly",
            Self::SameTag => "the lists of a set must have different tags",
            Self::Affix => "expected one atom after `prefix` or `suffix`",
            Self::RangeType => "expected `alpha`, `numeric`, `date`, `time`, `ipv4` or `ipv6`",
            Self::Relation => "expected `lt` or `le` at most once, and `gt` or `ge` at most once",
            Self::Constant => "the constant does not fit the type of the range",
            Self::NarrowRange => "a range has at least two elements: write a single one as an atom",
            Self::TooLong => return write!(out, "an expression has at most {MAX_BYTES} bytes"),
            Self::TooDeep => return write!(out, "an expression is at most {MAX_DEPTH} deep"),
            Self::TooMany => {
                return write!(out, "an expression has at most {MAX_ELEMENTS} elements");
            }
        };
        out.write_str(text)
    }
}
