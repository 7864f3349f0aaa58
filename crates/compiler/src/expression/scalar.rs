//! The characters of a scalar, decoded, with their places in the file.
//!
//! Line breaks, indentation and the spaces beside them come out as white space of any amount; every
//! other character comes out exactly once, in order.

use super::{ScalarSpan, Style};
use crate::source::Position;

/// One decoded character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The decoded character.
    pub(crate) decoded: char,
    /// The position of its start.
    pub(crate) start: Position,
    /// Right after it.
    pub(crate) end: Position,
}

/// Reads a scalar's characters, and goes on past its end: the caller knows how many there are.
pub(crate) struct ScalarUnits<'a> {
    rest: std::str::Chars<'a>,
    at: Position,
    style: Style,
}

impl<'a> ScalarUnits<'a> {
    pub(crate) fn new(text: &'a str, scalar: ScalarSpan) -> Self {
        let rest = text.get(scalar.offset..).unwrap_or_default().chars();
        let mut units = Self { rest, at: scalar.start, style: scalar.style };
        match scalar.style {
            Style::Plain | Style::Block => {}
            Style::SingleQuoted | Style::DoubleQuoted => {
                units.bump();
            }
        }
        units
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.at = self.at.after(c);
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    /// Decodes an escape in double quotes, after its backslash.
    fn escape(&mut self) -> Option<char> {
        Some(match self.bump()? {
            'x' => self.hex(2),
            'u' => self.utf16(),
            'U' => self.hex(8),
            '0' => '\0',
            'a' => '\x07',
            'b' => '\x08',
            'e' => '\x1b',
            'n' | 'r' | 't' | 'v' | 'f' | 'N' | '_' | 'L' | 'P' => ' ',
            other => other,
        })
    }

    fn hex(&mut self, digits: usize) -> char {
        char::from_u32(self.number(digits)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn number(&mut self, digits: usize) -> u32 {
        let mut value: u32 = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else { break };
            self.bump();
            value = value.wrapping_mul(16).wrapping_add(digit);
        }
        value
    }

    /// Decodes the digits of `\u`. In JSON, two escapes may encode one character.
    fn utf16(&mut self) -> char {
        let first = self.number(4);
        let mut ahead = self.rest.clone();
        if (0xD800..0xDC00).contains(&first)
            && ahead.next() == Some('\\')
            && ahead.next() == Some('u')
        {
            self.bump();
            self.bump();
            self.number(4);
        }
        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

impl Iterator for ScalarUnits<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        let start = self.at;
        let c = self.bump()?;
        let decoded = match (self.style, c) {
            (Style::DoubleQuoted, '\\') => self.escape()?,
            (Style::SingleQuoted, '\'') => self.bump()?,
            _ => c,
        };
        Some(Unit { decoded, start, end: self.at })
    }
}
