//! One step along a rule: an element of it, or the opening or closing of a list.
//!
//! A rule is the row of its symbols. The closings at its end are implied, because a list of a query
//! may be longer than that of the rule.

use alloc::vec::Vec;
use core::cell::Cell;

use super::atoms::Atoms;
use super::nodes::NONE;
use super::table::Hasher;
use crate::expression::{Expression, Node, index};
use crate::limits::MAX_DEPTH;
use crate::write;

/// A kind in the lowest three bits, and above it the number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol(pub(super) u32);

/// Declares the kinds of symbol, in the order of their bits.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $bits:literal;)+) => {
        /// The kinds of symbol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            /// Returns the index of the kind in `KINDS`.
            pub(super) const fn bits(self) -> u32 {
                match self { $(Self::$kind => $bits,)+ }
            }
        }

        const KINDS: [Kind; 8] = [$(Kind::$kind),+];
    };
}

kinds! {
    /// A list closes.
    Close = 0;
    /// `(*)`
    Any = 1;
    /// An atom.
    Atom = 2;
    /// A list opens, with its tag.
    Tag = 3;
    /// A prefix.
    Prefix = 4;
    /// A suffix; its text is reversed.
    Suffix = 5;
    /// A range; its text is the canonical form.
    Range = 6;
    /// A set; its text is the canonical form.
    Set = 7;
}

impl Symbol {
    pub(super) const CLOSE: Self = Self(0);
    pub(super) const ANY: Self = Self(1);

    pub(super) const fn new(kind: Kind, text: u32) -> Self {
        Self(text << 3 | kind.bits())
    }

    /// Returns true if the symbol has that kind.
    pub(super) const fn is(self, kind: Kind) -> bool {
        self.0 & 7 == kind.bits()
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

/// One symbol of an expression: its kind, and the index of its node.
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
    /// The ends of the open lists.
    ends: [u32; MAX_DEPTH],
    depth: usize,
    /// True if the lists that are open at the end are closed, too.
    closes: bool,
}

impl<'e> Parts<'e> {
    /// Returns the symbols of a rule.
    pub(super) fn of_rule(expression: &'e Expression) -> Self {
        let end = expression.nodes.len();
        Self { expression, at: 0, end, ends: [0; MAX_DEPTH], depth: 0, closes: false }
    }

    /// Returns the symbols of an element of a set.
    pub(super) fn of_element(expression: &'e Expression, at: usize) -> Self {
        let end = expression.after(at);
        Self { expression, at, end, ends: [0; MAX_DEPTH], depth: 0, closes: true }
    }

    fn open(&mut self, end: u32) {
        if let Some(position) = self.ends.get_mut(self.depth) {
            *position = end;
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

/// Passes the text of a symbol to `then`; it is empty if the kind determines the symbol.
pub(super) fn with_text<T>(
    expression: &Expression,
    part: Part,
    then: impl FnOnce(&[u8]) -> T,
) -> T {
    match expression.nodes.get(part.at) {
        _ if part.kind == Kind::Close => then(b""),
        Some(Node::Suffix(span)) => {
            let text: Vec<u8> = expression.bytes(*span).iter().rev().copied().collect();
            then(&text)
        }
        Some(Node::Atom(span) | Node::Prefix(span)) => then(expression.bytes(*span)),
        Some(Node::Range { .. } | Node::Set { .. }) => then(&write::element(expression, part.at)),
        Some(Node::List { .. } | Node::Any) | None => then(b""),
    }
}

/// The text of a symbol in a search.
pub(super) struct Text<'q> {
    pub(super) text: &'q [u8],
    /// The hash of the text, computed once on demand.
    hash: Cell<Option<u32>>,
    pub(super) hint: Hint,
}

/// A candidate for the node of a search, and its parent. No node has the number of `NONE` or of
/// `ABSENT`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    pub(super) child: u32,
    pub(super) parent: u32,
}

impl<'q> Text<'q> {
    pub(super) const fn new(text: &'q [u8]) -> Self {
        Self::hinted(text, Hint::NONE)
    }

    pub(super) const fn hashed(text: &'q [u8], hash: u32) -> Self {
        Self { text, hash: Cell::new(Some(hash)), hint: Hint::NONE }
    }

    pub(super) const fn hinted(text: &'q [u8], hint: Hint) -> Self {
        Self { text, hash: Cell::new(None), hint }
    }

    pub(super) fn hash(&self, hasher: Hasher) -> u32 {
        let hash = self.hash.get().unwrap_or_else(|| hasher.text(self.text));
        self.hash.set(Some(hash));
        hash
    }
}

impl Hint {
    pub(super) const NONE: Self = Self { child: NONE, parent: NONE };

    /// No child: the table has no row with the hash.
    pub(super) const ABSENT: Self = Self { child: NONE, parent: NONE - 1 };

    pub(super) const fn is_absent(self) -> bool {
        self.parent == Self::ABSENT.parent
    }
}
