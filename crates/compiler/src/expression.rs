//! An expression inside a policy: its text, and the position of each of its characters in the file.
//!
//! YAML folds lines, strips indentation and decodes escapes, yet it never changes, drops or
//! reorders a character that is not white space. So the n-th such character of the text is the n-th
//! one of the scalar in the file, in every style of scalar.

mod scalar;

use std::sync::Arc;

use crate::source::{Location, Position};
use scalar::ScalarUnits;

/// The text of an expression, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprSource {
    /// The expression, as YAML decoded it.
    pub text: Arc<str>,
    /// The location of the field that holds it: the position of its key, or of its list entry.
    pub at: Location,
    /// The start of the scalar in the file, and its style.
    pub scalar: ScalarSpan,
}

/// The position and the style of a scalar in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarSpan {
    /// Byte offset of its first character: the quote, if it has one; in a block, of its content.
    pub offset: usize,
    /// The position of that character.
    pub start: Position,
    /// The style of the scalar.
    pub style: Style,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// Between `'`.
    SingleQuoted,
    /// Between `"`, in YAML or JSON.
    DoubleQuoted,
    /// After `|` or `>`.
    Block,
}

impl ExprSource {
    /// Returns the position in the file of the character at `byte_offset` of the text.
    ///
    /// White space and the end of the text are located right after the character before them.
    #[must_use]
    pub fn locate(&self, byte_offset: usize) -> Position {
        let before = self.text.get(..byte_offset).unwrap_or(&self.text);
        let solid = before.chars().filter(|c| !c.is_whitespace()).count();
        let at_solid = self.text.get(byte_offset..).and_then(|rest| rest.chars().next());
        let at_solid = at_solid.is_some_and(|c| !c.is_whitespace());
        let mut units = self.units().filter(|unit| !unit.decoded.is_whitespace());
        if at_solid {
            return units.nth(solid).map_or(self.scalar.start, |unit| unit.start);
        }
        match solid.checked_sub(1) {
            Some(last) => units.nth(last).map_or(self.scalar.start, |unit| unit.end),
            None => units.next().map_or(self.scalar.start, |unit| unit.start),
        }
    }

    fn units(&self) -> ScalarUnits<'_> {
        ScalarUnits::new(&self.at.file.text, self.scalar)
    }
}
