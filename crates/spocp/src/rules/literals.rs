//! The symbols of a query up to its first star form.
//!
//! A plain and fast spelling of `Parts::of_rule`: both give the same symbols in the same order.

use super::symbol::Kind;
use crate::expression::{Expression, Node, index};

/// The symbols of a query, without the lists that close at its end.
pub(super) struct Literals<'q> {
    query: &'q Expression,
    at: usize,
    /// For each open list, the end of the list around it.
    ends: [u32; DEEP],
    open: usize,
    /// The end of the innermost open list.
    end: usize,
    is_cut: bool,
}

/// A symbol without star form.
#[derive(Clone, Copy)]
pub(super) struct Literal<'q> {
    pub(super) kind: Kind,
    /// The index of its node in the query; that of a closing is the index of the next node.
    pub(super) at: usize,
    pub(super) text: &'q [u8],
}

impl<'q> Literals<'q> {
    #[inline(always)]
    pub(super) const fn of(query: &'q Expression) -> Self {
        Self { query, at: 0, ends: [0; DEEP], open: 0, end: usize::MAX, is_cut: false }
    }

    /// Returns true if the symbols ended at a star form, or at lists that are open too deep.
    #[inline(always)]
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    #[inline(always)]
    fn close(&mut self, at: usize) -> Literal<'q> {
        self.open = self.open.saturating_sub(1);
        self.end = self.ends.get(self.open).map_or(usize::MAX, |end| index(*end));
        Literal { kind: Kind::Close, at, text: b"" }
    }

    /// Opens a list, whose tag is the next node.
    #[inline(always)]
    fn open(&mut self, at: usize, end: u32) -> Option<Literal<'q>> {
        let tag = at.saturating_add(1);
        let outer = u32::try_from(self.end).unwrap_or(u32::MAX);
        let (Some(Node::Atom(span)), Some(place)) =
            (self.query.nodes.get(tag), self.ends.get_mut(self.open))
        else {
            self.is_cut = true;
            return None;
        };
        *place = outer;
        self.open = self.open.saturating_add(1);
        self.end = index(end);
        self.at = tag.saturating_add(1);
        Some(Literal { kind: Kind::Tag, at: tag, text: self.query.bytes(*span) })
    }
}

impl<'q> Iterator for Literals<'q> {
    type Item = Literal<'q>;

    #[inline(always)]
    fn next(&mut self) -> Option<Literal<'q>> {
        let at = self.at;
        let node = self.query.nodes.get(at)?;
        if at >= self.end {
            return Some(self.close(at));
        }
        match node {
            Node::Atom(span) => {
                self.at = at.saturating_add(1);
                Some(Literal { kind: Kind::Atom, at, text: self.query.bytes(*span) })
            }
            Node::List { end } => self.open(at, *end),
            _ => {
                self.is_cut = true;
                None
            }
        }
    }
}

/// The deepest nesting of lists that is followed.
const DEEP: usize = 16;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::symbol::{Parts, with_text};
    use super::*;

    #[test]
    fn literals_are_the_symbols_of_rules() {
        let check = |text: &str, symbols: usize, is_cut: bool| {
            let query = Expression::from_advanced(text.as_bytes()).unwrap();
            let mut literals = Literals::of(&query);
            let found: Vec<_> = literals.by_ref().collect();
            assert_eq!(literals.is_cut(), is_cut, "{text}");
            assert_eq!(found.len(), symbols, "{text}");
            for (literal, part) in found.iter().zip(Parts::of_rule(&query)) {
                assert_eq!((literal.kind, literal.at), (part.kind, part.at), "{text}");
                with_text(&query, part, |text| assert_eq!(literal.text, text));
            }
            let all = Parts::of_rule(&query).count();
            assert!(is_cut && all > symbols || all == symbols, "{text}");
        };
        check("a", 1, false);
        check("(a)", 1, false);
        check("(a b)", 2, false);
        check("(a (b c)(d (e (f g))) h)", 12, false);
        check("(a (b)(c (d (e))))", 6, false);
        check("(a (b (*)) c)", 2, true);
        check("(a (b c)(* prefix d))", 4, true);
        check("(* set a b)", 0, true);
        let nested = |depth: usize| ["(a ".repeat(depth), ")".repeat(depth)].concat();
        check(&nested(DEEP), DEEP, false);
        check(&nested(DEEP + 1), DEEP, true);
    }
}
