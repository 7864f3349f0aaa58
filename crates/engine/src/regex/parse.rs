//! Patterns become code in one pass, without a tree.
//!
//! Every open group has the code of its finished branches and of the one being read; the last atom
//! of that branch is its tail, which a repetition takes off and puts back. Nothing recurses, so
//! depth is only the length of a list.

mod bracket;
mod escape;
mod group;

use alloc::string::String;
use alloc::vec::Vec;

use super::class::{Class, ClassSource, LAST, Missing, Range};
use super::code::{Draft, Repeat, alternate};
use super::error::{Error, ErrorKind};
use super::search::Look;
use super::steps;
use crate::limits::{
    MAX_REGEX_BYTES, MAX_REGEX_CLASS_WORDS, MAX_REGEX_INSTRUCTIONS, MAX_REGEX_REPEAT,
};
use crate::number::parse_uint;

/// The result of parsing a pattern.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// The code, which ends with [`Draft::Match`].
    pub(super) code: Vec<Draft>,
    /// Class tables: the number of ranges, then two words for each.
    pub(super) classes: Vec<u32>,
    /// Names of the capturing groups from 1 on; empty for a group without one.
    pub(super) names: Vec<String>,
}

/// Parses `pattern` with the flags that Go's `regexp.Compile` sets.
pub(super) fn parse(
    pattern: &str,
    source: &dyn ClassSource,
    steps: &mut u32,
) -> Result<Parsed, Error> {
    let mut parser = Parser {
        pattern,
        at: 0,
        token_at: 0,
        source,
        steps,
        flags: Flags::default(),
        frames: Vec::new(),
        frame: Frame::default(),
        size: 0,
        last_repeat: None,
        parsed: Parsed::default(),
        class_at: Vec::new(),
    };
    if pattern.len() > MAX_REGEX_BYTES {
        return Err(parser.whole(ErrorKind::TooLarge));
    }
    while let Some(next) = parser.peek() {
        parser.token_at = parser.at;
        parser.pay(0)?;
        parser.last_repeat = parser.token(next)?;
    }
    parser.finish()
}

struct Parser<'p> {
    pattern: &'p str,
    at: usize,
    /// The offset of the current token.
    token_at: usize,
    source: &'p dyn ClassSource,
    /// The steps that are left: one for each token and for each [`WORK`] instructions moved.
    steps: &'p mut u32,
    flags: Flags,
    /// The groups around the current one, outermost first.
    frames: Vec<Frame>,
    frame: Frame,
    /// The number of instructions in all the frames.
    size: usize,
    /// The offset of the token before this one, if it was a repetition.
    last_repeat: Option<usize>,
    parsed: Parsed,
    /// The offset of each class in the table.
    class_at: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_newline: bool,
    ungreedy: bool,
}

/// A group that is being read.
#[derive(Debug)]
struct Frame {
    open: usize,
    capture: Option<u32>,
    /// The flags to return to at the end of the group.
    outer: Flags,
    branches: Vec<Vec<Draft>>,
    code: Vec<Draft>,
    /// The index in `code` of the last atom.
    atom: Option<usize>,
    /// The largest product of nested counts, in the last atom and in the whole group.
    atom_weight: u32,
    weight: u32,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            open: 0,
            capture: None,
            outer: Flags::default(),
            branches: Vec::new(),
            code: Vec::new(),
            atom: None,
            atom_weight: 1,
            weight: 1,
        }
    }
}

impl Parser<'_> {
    /// Reads one token; returns its offset if it is a repetition.
    fn token(&mut self, next: char) -> Result<Option<usize>, Error> {
        match next {
            '(' => self.open()?,
            ')' => self.close()?,
            '[' => self.bracket()?,
            '\\' => self.backslash()?,
            '*' | '+' | '?' => return self.operator(next).map(Some),
            '{' => return self.braces(),
            _ => {
                self.bump();
                self.plain(next)?;
            }
        }
        Ok(None)
    }

    fn plain(&mut self, next: char) -> Result<(), Error> {
        match next {
            '|' => {
                let branch = core::mem::take(&mut self.frame.code);
                self.frame.branches.push(branch);
                self.frame.settle();
                self.grow(2)
            }
            '^' if self.flags.multi_line => self.atom(Draft::Assert(Look::LINE_START)),
            '^' => self.atom(Draft::Assert(Look::TEXT_START)),
            '$' if self.flags.multi_line => self.atom(Draft::Assert(Look::LINE_END)),
            '$' => self.atom(Draft::Assert(Look::TEXT_END)),
            '.' if self.flags.dot_newline => self.atom(Draft::Any),
            '.' => self.atom(Draft::NotNewline),
            _ => self.literal(u32::from(next)),
        }
    }

    fn literal(&mut self, point: u32) -> Result<(), Error> {
        let mut class = Class::default();
        class.add((point, point));
        self.fold(&mut class)?;
        self.class_atom(class)
    }

    /// Appends the atom that matches one code point of `class`.
    fn class_atom(&mut self, class: Class) -> Result<(), Error> {
        let ranges = class.into_ranges();
        self.pay(ranges.len())?;
        let draft = match *ranges.as_slice() {
            [(first, last)] if first == last => Draft::Char(first),
            [(0, LAST)] => Draft::Any,
            ref ranges => Draft::Class(self.class_id(ranges)?),
        };
        self.atom(draft)
    }

    /// Returns the offset of `ranges` in the class table, where equal classes near each other share
    /// an entry.
    fn class_id(&mut self, ranges: &[Range]) -> Result<u32, Error> {
        let count = u32::try_from(ranges.len()).map_err(|_| self.whole(ErrorKind::TooLarge))?;
        let mut words = Vec::from([count]);
        words.extend(ranges.iter().flat_map(|&(first, last)| [first, last]));
        let table = &mut self.parsed.classes;
        let known = |&&at: &&u32| {
            usize::try_from(at)
                .ok()
                .and_then(|at| table.get(at..))
                .is_some_and(|rest| rest.starts_with(&words))
        };
        if let Some(&at) = self.class_at.iter().rev().take(SHARED_CLASSES).find(known) {
            return Ok(at);
        }
        let at = table.len();
        table.extend(words);
        match u32::try_from(at) {
            Ok(at) if table.len() <= MAX_REGEX_CLASS_WORDS => {
                self.class_at.push(at);
                Ok(at)
            }
            _ => Err(self.whole(ErrorKind::TooLarge)),
        }
    }

    fn atom(&mut self, draft: Draft) -> Result<(), Error> {
        self.grow(1)?;
        self.frame.begin_atom(1);
        self.frame.code.push(draft);
        Ok(())
    }

    /// Reads `*`, `+` or `?`.
    fn operator(&mut self, sign: char) -> Result<usize, Error> {
        let start = self.at;
        self.bump();
        let (min, max) = match sign {
            '*' => (0, None),
            '+' => (1, None),
            _ => (0, Some(1)),
        };
        self.repeat(start, min, max, 1)?;
        Ok(start)
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`; any other braces are literals.
    fn braces(&mut self) -> Result<Option<usize>, Error> {
        let start = self.at;
        self.bump();
        let Some((min, max)) = self.counts() else {
            self.at = start.saturating_add(1);
            self.literal(u32::from('{'))?;
            return Ok(None);
        };
        let most = max.unwrap_or(min);
        if min.max(most) > MAX_REGEX_REPEAT || min > most {
            return Err(Error::new(ErrorKind::InvalidRepeatSize, start..self.at));
        }
        self.repeat(start, min, max, most)?;
        Ok(Some(start))
    }

    /// Repeats the last atom; `times` is the factor by which the repetition multiplies the weight
    /// of the atom.
    fn repeat(
        &mut self,
        start: usize,
        min: u32,
        max: Option<u32>,
        times: u32,
    ) -> Result<(), Error> {
        let lazy = self.eat('?');
        if let Some(before) = self.last_repeat {
            return Err(Error::new(ErrorKind::InvalidRepeatOp, before..self.at));
        }
        let missing = || Error::new(ErrorKind::MissingRepeatArgument, start..self.at);
        let atom = self.frame.atom.ok_or_else(missing)?;
        self.frame.atom_weight = match (max, times) {
            (Some(0), _) => 1,
            _ => self.frame.atom_weight.saturating_mul(times.max(1)),
        };
        if times > 1 && self.frame.atom_weight > MAX_REGEX_REPEAT {
            return Err(Error::new(ErrorKind::InvalidRepeatSize, start..self.at));
        }
        let greedy = lazy == self.flags.ungreedy;
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        self.replace_atom(atom, Repeat { min: count(min), max: max.map(count), greedy })
    }

    fn replace_atom(&mut self, atom: usize, repeat: Repeat) -> Result<(), Error> {
        let body = self.frame.code.split_off(atom.min(self.frame.code.len()));
        if repeat.size(body.len()) > MAX_REGEX_INSTRUCTIONS {
            return Err(self.whole(ErrorKind::TooLarge));
        }
        self.pay(repeat.size(body.len()))?;
        let code = repeat.apply(&body);
        self.size = self.size.saturating_sub(body.len());
        self.grow(code.len())?;
        self.frame.code.extend(code);
        Ok(())
    }

    /// Pays for moving `work` instructions or ranges.
    fn pay(&mut self, work: usize) -> Result<(), Error> {
        let cost = (work / WORK).saturating_add(1);
        steps::pay(self.steps, cost).map_err(|_| self.whole(ErrorKind::TooLarge))
    }

    fn grow(&mut self, by: usize) -> Result<(), Error> {
        self.size = self.size.saturating_add(by);
        if self.size < MAX_REGEX_INSTRUCTIONS {
            return Ok(());
        }
        Err(self.whole(ErrorKind::TooLarge))
    }

    fn finish(mut self) -> Result<Parsed, Error> {
        if !self.frames.is_empty() {
            let at = self.frame.open;
            return Err(Error { at, ..self.whole(ErrorKind::MissingParen) });
        }
        self.parsed.code = alternate(self.frame.branches, self.frame.code);
        self.parsed.code.push(Draft::Match);
        Ok(self.parsed)
    }
}

impl Frame {
    fn begin_atom(&mut self, weight: u32) {
        self.settle();
        self.atom = Some(self.code.len());
        self.atom_weight = weight;
    }

    /// Makes the last atom part of the code before it, so that a repetition does not apply to it.
    fn settle(&mut self) {
        self.weight = self.weight.max(self.atom_weight);
        self.atom = None;
        self.atom_weight = 1;
    }
}

/// The number of instructions that are moved in about the time of one step of a search.
const WORK: usize = 8;

/// The number of latest classes that a new one is compared with: all would take quadratic time.
const SHARED_CLASSES: usize = 64;

/// The cursor.
impl<'p> Parser<'p> {
    fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at = self.at.saturating_add(next.len_utf8());
        Some(next)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }

    /// Reads the text behind the opening brace of a repetition.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let min = self.number()?;
        if self.eat('}') {
            return Some((min, Some(min)));
        }
        if !self.eat(',') {
            return None;
        }
        if self.eat('}') {
            return Some((min, None));
        }
        let max = self.number()?;
        self.eat('}').then_some((min, Some(max)))
    }

    /// Reads a decimal number without leading zeros; a number out of range becomes the largest one.
    fn number(&mut self) -> Option<u32> {
        let rest = self.rest();
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = rest.get(..len).filter(|digits| !digits.is_empty())?;
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        self.at = self.at.saturating_add(len);
        Some(parse_uint(digits).and_then(|count| count.try_into().ok()).unwrap_or(u32::MAX))
    }

    fn whole(&self, kind: ErrorKind) -> Error {
        Error { kind, at: self.at.min(self.pattern.len()), quoted: 0..self.pattern.len() }
    }

    /// Adds the other cases of `class` if the flags say so.
    fn fold(&self, class: &mut Class) -> Result<(), Error> {
        if !self.flags.fold {
            return Ok(());
        }
        class.fold(self.source).map_err(|missing| self.missing(missing, self.token_at))
    }

    fn missing(&self, missing: Missing, start: usize) -> Error {
        let kind = match missing {
            Missing::Name => ErrorKind::InvalidCharRange,
            Missing::Table => ErrorKind::NotAtRunTime,
        };
        Error::new(kind, start..self.at)
    }
}
