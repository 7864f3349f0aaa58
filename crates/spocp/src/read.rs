//! From text to nodes: two forms of tokens, and one reader of their meaning.
//!
//! The reader puts the open lists on a stack of fixed size, so that no text makes it recurse.

mod advanced;
mod canonical;

use alloc::vec::Vec;

pub(crate) use advanced::is_word;

use crate::error::{Error, Kind};
use crate::expression::{Expression, Node, Span, index};
use crate::limits::{MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS};
use crate::range::Range;

/// Reads the canonical form in place of the old expression.
pub(crate) fn canonical(text: &[u8], out: &mut Expression) -> Result<(), Error> {
    short_enough(text)?;
    out.clear();
    out.text.extend_from_slice(text);
    Reader::new(canonical::Tokens::new(text), out, MAX_ELEMENTS).read()
}

/// Reads the advanced form in place of the old expression.
pub(crate) fn advanced(text: &[u8], out: &mut Expression) -> Result<(), Error> {
    short_enough(text)?;
    out.clear();
    Reader::new(advanced::Tokens::new(text), out, MAX_ELEMENTS).read()
}

/// Reads the output of this crate. A normal form may be longer than its source, by a bounded
/// factor, and is not refused for that.
pub(crate) fn normal(text: &[u8]) -> Result<Expression, Error> {
    let mut out = Expression { text: text.to_vec(), ..Expression::default() };
    Reader::new(canonical::Tokens::new(text), &mut out, usize::MAX).read()?;
    Ok(out)
}

fn short_enough(text: &[u8]) -> Result<(), Error> {
    if text.len() > MAX_BYTES { Err(Kind::TooLong.at(MAX_BYTES)) } else { Ok(()) }
}

/// One token, and its offset.
pub(crate) struct Token {
    at: usize,
    kind: Part,
}

/// The kinds of token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Open,
    Close,
    Atom,
    End,
}

/// The tokens of one form.
pub(crate) trait Tokens {
    /// Returns the next token, and the bytes if it is an atom.
    fn next(&mut self, text: &mut Vec<u8>) -> Result<(Token, Span), Error>;
}

struct Reader<'r, T> {
    tokens: T,
    out: &'r mut Expression,
    /// The open lists and sets, outermost first.
    open: [u32; MAX_DEPTH],
    depth: usize,
    most: usize,
}

impl<'r, T: Tokens> Reader<'r, T> {
    fn new(tokens: T, out: &'r mut Expression, most: usize) -> Self {
        Self { tokens, out, open: [0; MAX_DEPTH], depth: 0, most }
    }

    fn read(mut self) -> Result<(), Error> {
        loop {
            let (token, span) = self.next()?;
            match token.kind {
                Part::Atom => self.push(Node::Atom(span), token.at)?,
                Part::Open => self.opened(token.at)?,
                Part::Close => self.closed(token.at)?,
                Part::End if self.out.nodes.is_empty() => return Err(Kind::Empty.at(token.at)),
                Part::End => return Err(Kind::Unfinished.at(token.at)),
            }
            if self.depth == 0 {
                break;
            }
        }
        let (token, _) = self.next()?;
        if token.kind == Part::End { Ok(()) } else { Err(Kind::Trailing.at(token.at)) }
    }

    fn next(&mut self) -> Result<(Token, Span), Error> {
        self.tokens.next(&mut self.out.text)
    }

    fn push(&mut self, node: Node, at: usize) -> Result<(), Error> {
        if self.out.nodes.len() >= self.most {
            return Err(Kind::TooMany.at(at));
        }
        self.out.nodes.push(node);
        Ok(())
    }

    fn opened(&mut self, at: usize) -> Result<(), Error> {
        let (tag, span) = self.next()?;
        match tag.kind {
            Part::Atom if self.out.bytes(span) == b"*" => self.star_form(at),
            Part::Atom => {
                self.enter(Node::List { end: 0 }, at)?;
                self.push(Node::Atom(span), tag.at)
            }
            Part::End => Err(Kind::Unfinished.at(tag.at)),
            Part::Open | Part::Close => Err(Kind::Tag.at(tag.at)),
        }
    }

    fn enter(&mut self, node: Node, at: usize) -> Result<(), Error> {
        let here = offset(self.out.nodes.len());
        let position = self.open.get_mut(self.depth).ok_or(Kind::TooDeep.at(at))?;
        *position = here;
        self.depth = self.depth.saturating_add(1);
        self.push(node, at)
    }

    fn closed(&mut self, at: usize) -> Result<(), Error> {
        let depth = self.depth.checked_sub(1).ok_or(Kind::Unopened.at(at))?;
        let opened = index(self.open.get(depth).copied().unwrap_or_default());
        self.depth = depth;
        let here = offset(self.out.nodes.len());
        match self.out.nodes.get_mut(opened) {
            Some(Node::List { end }) => *end = here,
            Some(Node::Set { end }) => {
                *end = here;
                check_set(self.out, opened).map_err(|kind| kind.at(at))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn star_form(&mut self, at: usize) -> Result<(), Error> {
        let (word, span) = self.next()?;
        match (word.kind, self.out.bytes(span)) {
            (Part::Close, _) => self.push(Node::Any, at),
            (Part::Atom, b"set") => self.enter(Node::Set { end: 0 }, at),
            (Part::Atom, b"range") => self.range(at),
            (Part::Atom, b"prefix") => self.affix(at, Node::Prefix),
            (Part::Atom, b"suffix") => self.affix(at, Node::Suffix),
            (Part::End, _) => Err(Kind::Unfinished.at(word.at)),
            _ => Err(Kind::StarForm.at(word.at)),
        }
    }

    fn affix(&mut self, at: usize, node: fn(Span) -> Node) -> Result<(), Error> {
        let (word, span) = self.next()?;
        if word.kind != Part::Atom {
            return Err(Kind::Affix.at(word.at));
        }
        let (close, _) = self.next()?;
        if close.kind != Part::Close {
            return Err(Kind::Affix.at(close.at));
        }
        self.push(node(span), at)
    }

    fn range(&mut self, at: usize) -> Result<(), Error> {
        let opened = self.out.nodes.len();
        let range = offset(self.out.ranges.len());
        self.push(Node::Range { end: 0, range }, at)?;
        let mut words = [Span { at: 0, len: 0 }; WORDS];
        let mut count = 0;
        loop {
            let (word, span) = self.next()?;
            match (word.kind, words.get_mut(count)) {
                (Part::Close, _) => break,
                (Part::Atom, Some(position)) => *position = span,
                (Part::End, _) => return Err(Kind::Unfinished.at(word.at)),
                _ => return Err(Kind::Relation.at(word.at)),
            }
            self.push(Node::Atom(span), word.at)?;
            count = count.saturating_add(1);
        }
        let texts = words.map(|span| self.out.bytes(span));
        let meaning = Range::read(texts.get(..count).unwrap_or_default());
        self.out.ranges.push(meaning.map_err(|kind| kind.at(at))?);
        let here = offset(self.out.nodes.len());
        if let Some(Node::Range { end, .. }) = self.out.nodes.get_mut(opened) {
            *end = here;
        }
        Ok(())
    }
}

/// Checks the elements of a set: at least one, no set, and lists of different tags only.
fn check_set(expression: &Expression, at: usize) -> Result<(), Kind> {
    use crate::expression::Element;
    let Some(Element::Set(elements)) = expression.element(at) else { return Ok(()) };
    let mut tags = Vec::new();
    let mut is_empty = true;
    for element in elements {
        is_empty = false;
        match element {
            Element::Set(_) => return Err(Kind::NestedSet),
            Element::List(inner) => tags.push(inner.tag()),
            _ => {}
        }
    }
    tags.sort_unstable();
    let repeats = tags.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    match (is_empty, repeats) {
        (true, _) => Err(Kind::EmptySet),
        (_, true) => Err(Kind::SameTag),
        _ => Ok(()),
    }
}

/// Converts an offset. Texts are shorter than `MAX_BYTES`, or a few times as long if this crate
/// wrote them.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The most words of a range: its type, and two relations with their constants.
const WORDS: usize = 5;
