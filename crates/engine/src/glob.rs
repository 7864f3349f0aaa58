//! Globs: the patterns that rules use for actions, roles and resources.
//!
//! `*` matches any run of characters but `:`, `**` any run, `?` one character but `:`, `[abc]`,
//! `[a-z]` and `[!a]` one character of (or outside) a class, `{a,b}` either pattern, and `\`
//! removes the meaning of the next character. A lone `*` means `**`. A group that is never closed
//! ends with the pattern, and a trailing `\` matches the empty text, as in Cerbos.
//!
//! Matching reads each character of the text once and walks the pattern once for it: the time is
//! their product for any pattern, and nothing is allocated.

use core::fmt;

use crate::limits::{MAX_GLOB_BYTES, MAX_GLOB_DEPTH};
use crate::text::has;

/// Returns true if `pattern` matches the whole of `text`. An invalid pattern matches no text.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some(head) = pattern.find(is_special) else { return pattern == text };
    if pattern.len() > MAX_GLOB_BYTES {
        return false;
    }
    let (literal, pattern) = pattern.split_at_checked(head).unwrap_or((pattern, ""));
    let Some(text) = text.strip_prefix(literal) else { return false };
    match pattern {
        "**" => true,
        "*" => literal.is_empty() || !has(text, SEPARATOR),
        _ => simulate(pattern, text).unwrap_or(false),
    }
}

/// Returns the steps that comparing `pattern` with a text of `length` bytes takes, where a pair of
/// bytes takes 5 ns (2026-11-23, 2 cores, AMD EPYC): one, and one for each 8 pairs. Most patterns
/// begin with letters that a short text does not have: the rest of the steps of such a pattern is
/// counted for each 16 bytes only. Of the pairs of a short text about a third are compared.
pub(crate) fn steps(pattern: &str, length: usize) -> usize {
    let pairs = match pattern.len() {
        ..=2 => length / 2,
        bytes if pattern.starts_with(is_special) && length < 32 => length.saturating_mul(bytes) / 3,
        bytes if pattern.starts_with(is_special) => length.saturating_mul(bytes),
        bytes => (length / 16).saturating_mul(bytes.saturating_mul(24)),
    };
    (pairs / 8).saturating_add(1)
}

/// Returns the characters with which every text begins that `pattern` matches.
#[must_use]
pub fn head(pattern: &str) -> &str {
    pattern.split(is_special).next().unwrap_or("")
}

/// Returns true if rules treat `pattern` as a glob. Without a `*` it is compared literally, even if
/// it holds other special characters, as in Cerbos.
#[must_use]
pub fn is_glob(pattern: &str) -> bool {
    has(pattern, '*')
}

/// Checks that `pattern` can match some text.
///
/// # Errors
///
/// Names the first fault of the pattern.
pub fn validate(pattern: &str) -> Result<(), GlobError> {
    match pattern.find(is_special) {
        None => Ok(()),
        Some(_) => step(pattern, &States::EMPTY, None).map(|_| ()),
    }
}

/// The reason why a pattern is not a glob. Offsets count bytes from the start of the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobError {
    /// The pattern has special characters and more bytes than [`MAX_GLOB_BYTES`].
    TooLong {
        /// Its length.
        length: usize,
    },
    /// Groups nest deeper than [`MAX_GLOB_DEPTH`].
    TooDeep {
        /// Offset of the first group beyond the bound.
        at: usize,
    },
    /// A `[` lacks its `]`.
    UnclosedClass {
        /// Offset of the `[`.
        at: usize,
    },
    /// A class has no characters.
    EmptyClass {
        /// Offset of the `[`.
        at: usize,
    },
    /// A range ends before it starts, as in `[z-a]`.
    ReversedRange {
        /// Offset of the `[`.
        at: usize,
    },
}

impl fmt::Display for GlobError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length } => {
                write!(out, "glob of {length} bytes, expected at most {MAX_GLOB_BYTES}")
            }
            Self::TooDeep { at } => {
                write!(out, "group at offset {at} is nested deeper than {MAX_GLOB_DEPTH}")
            }
            Self::UnclosedClass { at } => write!(out, "class at offset {at} is not closed"),
            Self::EmptyClass { at } => write!(out, "class at offset {at} is empty"),
            Self::ReversedRange { at } => {
                write!(out, "range at offset {at} ends before it starts")
            }
        }
    }
}

impl core::error::Error for GlobError {}

/// Follows all paths through the pattern at once.
fn simulate(pattern: &str, text: &str) -> Result<bool, GlobError> {
    let (mut states, mut accepted) = step(pattern, &States::EMPTY, None)?;
    for read in text.chars() {
        if states == States::EMPTY {
            return Ok(false);
        }
        (states, accepted) = step(pattern, &states, Some(read))?;
    }
    Ok(accepted)
}

/// Moves every state in `before` over the character `read`; without one, starts at the head of the
/// pattern. Returns the states that now wait, and true if one has reached the end.
///
/// One pass from left to right is enough because no state ever goes back: only a star stays.
fn step(pattern: &str, before: &States, read: Option<char>) -> Result<(States, bool), GlobError> {
    let mut tokens = Tokens::new(pattern)?;
    let mut groups = [Group::default(); MAX_GLOB_DEPTH];
    let mut after = States::EMPTY;
    let mut here = read.is_none();
    while let Some((at, token)) = tokens.next()? {
        if here {
            after.insert(at);
        }
        let reads = read.filter(|_| before.contains(at));
        here = match token {
            Token::Literal(c) => reads == Some(c),
            Token::Any => reads.is_some_and(|c| c != SEPARATOR),
            Token::Class(class) => reads.is_some_and(|c| class.contains(c)),
            Token::Star | Token::DoubleStar => {
                let stays = reads.is_some_and(|c| token == Token::DoubleStar || c != SEPARATOR);
                if stays {
                    after.insert(at);
                }
                here || stays
            }
            Token::Open => match groups.get_mut(tokens.depth) {
                None => return Err(GlobError::TooDeep { at }),
                Some(group) => {
                    *group = Group { entered: here, left: false };
                    tokens.depth += 1;
                    here
                }
            },
            Token::Comma => innermost(&mut groups, tokens.depth).is_some_and(|group| {
                group.left |= here;
                group.entered
            }),
            Token::Close => {
                let left = innermost(&mut groups, tokens.depth).is_some_and(|group| group.left);
                tokens.depth = tokens.depth.saturating_sub(1);
                here || left
            }
        };
    }
    let left = groups.iter().take(tokens.depth).any(|group| group.left);
    Ok((after, here || left))
}

/// An open `{...}` of the pass.
#[derive(Clone, Copy, Default)]
struct Group {
    /// True if a state is before the group, and so before each of its alternatives.
    entered: bool,
    /// True if a state has reached the end of one of the alternatives so far.
    left: bool,
}

fn innermost(groups: &mut [Group], depth: usize) -> Option<&mut Group> {
    groups.get_mut(depth.checked_sub(1)?)
}

/// A set of byte offsets in a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
struct States([u64; MAX_GLOB_BYTES.div_ceil(64)]);

impl States {
    const EMPTY: Self = Self([0; MAX_GLOB_BYTES.div_ceil(64)]);

    fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'p> {
    Literal(char),
    Any,
    Star,
    DoubleStar,
    Class(Class<'p>),
    Open,
    Comma,
    Close,
}

/// The content of a class, between `[` and `]`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Class<'p> {
    negated: bool,
    set: Set<'p>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Set<'p> {
    Range(char, char),
    /// The characters as written, escapes included.
    Listed(&'p str),
}

impl Class<'_> {
    fn contains(&self, c: char) -> bool {
        let found = match self.set {
            Set::Range(low, high) => (low..=high).contains(&c),
            Set::Listed(text) => Unescaped(text.chars()).any(|listed| listed == c),
        };
        found != self.negated
    }
}

/// The characters of a text, without the backslashes of escapes.
struct Unescaped<'p>(core::str::Chars<'p>);

impl Iterator for Unescaped<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.0.next()? {
            ESCAPE => self.0.next(),
            c => Some(c),
        }
    }
}

/// Splits a pattern into tokens.
struct Tokens<'p> {
    rest: &'p str,
    length: usize,
    /// The number of open groups: outside of one, `,` and `}` are ordinary characters.
    depth: usize,
}

impl<'p> Tokens<'p> {
    fn new(pattern: &'p str) -> Result<Self, GlobError> {
        if pattern.len() > MAX_GLOB_BYTES {
            return Err(GlobError::TooLong { length: pattern.len() });
        }
        Ok(Self { rest: pattern, length: pattern.len(), depth: 0 })
    }

    /// Returns the next token and its offset.
    fn next(&mut self) -> Result<Option<(usize, Token<'p>)>, GlobError> {
        let at = self.length.saturating_sub(self.rest.len());
        let Some(first) = self.read() else { return Ok(None) };
        let token = match first {
            '*' if self.accept('*') => Token::DoubleStar,
            '*' => Token::Star,
            '?' => Token::Any,
            '{' => Token::Open,
            ',' if self.depth > 0 => Token::Comma,
            '}' if self.depth > 0 => Token::Close,
            '[' => Token::Class(self.class(at)?),
            ESCAPE => match self.read() {
                Some(c) => Token::Literal(c),
                None => return Ok(None),
            },
            c => Token::Literal(c),
        };
        Ok(Some((at, token)))
    }

    fn class(&mut self, at: usize) -> Result<Class<'p>, GlobError> {
        let unclosed = GlobError::UnclosedClass { at };
        let negated = self.accept('!');
        let start = self.rest;
        let low = self.read().ok_or(unclosed)?;
        let set = if self.accept('-') {
            let high = self.read().ok_or(unclosed)?;
            if high < low {
                return Err(GlobError::ReversedRange { at });
            }
            Set::Range(low, high)
        } else {
            self.rest = start;
            Set::Listed(self.listed(at)?)
        };
        if self.accept(']') { Ok(Class { negated, set }) } else { Err(unclosed) }
    }

    /// Reads up to the next `]` that is not escaped.
    fn listed(&mut self, at: usize) -> Result<&'p str, GlobError> {
        let mut escaped = false;
        let end = self.rest.find(|c| {
            let ends = c == ']' && !escaped;
            escaped = c == ESCAPE && !escaped;
            ends
        });
        let (text, rest) = end
            .and_then(|end| self.rest.split_at_checked(end))
            .ok_or(GlobError::UnclosedClass { at })?;
        self.rest = rest;
        if text.is_empty() { Err(GlobError::EmptyClass { at }) } else { Ok(text) }
    }

    fn read(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let read = chars.next();
        self.rest = chars.as_str();
        read
    }

    fn accept(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

const fn is_special(c: char) -> bool {
    matches!(c, '*' | '?' | '[' | '{' | ESCAPE)
}

/// The character that `*` and `?` do not match.
const SEPARATOR: char = ':';

const ESCAPE: char = '\\';

#[cfg(test)]
mod tests;
