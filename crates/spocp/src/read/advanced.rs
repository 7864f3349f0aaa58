//! The advanced form, which people read: words, quoted strings, hexadecimal and base64.
//!
//! The forms are those of draft-rivest-sexp-00, section 6.3, with one exception: a word may begin
//! with a digit and contain a colon, because the examples of SPOCP do (`08:00:00`, `10`). So atoms
//! with a length in front are read in the canonical form only.

use alloc::vec::Vec;

use super::{Part, Token, offset};
use crate::error::{Error, Kind};
use crate::expression::Span;

/// The tokens of a text; their atoms are copied into the text of the expression.
pub(super) struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(super) const fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at = self.at.saturating_add(1);
        Some(byte)
    }

    fn atom(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        match self.peek() {
            Some(b'"') => self.quoted(out),
            Some(b'#') => self.between(b'#', |inner| hexadecimal(inner, out)),
            Some(b'|') => self.between(b'|', |inner| base64(inner, out)),
            Some(byte) if is_word(byte) => {
                while let Some(byte) = self.peek().filter(|byte| is_word(*byte)) {
                    out.push(byte);
                    self.at = self.at.saturating_add(1);
                }
                Ok(())
            }
            Some(byte) => Err(Kind::Unexpected(byte).at(self.at)),
            None => Err(Kind::Unfinished.at(self.at)),
        }
    }

    fn quoted(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.at = self.at.saturating_add(1);
        loop {
            match self.take().ok_or(Kind::Unfinished.at(self.at))? {
                b'"' => return Ok(()),
                b'\\' => self.escape(out)?,
                byte => out.push(byte),
            }
        }
    }

    /// Reads an escape of a string in C: a letter, three octal digits, two hexadecimal ones, the
    /// end of a line.
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let at = self.at;
        let wrong = Kind::Escape.at(at);
        let byte = match self.take().ok_or(Kind::Unfinished.at(at))? {
            b'b' => 0x08,
            b't' => b'\t',
            b'v' => 0x0B,
            b'n' => b'\n',
            b'f' => 0x0C,
            b'r' => b'\r',
            byte @ (b'"' | b'\'' | b'\\') => byte,
            b'x' => self.digits(16, 2).ok_or(wrong)?,
            b'0'..=b'7' => {
                self.at = at;
                self.digits(8, 3).ok_or(wrong)?
            }
            b'\r' => {
                self.at = self.at.saturating_add(usize::from(self.peek() == Some(b'\n')));
                return Ok(());
            }
            b'\n' => return Ok(()),
            _ => return Err(wrong),
        };
        out.push(byte);
        Ok(())
    }

    fn digits(&mut self, radix: u32, count: usize) -> Option<u8> {
        let mut value: u32 = 0;
        for _ in 0..count {
            let digit = char::from(self.take()?).to_digit(radix)?;
            value = value.saturating_mul(radix).saturating_add(digit);
        }
        u8::try_from(value).ok()
    }

    /// Decodes the text between two marks.
    fn between(
        &mut self,
        mark: u8,
        decode: impl FnOnce(&mut dyn Iterator<Item = u8>) -> Option<()>,
    ) -> Result<(), Error> {
        let begin = self.at.saturating_add(1);
        let rest = self.text.get(begin..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == mark);
        let length = length.ok_or(Kind::Unfinished.at(self.text.len()))?;
        let inner = rest.get(..length).unwrap_or_default();
        let mut inner = inner.iter().copied().filter(|byte| !is_space(*byte));
        decode(&mut inner).ok_or(Kind::Encoding.at(self.at))?;
        self.at = begin.saturating_add(length).saturating_add(1);
        Ok(())
    }
}

impl super::Tokens for Tokens<'_> {
    fn next(&mut self, text: &mut Vec<u8>) -> Result<(Token, Span), Error> {
        while self.peek().is_some_and(is_space) {
            self.at = self.at.saturating_add(1);
        }
        let at = self.at;
        let begin = text.len();
        let kind = match self.peek() {
            None => Part::End,
            Some(b'(') => self.take().map_or(Part::End, |_| Part::Open),
            Some(b')') => self.take().map_or(Part::End, |_| Part::Close),
            Some(_) => {
                self.atom(text)?;
                Part::Atom
            }
        };
        let len = text.len().saturating_sub(begin);
        if kind == Part::Atom && len == 0 {
            return Err(Kind::EmptyAtom.at(at));
        }
        Ok((Token { at, kind }, Span { at: offset(begin), len: offset(len) }))
    }
}

fn hexadecimal(digits: &mut dyn Iterator<Item = u8>, out: &mut Vec<u8>) -> Option<()> {
    while let Some(high) = digits.next() {
        let high = char::from(high).to_digit(16)?;
        let low = char::from(digits.next()?).to_digit(16)?;
        out.push(u8::try_from(high << 4 | low).ok()?);
    }
    Some(())
}

/// Reads base64 of RFC 4648, section 4. A spelling that would not be written again in the same way
/// is refused.
fn base64(digits: &mut dyn Iterator<Item = u8>, out: &mut Vec<u8>) -> Option<()> {
    let mut bits: u32 = 0;
    let mut count = 0;
    let mut padding = 0;
    let mut length = 0_usize;
    for digit in digits {
        length = length.saturating_add(1);
        if digit == b'=' {
            padding += 1;
            continue;
        }
        let value = sextet(digit).filter(|_| padding == 0)?;
        bits = bits << 6 | value;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xFF).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    (length.is_multiple_of(4) && padding <= 2 && bits == 0 && count < 6).then_some(())
}

fn sextet(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Returns true if a byte may be part of a word. All bytes beyond ASCII may, so that text in UTF-8
/// needs no quotes.
pub(crate) const fn is_word(byte: u8) -> bool {
    !matches!(byte, 0..=b' ' | 0x7F | b'(' | b')' | b'"' | b'#' | b'|' | b';' | b'\\' | b'{' | b'}')
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}
