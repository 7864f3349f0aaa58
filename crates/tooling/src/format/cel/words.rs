//! The words of an expression with the comments and line ends between them.
//!
//! A comment at the end of a line belongs to the word before it, and one on a line of its own to
//! the word after it.

use wardgate_compiler::cel::lexer::{self, TokenKind};

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name.
    Name,
    /// A number.
    Number,
    /// Another literal.
    Literal,
    /// An operator, a bracket, or a word with a meaning of its own.
    Symbol,
    /// The end of the text, which has no characters.
    End,
}

/// One word.
#[derive(Clone, Debug)]
pub(super) struct Word<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    /// Comments on lines of their own before it.
    pub(super) before: Vec<&'s str>,
    /// Comments after it on its line; of the end, on the line of the word before it.
    pub(super) after: Vec<&'s str>,
    /// True if it begins a line.
    pub(super) begins_line: bool,
    /// True if an empty line comes before it.
    pub(super) follows_blank: bool,
}

impl Word<'_> {
    pub(super) fn is(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }

    pub(super) fn has_comments(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty()
    }

    /// Returns true if no part of it needs the end of a line.
    pub(super) fn fits_a_line(&self) -> bool {
        !self.has_comments() && !self.text.contains('\n')
    }
}

/// Splits a text into words, the last of which is its end. Returns `None` if it has a flaw.
pub(super) fn words(source: &str) -> Option<Vec<Word<'_>>> {
    let mut errors = Vec::new();
    let tokens = lexer::tokens(source, &mut errors);
    if !errors.is_empty() {
        return None;
    }
    let mut words: Vec<Word<'_>> = Vec::with_capacity(tokens.len());
    let mut end = 0;
    for token in tokens {
        let text = source.get(token.span.start..token.span.end)?;
        let kind = match token.kind {
            TokenKind::Ident | TokenKind::Quoted => Kind::Name,
            TokenKind::Int | TokenKind::Uint | TokenKind::Double => Kind::Number,
            TokenKind::String(_) | TokenKind::Bytes(_) => Kind::Literal,
            TokenKind::Symbol("true" | "false" | "null") => Kind::Literal,
            TokenKind::Symbol(_) => Kind::Symbol,
            TokenKind::End => Kind::End,
        };
        let gap = Gap::read(source.get(end..token.span.start)?);
        end = token.span.end;
        let mut before = gap.before;
        let mut after = Vec::new();
        match words.last_mut() {
            Some(_) if kind == Kind::End => after = gap.after,
            Some(last) => last.after = gap.after,
            None => before.splice(..0, gap.after).for_each(drop),
        }
        let (begins_line, follows_blank) = (gap.begins_line, gap.ends_blank);
        words.push(Word { kind, text, before, after, begins_line, follows_blank });
    }
    Some(words)
}

/// Returns the comments of a text, in order.
pub(super) fn comments<'s>(source: &'s str) -> Vec<&'s str> {
    let words = words(source).unwrap_or_default();
    let of = |word: Word<'s>| match word.kind {
        Kind::End => word.after.into_iter().chain(word.before),
        _ => word.before.into_iter().chain(word.after),
    };
    words.into_iter().flat_map(of).collect()
}

/// The white space and the comments between two words.
#[derive(Default)]
struct Gap<'s> {
    after: Vec<&'s str>,
    before: Vec<&'s str>,
    begins_line: bool,
    ends_blank: bool,
}

impl<'s> Gap<'s> {
    fn read(text: &'s str) -> Self {
        let mut gap = Self::default();
        let mut lines = text.split('\n');
        let first = lines.next().map(str::trim).unwrap_or_default();
        gap.after.extend(Some(first).filter(|line| !line.is_empty()));
        let mut blank = 0_usize;
        for line in lines.map(str::trim) {
            gap.begins_line = true;
            if line.is_empty() {
                blank = blank.saturating_add(1);
            } else {
                gap.before.push(line);
                blank = 0;
            }
        }
        // The line of the word itself, up to the word, looks empty too.
        gap.ends_blank = blank > 1;
        gap
    }
}
