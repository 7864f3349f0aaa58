//! One step along a rule: an element of it, where a list opens or where one closes.
//!
//! A rule is the row of its symbols. What closes at its end goes without saying, because a list of a
//! query may be longer than that of the rule.

use alloc::vec::Vec;

use super::atoms::Atoms;
use crate::expression::{Expression, Node, index};
use crate::limits::MAX_DEPTH;
use crate::write;

/// A kind in the lowest three bits, and above it the number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol(pub(super) u32);

/// The kinds of symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A list closes.
    Close,
    /// `(*)`
    Any,
    /// An atom.
    Atom,
    /// A list opens, with its tag.
    Tag,
    /// A prefix.
    Prefix,
    /// A suffix; its text stands backwards.
    Suffix,
    /// A range; its text is the canonical form.
    Range,
    /// A set; its text is the canonical form.
    Set,
}

impl Symbol {
    pub(super) const CLOSE: Self = Self(0);
    pub(super) const ANY: Self = Self(1);

    pub(super) fn new(kind: Kind, text: u32) -> Self {
        let bits = KINDS.iter().position(|other| *other == kind).unwrap_or_default();
        Self(text << 3 | u32::try_from(bits).unwrap_or_default())
    }

    pub(super) fn kind(self) -> Kind {
        KINDS.get(index(self.0 & 7)).copied().unwrap_or(Kind::Close)
    }

    /// Returns the number of the text, if the kind has one.
    pub(super) fn text(self) -> Option<u32> {
        (!matches!(self.kind(), Kind::Close | Kind::Any)).then_some(self.0 >> 3)
    }

    /// Writes the canonical form.
    pub(super) fn write(self, atoms: &Atoms, out: &mut Vec<u8>) {
        let text = self.text().map(|text| atoms.text(text)).unwrap_or_default();
        match self.kind() {
            Kind::Close => out.push(b')'),
            Kind::Any => out.extend_from_slice(b"(1:*)"),
            Kind::Atom => write::atom(text, out),
            Kind::Tag => {
                out.push(b'(');
                write::atom(text, out);
            }
            Kind::Prefix => write::affix(b"prefix", text, out),
            Kind::Suffix => {
                let text: Vec<u8> = text.iter().rev().copied().collect();
                write::affix(b"suffix", &text, out);
            }
            Kind::Range | Kind::Set => out.extend_from_slice(text),
        }
    }
}

/// One symbol of an expression: its kind, where its text is, and at which node it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) at: usize,
}

/// The symbols of one element of an expression in normal form.
pub(super) struct Parts<'e> {
    expression: &'e Expression,
    at: usize,
    end: usize,
    /// Where the lists that are open end.
    ends: [u32; MAX_DEPTH],
    depth: usize,
    /// Whether the lists that are open at the end are closed, too.
    closes: bool,
}

impl<'e> Parts<'e> {
    /// The symbols of a rule.
    pub(super) fn of_rule(expression: &'e Expression) -> Self {
        let end = expression.nodes.len();
        Self { expression, at: 0, end, ends: [0; MAX_DEPTH], depth: 0, closes: false }
    }

    /// The symbols of an element of a set.
    pub(super) fn of_element(expression: &'e Expression, at: usize) -> Self {
        let end = expression.after(at);
        Self { expression, at, end, ends: [0; MAX_DEPTH], depth: 0, closes: true }
    }

    fn open(&mut self, end: u32) {
        if let Some(place) = self.ends.get_mut(self.depth) {
            *place = end;
            self.depth = self.depth.saturating_add(1);
        }
    }
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let at = self.at;
        if at >= self.end && !self.closes {
            return None;
        }
        let last = self.depth.checked_sub(1).and_then(|last| self.ends.get(last));
        if last.is_some_and(|end| index(*end) <= at) {
            self.depth = self.depth.saturating_sub(1);
            return Some(Part { kind: Kind::Close, at });
        }
        if at >= self.end {
            return None;
        }
        self.at = self.expression.after(at);
        let kind = match *self.expression.nodes.get(at)? {
            Node::Atom(_) => Kind::Atom,
            Node::Any => Kind::Any,
            Node::Prefix(_) => Kind::Prefix,
            Node::Suffix(_) => Kind::Suffix,
            Node::Range { .. } => Kind::Range,
            Node::Set { .. } => Kind::Set,
            Node::List { end } => {
                self.open(end);
                // The tag is the node after that of the list.
                self.at = at.saturating_add(2);
                return Some(Part { kind: Kind::Tag, at: at.saturating_add(1) });
            }
        };
        Some(Part { kind, at })
    }
}

/// Hands over the text by which a symbol is known.
pub(super) fn with_text<T>(
    expression: &Expression,
    part: Part,
    then: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    Some(match *expression.nodes.get(part.at)? {
        Node::Suffix(span) => {
            let text: Vec<u8> = expression.bytes(span).iter().rev().copied().collect();
            then(&text)
        }
        Node::Atom(span) | Node::Prefix(span) => then(expression.bytes(span)),
        Node::Range { .. } | Node::Set { .. } => then(&write::element(expression, part.at)),
        Node::List { .. } | Node::Any => return None,
    })
}

const KINDS: [Kind; 8] = [
    Kind::Close,
    Kind::Any,
    Kind::Atom,
    Kind::Tag,
    Kind::Prefix,
    Kind::Suffix,
    Kind::Range,
    Kind::Set,
];
