//! The tree of all rules: rules that begin alike share the nodes of what they begin with.
//!
//! A node is a place between two symbols, and one number says which rule ends there. Where rules go on
//! with a star form, `stars` knows which of them stand for what a query has. The elements of a set are
//! put in as if each were a rule's own; `aliases` says at the end of each where the set goes on.

use core::ops::ControlFlow;

use super::aliases::Aliases;
use super::atoms::Atoms;
use super::stars::Stars;
use super::symbol::{Kind, Part, Parts, Symbol, with_text};
use super::table::{Hasher, Table};
use crate::expression::{Expression, Node as Element, index};
use alloc::vec;
use alloc::vec::Vec;

/// Nodes, edges and texts.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// The edges of nodes that have had more than one.
    edges: Table,
    hasher: Hasher,
    pub(super) atoms: Atoms,
    pub(super) stars: Stars,
    pub(super) aliases: Aliases,
}

/// A place in rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    parent: u32,
    /// The symbol that leads here from the parent.
    pub(super) symbol: Symbol,
    /// The rules, and the elements of sets, that run through here.
    uses: u32,
    /// The only child, `MANY` where `edges` has them, `NONE` where there is none.
    child: u32,
    /// The rule that ends here.
    pub(super) rule: u32,
    /// At a set, its aliases; elsewhere, those that end here.
    pub(super) aliases: u32,
    /// What `stars` has for the star forms that go on from here, and two bits for what is asked often.
    more: u32,
}

impl Trie {
    pub(super) fn new(hasher: Hasher) -> Self {
        let root = Node { uses: 1, ..Node::new(NONE, Symbol::CLOSE) };
        Self {
            nodes: vec![root],
            free: Vec::new(),
            edges: Table::default(),
            hasher,
            atoms: Atoms::new(hasher),
            stars: Stars::default(),
            aliases: Aliases::default(),
        }
    }

    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(index(at))
    }

    /// Returns how many nodes there are room for.
    pub(super) const fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the child at the end of a symbol.
    pub(super) fn child(&self, at: u32, symbol: Symbol) -> Option<u32> {
        match self.node(at)?.child {
            NONE => None,
            MANY => self.edges.find(self.hasher.pair(at, symbol.0), |child| {
                self.node(child).is_some_and(|node| node.parent == at && node.symbol == symbol)
            }),
            only => (self.node(only)?.symbol == symbol).then_some(only),
        }
    }

    /// Returns the child at the end of an atom or a tag, whose number is looked up at most once.
    pub(super) fn child_of_text(&self, at: u32, kind: Kind, text: &mut Text<'_>) -> Option<u32> {
        match self.node(at)?.child {
            NONE => None,
            MANY => self.child(at, Symbol::new(kind, text.number(&self.atoms)?)),
            only => {
                let symbol = self.node(only)?.symbol;
                (symbol.kind() == kind && self.atoms.text(symbol.text()?) == text.text)
                    .then_some(only)
            }
        }
    }

    /// Visits where rules go on with a prefix of the text, or with a suffix of what it is backwards.
    pub(super) fn affixes(&self, at: u32, kind: Kind, text: &[u8], visit: &mut dyn FnMut(u32)) {
        let Some(stars) = self.node(at).and_then(Node::stars) else { return };
        for (hash, prefix) in self.hasher.prefixes(text, self.stars.lengths(stars, kind)) {
            let number = self.atoms.find_hashed(hash, prefix);
            let child = number.and_then(|number| self.child(at, Symbol::new(kind, number)));
            child.into_iter().for_each(&mut *visit);
        }
    }

    /// Returns the node where an expression ends, if there is one.
    pub(super) fn find(&self, expression: &Expression) -> Option<u32> {
        Parts::of_rule(expression).try_fold(ROOT, |at, part| {
            let symbol = match part.kind {
                Kind::Close => Symbol::CLOSE,
                Kind::Any => Symbol::ANY,
                kind => {
                    let number = with_text(expression, part, |text| self.atoms.find(text))??;
                    Symbol::new(kind, number)
                }
            };
            self.child(at, symbol)
        })
    }

    /// Puts a rule in that is not there. Whoever calls has seen that it fits.
    pub(super) fn insert(&mut self, expression: &Expression, rule: u32) -> u32 {
        let end = self.path(ROOT, expression, Parts::of_rule(expression));
        self.change(end, |node| node.rule = rule);
        end
    }

    /// Takes out the rule that ends at a node.
    pub(super) fn remove(&mut self, end: u32) {
        self.change(end, |node| node.rule = NONE);
        self.release(end, ROOT);
    }

    /// Writes the rule that ends at a node.
    pub(super) fn write(&self, end: u32) -> Vec<u8> {
        let mut symbols = Vec::new();
        let mut at = end;
        while let Some(node) = self.node(at).filter(|_| at != ROOT) {
            symbols.push(node.symbol);
            at = node.parent;
        }
        let mut out = Vec::new();
        let mut open = 0_usize;
        for symbol in symbols.into_iter().rev() {
            match symbol.kind() {
                Kind::Tag => open = open.saturating_add(1),
                Kind::Close => open = open.saturating_sub(1),
                _ => {}
            }
            symbol.write(&self.atoms, &mut out);
        }
        out.resize(out.len().saturating_add(open), b')');
        out
    }

    /// Goes along the symbols, makes what is missing, and uses each node once more. A set within is gone
    /// through in the same way, so that the depth is that of the expression.
    fn path(&mut self, from: u32, expression: &Expression, parts: Parts<'_>) -> u32 {
        let mut at = from;
        for part in parts {
            at = self.enter(at, expression, part);
            self.change(at, |node| node.uses = node.uses.saturating_add(1));
        }
        at
    }

    fn enter(&mut self, at: u32, expression: &Expression, part: Part) -> u32 {
        let symbol = match part.kind {
            Kind::Close => Symbol::CLOSE,
            Kind::Any => Symbol::ANY,
            kind => {
                let number = with_text(expression, part, |text| self.atoms.take(text));
                Symbol::new(kind, number.unwrap_or_default())
            }
        };
        if let Some(child) = self.child(at, symbol) {
            symbol.text().into_iter().for_each(|text| self.atoms.release(text));
            return child;
        }
        let child = self.add(at, symbol);
        self.star(at, child, expression, part);
        child
    }

    /// Tells the star forms of a node about a child that is new.
    fn star(&mut self, at: u32, child: u32, expression: &Expression, part: Part) {
        match (part.kind, expression.nodes.get(part.at)) {
            (Kind::Any, _) => self.change(at, |node| node.more |= HAS_ANY),
            (Kind::Close, _) => self.change(at, |node| node.more |= HAS_CLOSE),
            (Kind::Prefix | Kind::Suffix, Some(Element::Prefix(span) | Element::Suffix(span))) => {
                let stars = self.stars_of_mut(at);
                self.stars.add_affix(stars, part.kind, span.len);
            }
            (Kind::Range, Some(Element::Range { range, .. })) => {
                if let Some(range) = expression.ranges.get(index(*range)) {
                    let stars = self.stars_of_mut(at);
                    self.stars.add_range(stars, range.clone(), child);
                }
            }
            (Kind::Set, Some(Element::Set { end })) => {
                let mut element = part.at.saturating_add(1);
                while element < index(*end) {
                    let last = self.path(at, expression, Parts::of_element(expression, element));
                    self.alias(last, child);
                    element = expression.after(element);
                }
            }
            _ => {}
        }
    }

    fn alias(&mut self, end: u32, set: u32) {
        let heads = (self.node(end), self.node(set));
        let (Some(ending), Some(own)) = heads else { return };
        let alias = self.aliases.add(end, set, ending.aliases, own.aliases);
        self.change(end, |node| node.aliases = alias);
        self.change(set, |node| node.aliases = alias);
    }

    fn stars_of_mut(&mut self, at: u32) -> u32 {
        if let Some(stars) = self.node(at).and_then(Node::stars) {
            return stars;
        }
        let stars = self.stars.add();
        self.change(at, |node| node.more |= stars.saturating_add(1) << FLAGS);
        stars
    }

    fn add(&mut self, parent: u32, symbol: Symbol) -> u32 {
        let node = Node::new(parent, symbol);
        let reused = self.free.pop();
        let new = reused.unwrap_or(u32::try_from(self.nodes.len()).unwrap_or(NONE));
        match self.nodes.get_mut(index(new)) {
            Some(place) => *place = node,
            None => self.nodes.push(node),
        }
        match self.node(parent).map(|node| node.child) {
            None => {}
            Some(NONE) => self.change(parent, |node| node.child = new),
            Some(only) => {
                if only != MANY {
                    self.link(only);
                    self.change(parent, |node| node.child = MANY);
                }
                self.link(new);
            }
        }
        new
    }

    fn link(&mut self, child: u32) {
        if let Some(node) = self.node(child) {
            let hash = self.hasher.pair(node.parent, node.symbol.0);
            self.edges.insert(hash, child);
        }
    }

    /// Uses the nodes from here up to another, which is left out, once less.
    fn release(&mut self, from: u32, to: u32) {
        let mut at = from;
        while let Some(node) = self.nodes.get_mut(index(at)).filter(|_| at != to) {
            node.uses = node.uses.saturating_sub(1);
            let (uses, parent) = (node.uses, node.parent);
            if uses == 0 {
                self.delete(at);
            }
            at = parent;
        }
    }

    fn delete(&mut self, at: u32) {
        let Some(node) = self.node(at).copied() else { return };
        self.unstar(at, &node);
        match self.node(node.parent).map(|parent| parent.child) {
            Some(MANY) => self.edges.remove(self.hasher.pair(node.parent, node.symbol.0), at),
            _ => self.change(node.parent, |parent| parent.child = NONE),
        }
        node.symbol.text().into_iter().for_each(|text| self.atoms.release(text));
        node.stars().into_iter().for_each(|stars| self.stars.remove(stars));
        self.free.push(at);
    }

    /// Tells the star forms of the parent that a child goes.
    fn unstar(&mut self, at: u32, node: &Node) {
        let parent = node.parent;
        let stars = self.node(parent).and_then(Node::stars);
        match (node.symbol.kind(), stars, node.symbol.text()) {
            (Kind::Any, ..) => self.change(parent, |node| node.more &= !HAS_ANY),
            (Kind::Close, ..) => self.change(parent, |node| node.more &= !HAS_CLOSE),
            (kind @ (Kind::Prefix | Kind::Suffix), Some(stars), Some(text)) => {
                let len = u32::try_from(self.atoms.text(text).len()).unwrap_or(u32::MAX);
                self.stars.remove_affix(stars, kind, len);
            }
            (Kind::Range, Some(stars), Some(text)) => {
                self.stars.remove_range(stars, self.atoms.text(text));
            }
            (Kind::Set, ..) => self.remove_aliases(at, parent),
            _ => {}
        }
    }

    fn remove_aliases(&mut self, set: u32, parent: u32) {
        while let Some(alias) = self.aliases.first(self.node(set).map_or(NONE, |node| node.aliases))
        {
            self.change(set, |node| node.aliases = alias.sibling);
            if let Some(next) = self.aliases.remove(alias) {
                self.change(alias.end, |node| node.aliases = next);
            }
            self.release(alias.end, parent);
        }
    }

    fn change(&mut self, at: u32, change: impl FnOnce(&mut Node)) {
        if let Some(it) = self.nodes.get_mut(index(at)) {
            change(it);
        }
    }

    /// Visits where the sets go on of which an element ends here.
    pub(super) fn targets(&self, at: u32, mut visit: impl FnMut(u32)) {
        let Some(node) = self.node(at).filter(|node| node.aliases != NONE) else { return };
        if node.symbol.kind() != Kind::Set {
            self.aliases.targets(node.aliases, &mut visit);
        }
    }
}

impl Node {
    const fn new(parent: u32, symbol: Symbol) -> Self {
        Self { parent, symbol, uses: 0, child: NONE, rule: NONE, aliases: NONE, more: 0 }
    }

    /// Whether a rule goes on with anything.
    pub(super) const fn has_any(&self) -> bool {
        self.more & HAS_ANY != 0
    }

    /// Whether the list closes here in a rule.
    pub(super) const fn has_close(&self) -> bool {
        self.more & HAS_CLOSE != 0
    }

    /// Whether what an atom stands for here is known from the edges alone.
    pub(super) const fn is_plain(&self) -> bool {
        self.more & !HAS_CLOSE == 0
    }

    /// The prefixes, suffixes and ranges that rules go on with.
    pub(super) fn stars(&self) -> Option<u32> {
        (self.more >> FLAGS).checked_sub(1)
    }
}

/// A text of a query, and the number that it has in the set of rules.
pub(super) struct Text<'q> {
    pub(super) text: &'q [u8],
    number: Option<Option<u32>>,
}

impl<'q> Text<'q> {
    pub(super) const fn new(text: &'q [u8]) -> Self {
        Self { text, number: None }
    }

    fn number(&mut self, atoms: &Atoms) -> Option<u32> {
        *self.number.get_or_insert_with(|| atoms.find(self.text))
    }
}

/// Whether a walk goes on.
pub(super) type Flow = ControlFlow<()>;

pub(super) const ROOT: u32 = 0;
pub(super) const NONE: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;

const HAS_ANY: u32 = 1;
const HAS_CLOSE: u32 = 2;
const FLAGS: u32 = 2;
