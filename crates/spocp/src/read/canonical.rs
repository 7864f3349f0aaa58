//! The canonical form: atoms carry their length.

use alloc::vec::Vec;

use super::{Part, Token, offset};
use crate::error::{Error, Kind};
use crate::expression::Span;

/// The tokens of a text that the expression contains unchanged.
pub(super) struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(super) const fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Reads `12:`, and returns the offsets at which the atom begins and ends.
    fn atom(&self) -> Result<(usize, usize), Error> {
        let mut at = self.at;
        let mut length: usize = 0;
        loop {
            match self.text.get(at) {
                Some(digit @ b'0'..=b'9') if *digit != b'0' || at > self.at => {
                    length = length.saturating_mul(10).saturating_add(usize::from(digit & 0xF));
                }
                Some(b':') if at > self.at => break,
                Some(b'0'..=b'9' | b':') => return Err(Kind::Length.at(at)),
                Some(byte) if at == self.at => return Err(Kind::Unexpected(*byte).at(at)),
                Some(_) => return Err(Kind::Length.at(at)),
                None => return Err(Kind::Unfinished.at(at)),
            }
            at = at.saturating_add(1);
        }
        let begin = at.saturating_add(1);
        let end = begin.saturating_add(length);
        if end > self.text.len() { Err(Kind::Overlong.at(self.at)) } else { Ok((begin, end)) }
    }
}

impl super::Tokens for Tokens<'_> {
    fn next(&mut self, _: &mut Vec<u8>) -> Result<(Token, Span), Error> {
        let at = self.at;
        let (kind, begin, end) = match self.text.get(at) {
            None => (Part::End, at, at),
            Some(b'(') => (Part::Open, at, at.saturating_add(1)),
            Some(b')') => (Part::Close, at, at.saturating_add(1)),
            Some(_) => {
                let (begin, end) = self.atom()?;
                (Part::Atom, begin, end)
            }
        };
        self.at = end;
        let span = Span { at: offset(begin), len: offset(end.saturating_sub(begin)) };
        Ok((Token { at, kind }, span))
    }
}
