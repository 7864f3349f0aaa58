//! Groups and flags: everything in round brackets.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::super::code::{Draft, alternate};
use super::super::error::{Error, ErrorKind};
use super::{Flags, Frame, Parser};
use crate::limits::MAX_REGEX_DEPTH;

impl Parser<'_> {
    pub(super) fn open(&mut self) -> Result<(), Error> {
        let rest = self.rest();
        let name_at = [("(?P<", 4), ("(?<", 3)];
        if let Some((_, skip)) = name_at.iter().find(|(prefix, _)| named(rest, prefix)) {
            return self.open_named(*skip);
        }
        if rest.starts_with("(?") {
            return self.open_flags();
        }
        let start = self.at;
        self.bump();
        self.capture(start, String::new())
    }

    /// Reads `(?P<name>` or `(?<name>`, whose name begins `skip` bytes on.
    fn open_named(&mut self, skip: usize) -> Result<(), Error> {
        let start = self.at;
        let rest = self.rest();
        let fault = |end: usize| Error::new(ErrorKind::InvalidNamedCapture, start..end);
        let end = rest.find('>').ok_or_else(|| fault(self.pattern.len()))?;
        let name = rest.get(skip..end).unwrap_or_default();
        self.at = start.saturating_add(end).saturating_add(1);
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return Err(fault(self.at));
        }
        self.capture(start, name.to_owned())
    }

    fn capture(&mut self, start: usize, name: String) -> Result<(), Error> {
        self.grow(2)?;
        self.parsed.names.push(name);
        let group = u32::try_from(self.parsed.names.len()).ok();
        self.enter(start, group, self.flags)
    }

    /// Reads `(?flags)`, which changes the flags of the group around it, or `(?flags:`.
    fn open_flags(&mut self) -> Result<(), Error> {
        let start = self.at;
        self.at = start.saturating_add(2);
        let mut flags = self.flags;
        let (mut on, mut seen) = (true, true);
        while let Some(next) = self.bump() {
            match next {
                '-' if on => (on, seen) = (false, false),
                ':' if seen => {
                    self.enter(start, None, self.flags)?;
                    self.flags = flags;
                    return Ok(());
                }
                ')' if seen => {
                    self.flags = flags;
                    return Ok(());
                }
                _ if flags.set(next, on) => seen = true,
                _ => break,
            }
        }
        Err(Error::new(ErrorKind::InvalidPerlOp, start..self.at))
    }

    fn enter(&mut self, open: usize, capture: Option<u32>, outer: Flags) -> Result<(), Error> {
        if self.frames.len() >= MAX_REGEX_DEPTH {
            return Err(self.whole(ErrorKind::NestingDepth));
        }
        let frame = Frame { open, capture, outer, ..Frame::default() };
        self.frames.push(core::mem::replace(&mut self.frame, frame));
        Ok(())
    }

    /// Reads `)`: the group becomes one atom of the group around it.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        let Some(outer) = self.frames.pop() else {
            return Err(self.whole(ErrorKind::UnexpectedParen));
        };
        self.bump();
        let mut inner = core::mem::replace(&mut self.frame, outer);
        inner.settle();
        self.flags = inner.outer;
        self.frame.begin_atom(inner.weight);
        let slot = inner.capture.map(|group| group.saturating_mul(2));
        self.frame.code.extend(slot.map(Draft::Save));
        let code = alternate(inner.branches, inner.code);
        self.pay(code.len())?;
        self.frame.code.extend(code);
        self.frame.code.extend(slot.map(|slot| Draft::Save(slot.saturating_add(1))));
        Ok(())
    }
}

/// Returns true if `rest` opens a named group, with at least one byte after the bracket.
fn named(rest: &str, prefix: &str) -> bool {
    rest.strip_prefix(prefix).is_some_and(|name| !name.is_empty())
}

impl Flags {
    fn set(&mut self, letter: char, on: bool) -> bool {
        match letter {
            'i' => self.fold = on,
            'm' => self.multi_line = on,
            's' => self.dot_newline = on,
            'U' => self.ungreedy = on,
            _ => return false,
        }
        true
    }
}
