//! Derived slots: parts of an expression that a host computes while it reads the request.
//!
//! A test of one value, such as `x in list` or `text.startsWith("/public/")`, becomes a slot whose
//! word is its result. So no element and no text crosses a border, and no program runs.

use alloc::vec;
use alloc::vec::Vec;

use wardgate_fastpath::layout::test::{
    self, MAX_ELEMENTS, MAX_MOMENT, MAX_NEEDLE, MAX_PAIRS, MAX_TERMS, MAX_TEXT, MAX_TOPIC, NEGATED,
};

use super::fuse::Fuser;
use super::trees::{Node, NodeId};

/// A test of the value of a slot of the table. See [`wardgate_fastpath::layout::test`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Test {
    /// The offset of the slot in the table.
    pub(super) slot: u32,
    pub(super) kind: u32,
    pub(super) terms: Vec<Term>,
}

/// One term of a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Term {
    /// The string id of the member; `None` is the element itself.
    pub(super) member: Option<u32>,
    pub(super) is_negated: bool,
    pub(super) operand: Operand,
}

/// The right side of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operand {
    /// The word of a constant.
    Word(u32),
    /// A slot of the table, by its offset.
    Slot(u32),
    /// The bits and the operand of a term of a schema.
    OfSchema(u32, u32),
}

impl Test {
    /// Returns an upper bound of the steps that the general path charges for the expression that
    /// the test replaces, within the bounds of a test.
    pub(super) fn price(&self) -> usize {
        // Paths of slots and inlined variables are in the price of the instruction itself.
        let text = MAX_NEEDLE / 16 + 1;
        match self.kind {
            test::MEMBER => MAX_ELEMENTS * (2 + text),
            test::EXISTS | test::ALL => MAX_ELEMENTS * (8 + self.terms.len() * (8 + text)),
            test::INTERSECTS => MAX_PAIRS * (2 + text) + 2 * MAX_ELEMENTS * (8 + text),
            test::TIME | test::NOW => 16 + MAX_MOMENT,
            _ => 16 + MAX_TEXT * 3 / 8,
        }
    }
}

impl Term {
    /// Returns the bits of the term.
    pub(super) const fn bits(&self) -> u32 {
        let bits = match self.operand {
            Operand::Word(_) => 0,
            Operand::Slot(_) => test::SLOT,
            Operand::OfSchema(bits, _) => bits,
        };
        bits | if self.is_negated { NEGATED } else { 0 }
    }
}

impl Fuser<'_> {
    /// Returns the test that a node is; `None` if it is none.
    pub(super) fn test(&self, node: Node) -> Option<Test> {
        if !self.has_tests() {
            return None;
        }
        let (kind, value, terms) = match node {
            Node::In(item, list) => (test::MEMBER, list, vec![self.plain(item)?]),
            Node::Intersects(left, right) => {
                let other = self.plain(right)?;
                if !matches!(other.operand, Operand::Slot(_)) {
                    return None;
                }
                (test::INTERSECTS, left, vec![other])
            }
            Node::Text(kind, text, part) => (kind, text, vec![self.plain(part)?]),
            Node::Size(value) => (test::SIZE, value, vec![]),
            Node::Topic(topic, patterns) => (test::TOPIC, topic, self.patterns(patterns)?),
            Node::FilledTopic(topic, pattern, words) => {
                (test::FILLED_TOPIC, topic, self.filled(pattern, words)?)
            }
            Node::Loop(kind, list, body) => {
                let mut terms = Vec::new();
                self.terms(body, &mut terms)?;
                (kind, list, terms)
            }
            _ => return None,
        };
        let Node::Slot(slot) = self.node(value)? else { return None };
        Some(Test { slot: self.readable(slot)?, kind, terms })
    }

    /// Returns the terms of constant patterns: one, or a list of them.
    fn patterns(&self, node: NodeId) -> Option<Vec<Term>> {
        let terms: Option<Vec<Term>> = match self.node(node)? {
            Node::List(number) => {
                self.list(number).iter().map(|node| self.pattern(*node)).collect()
            }
            Node::Const(id) => match self.constants(id) {
                Some(ids) => ids.iter().map(|id| self.pattern_of(*id)).collect(),
                None => Some(vec![self.pattern_of(id)?]),
            },
            _ => None,
        };
        terms.filter(|terms| (1..=MAX_TERMS).contains(&terms.len()))
    }

    /// Returns the terms of a constant pattern and the words for its levels `{}`.
    fn filled(&self, pattern: NodeId, words: NodeId) -> Option<Vec<Term>> {
        let (Node::Const(id), Node::List(words)) = (self.node(pattern)?, self.node(words)?) else {
            return None;
        };
        let words = self.list(words);
        let count = self.text(id)?.split('/').filter(|level| *level == "{}").count();
        let mut terms = vec![self.pattern_of(id)?];
        for word in words {
            terms.push(self.plain(*word)?);
        }
        (count == words.len() && terms.len() <= MAX_TERMS).then_some(terms)
    }

    fn pattern(&self, node: NodeId) -> Option<Term> {
        match self.node(node)? {
            Node::Const(id) => self.pattern_of(id),
            _ => None,
        }
    }

    /// Returns the term of a constant text that is short enough for a pattern.
    fn pattern_of(&self, id: u32) -> Option<Term> {
        let is_short = self.text(id)?.len() <= MAX_TOPIC;
        let operand = Operand::Word(self.word(id)?);
        is_short.then_some(Term { member: None, is_negated: false, operand })
    }

    /// Returns the term that compares the value itself with a node.
    fn plain(&self, node: NodeId) -> Option<Term> {
        Some(Term { member: None, is_negated: false, operand: self.operand(node)? })
    }

    fn operand(&self, node: NodeId) -> Option<Operand> {
        match self.node(node)? {
            Node::Const(id) => self.word(id).map(Operand::Word),
            Node::Slot(slot) => self.readable(slot).map(Operand::Slot),
            _ => None,
        }
    }

    /// Appends the terms of the body of a loop: equalities joined by `&&`.
    fn terms(&self, body: NodeId, terms: &mut Vec<Term>) -> Option<()> {
        let (left, right, is_negated) = match self.node(body)? {
            Node::And(left, right) => {
                self.terms(left, terms)?;
                return self.terms(right, terms);
            }
            Node::Equal(left, right) => (left, right, false),
            Node::Unequal(left, right) => (left, right, true),
            _ => return None,
        };
        let (member, other) = match (self.node(left)?, self.node(right)?) {
            (Node::Element, _) => (None, right),
            (Node::Member(name), _) => (Some(name), right),
            (_, Node::Element) => (None, left),
            (_, Node::Member(name)) => (Some(name), left),
            _ => return None,
        };
        terms.push(Term { member, is_negated, operand: self.operand(other)? });
        (terms.len() <= MAX_TERMS).then_some(())
    }
}
