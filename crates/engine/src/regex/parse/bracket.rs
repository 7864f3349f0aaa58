//! Character classes: everything in square brackets.

use super::super::class::{Class, posix};
use super::super::error::{Error, ErrorKind};
use super::Parser;
use crate::text;

impl Parser<'_> {
    pub(super) fn bracket(&mut self) -> Result<(), Error> {
        let start = self.at;
        self.bump();
        let negate = self.eat('^');
        let mut class = Class::default();
        let mut first = true;
        // The closing bracket is a literal at the first position.
        while first || !self.eat(']') {
            first = false;
            self.pay(0)?;
            if !self.posix_class(&mut class)? && !self.class_escape(&mut class)? {
                self.span(start, &mut class)?;
            }
        }
        self.class_atom(if negate { class.negated() } else { class })
    }

    /// Reads `[:name:]` or `[:^name:]` into `class`; returns false for any other text.
    fn posix_class(&mut self, class: &mut Class) -> Result<bool, Error> {
        let start = self.at;
        let Some(rest) = self.rest().strip_prefix("[:") else {
            return Ok(false);
        };
        let Some(len) = text::find(rest, ":]") else {
            return Ok(false);
        };
        self.at = start.saturating_add(len).saturating_add(4);
        let name = rest.get(..len).unwrap_or_default();
        let (negate, name) = match name.strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, name),
        };
        let unknown = || Error::new(ErrorKind::InvalidCharRange, start..self.at);
        self.add_group(posix(name).ok_or_else(unknown)?, negate, class)?;
        Ok(true)
    }

    /// Reads one code point, or two with a dash between them.
    fn span(&mut self, bracket: usize, class: &mut Class) -> Result<(), Error> {
        let start = self.at;
        let first = self.member(bracket)?;
        let mut last = first;
        let mut rest = self.rest().chars();
        if rest.next() == Some('-') && rest.next().is_some_and(|next| next != ']') {
            self.bump();
            last = self.member(bracket)?;
        }
        if last < first {
            return Err(Error::new(ErrorKind::InvalidCharRange, start..self.at));
        }
        self.add_group(&[(first, last)], false, class)
    }

    fn member(&mut self, bracket: usize) -> Result<u32, Error> {
        match self.peek() {
            None => Err(Error::new(ErrorKind::MissingBracket, bracket..self.pattern.len())),
            Some('\\') => self.escape(),
            Some(next) => {
                self.bump();
                Ok(u32::from(next))
            }
        }
    }
}
