//! An expression in memory: nodes in the order of the text, each with the index of its end.
//!
//! The form is flat, so that a query is read into two buffers that the next one reuses, and walked
//! without a pointer for each element.

use alloc::vec::Vec;

use crate::range::Range;
use crate::{Error, read, write};

/// An S-expression, valid by draft-hedberg-spocp-sexp-00, as its author wrote it.
#[derive(Clone, Debug, Default)]
pub struct Expression {
    pub(crate) nodes: Vec<Node>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) text: Vec<u8>,
}

/// One element of an expression.
#[derive(Clone, Copy, Debug)]
pub enum Element<'e> {
    /// An octet string.
    Atom(&'e [u8]),
    /// A list; the first element is its tag, an atom.
    List(Elements<'e>),
    /// `(*)`: any expression.
    Any,
    /// `(* set ...)`: any of its elements.
    Set(Elements<'e>),
    /// `(* range ...)`: the atoms between two bounds.
    Range(&'e Range),
    /// `(* prefix ...)`: the atoms with this prefix.
    Prefix(&'e [u8]),
    /// `(* suffix ...)`: the atoms with this suffix.
    Suffix(&'e [u8]),
}

/// The elements of a list or a set.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'e> {
    expression: &'e Expression,
    at: usize,
    end: usize,
}

/// One node. The nodes up to `end` belong to the one that opens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    Atom(Span),
    List {
        end: u32,
    },
    Any,
    Set {
        end: u32,
    },
    /// The words of the range follow as atoms; `range` is the index of its meaning.
    Range {
        end: u32,
        range: u32,
    },
    Prefix(Span),
    Suffix(Span),
}

/// A part of the text, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) at: u32,
    pub(crate) len: u32,
}

impl Expression {
    /// Reads the canonical form: `(4:http(4:page10:index.html))`.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    pub fn from_canonical(text: &[u8]) -> Result<Self, Error> {
        let mut expression = Self::default();
        expression.read_canonical(text)?;
        Ok(expression)
    }

    /// Reads the advanced form: `(http (page index.html))`.
    ///
    /// An atom is a word, a quoted string, hexadecimal digits between `#`, or base64 between `|`. A
    /// word ends at white space, a parenthesis or `"`, so that `08:00:00` is one.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    pub fn from_advanced(text: &[u8]) -> Result<Self, Error> {
        let mut expression = Self::default();
        expression.read_advanced(text)?;
        Ok(expression)
    }

    /// Replaces the expression by the canonical form in `text`, and allocates only if it does not
    /// fit. After an error the expression is empty, and less than or equal to no rule.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    pub fn read_canonical(&mut self, text: &[u8]) -> Result<(), Error> {
        read::canonical(text, self).inspect_err(|_| self.clear())
    }

    /// Replaces the expression by the advanced form in `text`, and allocates only if it does not
    /// fit. After an error the expression is empty, and less than or equal to no rule.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    pub fn read_advanced(&mut self, text: &[u8]) -> Result<(), Error> {
        read::advanced(text, self).inspect_err(|_| self.clear())
    }

    /// Returns the outermost element; `None` if reading failed.
    #[must_use]
    pub fn root(&self) -> Option<Element<'_>> {
        self.element(0)
    }

    /// Writes the canonical form, which is unique.
    #[must_use]
    pub fn to_canonical(&self) -> Vec<u8> {
        write::canonical(self)
    }

    /// Writes the advanced form. Read again, it gives the same expression.
    #[must_use]
    pub fn to_advanced(&self) -> Vec<u8> {
        write::advanced(self)
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.ranges.clear();
        self.text.clear();
    }

    pub(crate) fn bytes(&self, span: Span) -> &[u8] {
        let at = index(span.at);
        self.text.get(at..at.saturating_add(index(span.len))).unwrap_or_default()
    }

    pub(crate) fn element(&self, at: usize) -> Option<Element<'_>> {
        let inside = |end| Elements { expression: self, at: at.saturating_add(1), end: index(end) };
        Some(match *self.nodes.get(at)? {
            Node::Atom(span) => Element::Atom(self.bytes(span)),
            Node::List { end } => Element::List(inside(end)),
            Node::Any => Element::Any,
            Node::Set { end } => Element::Set(inside(end)),
            Node::Range { range, .. } => Element::Range(self.ranges.get(index(range))?),
            Node::Prefix(span) => Element::Prefix(self.bytes(span)),
            Node::Suffix(span) => Element::Suffix(self.bytes(span)),
        })
    }

    /// Returns the index after an element.
    pub(crate) fn after(&self, at: usize) -> usize {
        match self.nodes.get(at) {
            Some(Node::List { end } | Node::Set { end } | Node::Range { end, .. }) => index(*end),
            _ => at.saturating_add(1),
        }
    }
}

impl<'e> Iterator for Elements<'e> {
    type Item = Element<'e>;

    fn next(&mut self) -> Option<Element<'e>> {
        if self.at >= self.end {
            return None;
        }
        let element = self.expression.element(self.at);
        self.at = self.expression.after(self.at);
        element
    }
}

impl<'e> Elements<'e> {
    /// Returns the tag, if these are the elements of a list.
    #[must_use]
    pub fn tag(&self) -> Option<&'e [u8]> {
        match self.expression.element(self.at) {
            Some(Element::Atom(tag)) => Some(tag),
            _ => None,
        }
    }
}

/// Converts an offset. It is below `MAX_BYTES`, so it fits.
pub(crate) fn index(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
