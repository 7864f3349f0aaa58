//! Everything that begins with a backslash.

use super::super::class::{Class, LAST, perl};
use super::super::code::Draft;
use super::super::error::{Error, ErrorKind};
use super::super::search::Look;
use super::Parser;

impl Parser<'_> {
    /// Reads an escape outside of a character class.
    pub(super) fn backslash(&mut self) -> Result<(), Error> {
        let start = self.at;
        let assertion = match self.rest().chars().nth(1) {
            Some('A') => Look::TEXT_START,
            Some('z') => Look::TEXT_END,
            Some('b') => Look::WORD_EDGE,
            Some('B') => Look::NOT_WORD_EDGE,
            Some('Q') => return self.quotation(),
            _ => {
                let mut class = Class::default();
                if self.class_escape(&mut class)? {
                    return self.class_atom(class);
                }
                let point = self.escape()?;
                return self.literal(point);
            }
        };
        self.at = start.saturating_add(2);
        self.atom(Draft::Assert(assertion))
    }

    /// Reads `\Q...\E`, or `\Q` to the end of the pattern.
    fn quotation(&mut self) -> Result<(), Error> {
        self.at = self.at.saturating_add(2);
        while let Some(next) = self.peek() {
            if self.rest().starts_with("\\E") {
                self.at = self.at.saturating_add(2);
                break;
            }
            self.bump();
            self.literal(u32::from(next))?;
        }
        Ok(())
    }

    /// Reads `\d`, `\p{..}` and the like into `class`; returns false for any other text.
    pub(super) fn class_escape(&mut self, class: &mut Class) -> Result<bool, Error> {
        let mut rest = self.rest().chars();
        let (Some('\\'), Some(letter)) = (rest.next(), rest.next()) else {
            return Ok(false);
        };
        if letter.eq_ignore_ascii_case(&'p') {
            self.unicode_class(letter == 'P', class)?;
            return Ok(true);
        }
        let Some(ranges) = perl(letter.to_ascii_lowercase()) else {
            return Ok(false);
        };
        self.at = self.at.saturating_add(2);
        self.add_group(ranges, letter.is_ascii_uppercase(), class)?;
        Ok(true)
    }

    /// Adds `ranges`, folded and negated if requested, in this order.
    pub(super) fn add_group(
        &self,
        ranges: &[(u32, u32)],
        negate: bool,
        class: &mut Class,
    ) -> Result<(), Error> {
        let mut group = Class::default();
        group.extend(ranges);
        self.fold(&mut group)?;
        let group = if negate { group.negated() } else { group };
        class.extend(&group.into_ranges());
        Ok(())
    }

    /// Reads `\pN`, `\p{Name}` or `\p{^Name}`.
    fn unicode_class(&mut self, negate: bool, class: &mut Class) -> Result<(), Error> {
        let start = self.at;
        self.at = start.saturating_add(2);
        let name_at = self.at;
        let braced = self.bump() == Some('{');
        let mut name = self.pattern.get(name_at..self.at).unwrap_or_default();
        if braced {
            let Some(len) = self.rest().find('}') else {
                return Err(Error::new(ErrorKind::InvalidCharRange, start..self.pattern.len()));
            };
            name = self.rest().get(..len).unwrap_or_default();
            self.at = self.at.saturating_add(len).saturating_add(1);
        }
        let (negate, name) = match name.strip_prefix('^') {
            Some(name) => (!negate, name),
            None => (negate, name),
        };
        let ranges = self.source.class(name).map_err(|missing| self.missing(missing, start))?;
        self.add_group(&ranges, negate, class)
    }

    /// Reads an escape for one code point.
    pub(super) fn escape(&mut self) -> Result<u32, Error> {
        let start = self.at;
        self.bump();
        let Some(letter) = self.bump() else {
            let end = self.pattern.len();
            let fault = Error::new(ErrorKind::TrailingBackslash, end..end);
            return Err(Error { at: start, ..fault });
        };
        let point = match letter {
            '0'..='7' => self.octal(letter),
            'x' => self.hexadecimal(),
            'a' => Some(0x07),
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            _ => (letter.is_ascii() && !letter.is_ascii_alphanumeric()).then(|| u32::from(letter)),
        };
        point.ok_or_else(|| Error::new(ErrorKind::InvalidEscape, start..self.at))
    }

    /// Reads up to two more octal digits. One digit that is not zero would be a back-reference,
    /// which no linear machine can follow.
    fn octal(&mut self, first: char) -> Option<u32> {
        let mut point = first.to_digit(8)?;
        let mut digits = 1;
        while let Some(digit) = self.peek().and_then(|next| next.to_digit(8)) {
            if digits == 3 {
                break;
            }
            point = point.saturating_mul(8).saturating_add(digit);
            digits += 1;
            self.bump();
        }
        (first == '0' || digits > 1).then_some(point)
    }

    /// Reads two hexadecimal digits, or any number of them in braces.
    fn hexadecimal(&mut self) -> Option<u32> {
        let first = self.bump()?;
        if first == '{' {
            return self.braced_hexadecimal();
        }
        // The second character belongs to the escape even when it is wrong, so that the message
        // quotes it.
        let second = self.bump();
        let (high, low) = (first.to_digit(16)?, second?.to_digit(16)?);
        Some(high.saturating_mul(16).saturating_add(low))
    }

    fn braced_hexadecimal(&mut self) -> Option<u32> {
        let mut point: Option<u32> = None;
        loop {
            let next = self.bump()?;
            if next == '}' {
                return point;
            }
            let value = point.unwrap_or(0).saturating_mul(16).saturating_add(next.to_digit(16)?);
            point = Some(value).filter(|&value| value <= LAST);
            point?;
        }
    }
}
