//! The tokens of JSON, according to RFC 8259.
//!
//! Every byte is checked, also in values that are skipped; no byte is copied. The text is known to
//! be UTF-8.

use wardgate_engine::limits::{MAX_REQUEST_VALUES, MAX_VALUE_DEPTH};

use super::read::unescaped;
use crate::error::RequestError;

/// A text and the position up to which it was read.
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    values: usize,
}

/// The range of a string, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// True if the string has escapes.
    pub(crate) is_escaped: bool,
}

/// The first token of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Text,
    Object,
    List,
    Number,
    Literal,
}

/// The reason why the scanner stopped at its position.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Expected(&'static str),
    TooManyValues,
    TooDeep,
    /// The name behind the quote at this offset is that of an earlier member.
    Doubled(usize),
}

pub(crate) type Scanned<T> = Result<T, Fault>;

impl<'a> Scanner<'a> {
    /// Returns a scanner at the beginning of `text`.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, values: 0 }
    }

    /// Returns a scanner of the same text, at the beginning of a value that was checked.
    pub(crate) fn clone_at(&self, at: usize) -> Self {
        Self { at, ..self.clone() }
    }

    /// Returns the error of a fault, with its offset.
    #[cold]
    pub(crate) fn error(&self, fault: Fault) -> RequestError {
        match fault {
            Fault::Doubled(offset) => RequestError::Doubled { offset, name: self.name_at(offset) },
            Fault::Expected(expected) => RequestError::Malformed { offset: self.at, expected },
            Fault::TooManyValues => RequestError::TooManyValues,
            Fault::TooDeep => RequestError::TooDeep,
        }
    }

    /// Returns the name behind a quote.
    fn name_at(&self, offset: usize) -> String {
        let name = self.clone_at(offset.saturating_sub(1)).text();
        // INVARIANT: the name was read before, so it is one.
        name.map_or(String::new(), |name| unescaped(self, name).into())
    }

    /// Returns the offset of the next byte.
    #[inline]
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Returns the whole text.
    pub(crate) const fn whole(&self) -> &'a str {
        self.text
    }

    /// Returns the text between `start` and the next byte.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Returns the text of a string, with its escapes.
    #[inline]
    pub(crate) fn raw(&self, text: Text) -> &'a str {
        self.text.get(text.start..text.end).unwrap_or("")
    }

    /// Returns the bytes of a string, with its escapes.
    #[inline]
    pub(crate) fn raw_bytes(&self, text: Text) -> &'a [u8] {
        self.bytes.get(text.start..text.end).unwrap_or(&[])
    }

    /// Returns the byte at an offset; 0 behind the end.
    #[inline(always)]
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Skips white space and returns the first token of the value that begins here.
    #[inline(always)]
    pub(crate) fn start(&mut self) -> Scanned<Start> {
        self.values += 1;
        if self.values > MAX_REQUEST_VALUES {
            return Err(Fault::TooManyValues);
        }
        self.skip_space();
        Ok(match self.peek() {
            b'"' => Start::Text,
            b'{' => Start::Object,
            b'[' => Start::List,
            b'-' | b'0'..=b'9' => Start::Number,
            b't' | b'f' | b'n' => Start::Literal,
            _ => return Err(Fault::Expected("a value")),
        })
    }

    /// Reads the string that begins here.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> Scanned<Text> {
        self.at += 1;
        let start = self.at;
        let mut is_escaped = false;
        loop {
            self.skip_plain();
            match self.peek() {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    self.escape()?;
                }
                _ => return Err(Fault::Expected("the end of a string")),
            }
        }
        let end = self.at;
        self.at += 1;
        Ok(Text { start, end, is_escaped })
    }

    /// Reads the number that begins here.
    pub(crate) fn number(&mut self) -> Scanned<&'a str> {
        let start = self.at;
        self.at += usize::from(self.peek() == b'-');
        let first = self.peek();
        let digits = self.digits()?;
        if first == b'0' && digits > 1 {
            self.at = start;
            return Err(Fault::Expected("a number without leading zeros"));
        }
        let mut is_certain = digits <= CERTAIN_DIGITS;
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            self.digits()?;
            is_certain = false;
        }
        let number = self.since(start);
        if is_certain || value_of(number).is_finite() {
            return Ok(number);
        }
        self.at = start;
        Err(Fault::Expected("a number that a double can hold"))
    }

    /// Reads `true`, `false` or `null`, which is `None`.
    #[inline]
    pub(crate) fn literal(&mut self) -> Scanned<Option<bool>> {
        let (word, value) = match self.peek() {
            b't' => ("true", Some(true)),
            b'f' => ("false", Some(false)),
            _ => ("null", None),
        };
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) {
            return Err(Fault::Expected("a value"));
        }
        self.at = end;
        Ok(value)
    }

    /// Enters the object or list that begins here.
    #[inline]
    pub(crate) const fn enter(&mut self) {
        self.at += 1;
    }

    /// Moves to the next member and returns its name, or moves out of the object.
    #[inline(always)]
    pub(crate) fn member(&mut self, is_first: bool) -> Scanned<Option<Text>> {
        if !self.next(is_first, b'}')? {
            return Ok(None);
        }
        self.name().map(Some)
    }

    /// Moves past a name and its colon, if they are here without space.
    #[inline(always)]
    pub(crate) fn passes<const N: usize>(&mut self, token: &[u8; N]) -> bool {
        let is_here = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) == Some(token);
        self.at += if is_here { N } else { 0 };
        is_here
    }

    /// Moves to the next member, or out of the object.
    #[inline(always)]
    pub(crate) fn next_member(&mut self, is_first: bool) -> Scanned<bool> {
        self.next(is_first, b'}')
    }

    /// Reads a name and its colon.
    #[inline(always)]
    pub(crate) fn name(&mut self) -> Scanned<Text> {
        if self.peek() != b'"' {
            return Err(Fault::Expected("a name in quotes"));
        }
        let name = self.text()?;
        self.skip_space();
        if self.peek() != b':' {
            return Err(Fault::Expected("`:`"));
        }
        self.at += 1;
        Ok(name)
    }

    /// Moves to the next element, or out of the list.
    #[inline]
    pub(crate) fn element(&mut self, is_first: bool) -> Scanned<bool> {
        self.next(is_first, b']')
    }

    /// Skips a value that begins here and nests at most as deep as an attribute may.
    #[inline]
    pub(crate) fn skip(&mut self, start: Start) -> Scanned<()> {
        match start {
            Start::Text => self.text().map(drop),
            Start::Number => self.number().map(drop),
            Start::Literal => self.literal().map(drop),
            Start::Object | Start::List => self.skip_nested(start),
        }
    }

    /// Skips white space up to the end of the text; any other byte is an error.
    pub(crate) fn end(&mut self) -> Scanned<()> {
        self.skip_space();
        if self.at == self.bytes.len() { Ok(()) } else { Err(Fault::Expected("the end")) }
    }

    fn skip_nested(&mut self, start: Start) -> Scanned<()> {
        // The lowest bit is the innermost: 1 is an object. A one above all of them marks the end.
        let mut open: u128 = 1;
        let mut inner = Some(start);
        while open > 1 || inner.is_some() {
            let is_first = matches!(inner, Some(Start::Object | Start::List));
            match inner {
                Some(Start::Object | Start::List) => {
                    if open >> MAX_VALUE_DEPTH != 0 {
                        return Err(Fault::TooDeep);
                    }
                    open = open << 1 | u128::from(inner == Some(Start::Object));
                    self.enter();
                }
                Some(scalar) => self.skip(scalar)?,
                None => {}
            }
            let is_there = if open & 1 == 1 {
                self.member(is_first)?.is_some()
            } else {
                self.element(is_first)?
            };
            inner = if is_there { Some(self.start()?) } else { None };
            if !is_there {
                open >>= 1;
            }
        }
        Ok(())
    }

    /// Moves past the comma before an element that is not the first, or past `end`.
    #[inline(always)]
    fn next(&mut self, is_first: bool, end: u8) -> Scanned<bool> {
        self.skip_space();
        if self.peek() == end {
            self.at += 1;
            return Ok(false);
        }
        if !is_first {
            if self.peek() != b',' {
                return Err(Fault::Expected(if end == b'}' { "`,` or `}`" } else { "`,` or `]`" }));
            }
            self.at += 1;
            self.skip_space();
        }
        Ok(true)
    }

    /// Skips one escape.
    #[cold]
    fn escape(&mut self) -> Scanned<()> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = self.unit()?;
                let is_high = (0xD800..0xDC00).contains(&unit);
                let is_half = (0xD800..0xE000).contains(&unit);
                if is_high && self.bytes.get(self.at..self.at + 2) == Some(b"\\u") {
                    let low = self.unit()?;
                    if (0xDC00..0xE000).contains(&low) {
                        return Ok(());
                    }
                    return Err(Fault::Expected("the second half of a surrogate pair"));
                }
                if is_half {
                    return Err(Fault::Expected("a surrogate pair"));
                }
            }
            _ => return Err(Fault::Expected("an escape")),
        }
        Ok(())
    }

    /// Skips `\uXXXX` and returns its number.
    fn unit(&mut self) -> Scanned<u32> {
        let digits = self.text.get(self.at + 2..self.at + 6);
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or(Fault::Expected("four hexadecimal digits"))?;
        self.at += 6;
        Ok(unit)
    }

    /// Skips at least one digit and returns the number of digits.
    fn digits(&mut self) -> Scanned<usize> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { Err(Fault::Expected("a digit")) } else { Ok(self.at - start) }
    }

    /// Skips to the next quote, backslash or control character, or to the end.
    #[inline(always)]
    fn skip_plain(&mut self) {
        while let Some(chunk) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            let special = special(u64::from_le_bytes(*chunk));
            if special != 0 {
                self.at += usize::try_from(special.trailing_zeros() / 8).unwrap_or(0);
                return;
            }
            self.at += chunk.len();
        }
        while !matches!(self.peek(), b'"' | b'\\' | 0..=0x1f) {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        // Mostly there is no white space.
        if self.peek() <= b' ' {
            while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
                self.at += 1;
            }
        }
    }

    /// Returns the next byte; at the end 0, which never occurs in JSON.
    #[inline(always)]
    fn peek(&self) -> u8 {
        self.byte(self.at)
    }
}

/// Returns the nearest double to a number in JSON.
pub(crate) fn value_of(number: &str) -> f64 {
    number.parse().unwrap_or(f64::NAN)
}

/// Marks quotes, backslashes and control characters. The lowest mark is correct; those above it may
/// be wrong.
#[inline]
const fn special(bytes: u64) -> u64 {
    // With bit 1 turned, the quote follows the control characters: all of them are below 0x21.
    let turned = bytes ^ (EACH * 0x02);
    let backslash = bytes ^ (EACH * 0x5c);
    let low = turned.wrapping_sub(EACH * 0x21) & !turned;
    let backslashes = backslash.wrapping_sub(EACH) & !backslash;
    (low | backslashes) & (EACH * 0x80)
}

/// One in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The number of digits of a whole number that is certainly finite.
const CERTAIN_DIGITS: usize = 300;

#[cfg(test)]
mod tests;
