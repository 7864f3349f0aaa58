//! The tree of all rules: rules with a common beginning share its nodes.
//!
//! A node is a position between two symbols, and has the number of the rule that ends there. Where
//! rules continue with a star form, `stars` finds those that match an element of a query. The
//! elements of a set are inserted as if each were part of a rule of its own; `aliases` has the node
//! where the set continues at the end of each.

use core::ops::ControlFlow;

use super::aliases::Aliases;
use super::atoms::Atoms;
use super::literals::Literal;
use super::nodes::{Edges, Flag, NONE, Node, Nodes, ROOT, ROOT_HASH};
use super::stars::Stars;
use super::symbol::{Hint, Kind, Part, Parts, Symbol, Text, with_text};
use super::table::{Hasher, Table};
use crate::expression::{Expression, Node as Element, index};
use alloc::vec::Vec;

/// Nodes, edges and texts.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    pub(super) nodes: Nodes,
    /// The edges of nodes that have had more than one.
    pub(super) edges: Table,
    /// A bit for each depth, below 64, at which a node has had more than one edge.
    crowded: u64,
    /// The ends of all rules, by the hash of the whole row.
    ends: Table,
    /// A bit for each depth at which a rule has ended or had a star form; the last is that of all
    /// greater depths.
    forks: u64,
    hasher: Hasher,
    pub(super) atoms: Atoms,
    pub(super) stars: Stars,
    pub(super) aliases: Aliases,
}

impl Trie {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self {
            nodes: Nodes::new(),
            edges: Table::default(),
            crowded: 0,
            ends: Table::default(),
            forks: 0,
            hasher,
            atoms: Atoms::new(hasher),
            stars: Stars::default(),
            aliases: Aliases::default(),
        }
    }

    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.node(at)
    }

    /// Returns the child that a symbol of that kind and text leads to.
    pub(super) fn child(&self, at: u32, kind: Kind, text: &Text<'_>) -> Option<u32> {
        let position = self.node(at)?;
        match position.edges() {
            Edges::None => None,
            Edges::Many(_)
                if text.hint.parent == at && self.leads_by(text.hint.child, kind, text.text) =>
            {
                Some(text.hint.child)
            }
            Edges::Many(row) => {
                let hash = self.longer(row, kind, text.hash(self.hasher));
                self.edges.find(hash, |child| {
                    self.node(child).is_some_and(|node| node.parent == at)
                        && self.leads_by(child, kind, text.text)
                })
            }
            Edges::One(only) => self.leads_by(only, kind, text.text).then_some(only),
        }
    }

    /// Returns the child that a symbol leads to, given its parent at `at` and the hint of the row
    /// that ends with the symbol.
    pub(super) fn follow(
        &self,
        at: u32,
        position: &Node,
        literal: &Literal<'_>,
        hint: Hint,
    ) -> Option<(u32, &Node)> {
        let Literal { kind, text, .. } = *literal;
        let child = match position.edges() {
            Edges::None => return None,
            Edges::One(only) => only,
            Edges::Many(_) if hint.parent == at => hint.child,
            Edges::Many(_) if hint.is_absent() => return None,
            Edges::Many(_) => NONE,
        };
        let next = self.node(child).filter(|next| self.ends_with(next, kind, text));
        match (next, position.edges()) {
            (Some(next), _) => Some((child, next)),
            // The hint was of another row with the same hash, or there was none.
            (None, Edges::Many(_)) => {
                let child = self.child(at, kind, &Text::new(text))?;
                Some((child, self.node(child)?))
            }
            (None, _) => None,
        }
    }

    /// Returns the child after the closing of a list.
    pub(super) fn closed(&self, at: u32) -> Option<u32> {
        self.child(at, Kind::Close, &Text::new(b""))
    }

    /// Returns the child after `(*)`.
    pub(super) fn any(&self, at: u32) -> Option<u32> {
        self.child(at, Kind::Any, &Text::new(b""))
    }

    /// Returns true if the last symbol before a node has that kind and text.
    fn leads_by(&self, at: u32, kind: Kind, text: &[u8]) -> bool {
        self.node(at).is_some_and(|node| self.ends_with(node, kind, text))
    }

    /// Returns true if the last symbol before this node has that kind and text.
    fn ends_with(&self, node: &Node, kind: Kind, text: &[u8]) -> bool {
        let is_own = |number| self.atoms.is(number, text);
        node.symbol.is(kind) && node.symbol.text().is_none_or(is_own)
    }

    /// Hashes a row of symbols that is longer by one of that text.
    pub(super) fn row(&self, row: u32, kind: Kind, text: &[u8]) -> u32 {
        self.longer(row, kind, self.hasher.text(text))
    }

    /// Returns true if the tree is too large for most caches.
    pub(super) const fn is_large(&self) -> bool {
        self.nodes.len() > FEW
    }

    /// Returns a bit for each depth, below 64, at which a node has had more than one edge.
    pub(super) const fn crowded(&self) -> u64 {
        self.crowded
    }

    /// Returns false if no rule can allow a query without star forms that has this number of
    /// symbols and this hash of its row.
    ///
    /// A rule that allows such a query, and is not equal, has fewer symbols or a star form: up to
    /// its end, or before its first star form, it has no symbol that the query lacks. So it ends or
    /// has a star form at a depth where the query goes on.
    pub(super) fn may_allow(&self, symbols: u32, row: u32) -> bool {
        let before = 1_u64.checked_shl(symbols).map_or(u64::MAX, |bit| bit.wrapping_sub(1));
        self.forks & before != 0 || self.ends.find(row, |_| true).is_some()
    }

    /// Returns the node of an entry of the table, and its parent.
    pub(super) fn hint(&self, first: u64, hash: u32) -> Hint {
        let hint = self
            .edges
            .find_from(first, hash, |_| true)
            .and_then(|child| Some(Hint { child, parent: self.node(child)?.parent }));
        hint.unwrap_or(Hint::ABSENT)
    }

    /// Hashes a row of symbols that is longer by one.
    fn longer(&self, row: u32, kind: Kind, text: u32) -> u32 {
        self.hasher.longer(row, text.wrapping_add(kind.bits()))
    }

    /// Visits the nodes where rules continue with a prefix of the text, or with a suffix of the
    /// reversed text.
    pub(super) fn affixes(&self, at: u32, kind: Kind, text: &[u8], visit: &mut dyn FnMut(u32)) {
        let Some(stars) = self.nodes.stars(at) else { return };
        for (hash, prefix) in self.hasher.prefixes(text, self.stars.lengths(stars, kind)) {
            let child = self.child(at, kind, &Text::hashed(prefix, hash));
            child.into_iter().for_each(&mut *visit);
        }
    }

    /// Returns the node where an expression ends, if there is one.
    pub(super) fn find(&self, expression: &Expression) -> Option<u32> {
        Parts::of_rule(expression).try_fold(ROOT, |at, part| {
            with_text(expression, part, |text| self.child(at, part.kind, &Text::new(text)))
        })
    }

    /// Inserts a rule that is not in the tree. The caller has checked that it fits.
    pub(super) fn insert(&mut self, expression: &Expression, rule: u32) -> u32 {
        let end = self.path(ROOT, expression, Parts::of_rule(expression));
        self.nodes.set_rule(end, rule);
        self.fork(end);
        self.ends.insert(self.row_of(end), end);
        end
    }

    /// Removes the rule that ends at a node.
    pub(super) fn remove(&mut self, end: u32) {
        self.ends.remove(self.row_of(end), end);
        self.nodes.set_rule(end, NONE);
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

    /// Follows the symbols, creates missing nodes, and adds a use to each node. The elements of a
    /// set are followed in the same way, so the recursion is as deep as the expression.
    fn path(&mut self, from: u32, expression: &Expression, parts: Parts<'_>) -> u32 {
        let mut at = from;
        for part in parts {
            at = self.enter(at, expression, part);
            self.nodes.change_back(at, |back| back.uses = back.uses.saturating_add(1));
        }
        at
    }

    fn enter(&mut self, at: u32, expression: &Expression, part: Part) -> u32 {
        let (child, is_new) = with_text(expression, part, |text| {
            let text = Text::new(text);
            match self.child(at, part.kind, &text) {
                Some(child) => (child, false),
                None => (self.add(at, part.kind, &text), true),
            }
        });
        if is_new {
            self.star(at, child, expression, part);
        }
        child
    }

    /// Registers a new child with the star forms of its parent.
    fn star(&mut self, at: u32, child: u32, expression: &Expression, part: Part) {
        if !matches!(part.kind, Kind::Atom | Kind::Tag | Kind::Close) {
            self.fork(at);
        }
        match (part.kind, expression.nodes.get(part.at)) {
            (Kind::Any, _) => self.nodes.change(at, |node| node.flag(Flag::Any, true)),
            (Kind::Close, _) => self.nodes.change(at, |node| node.flag(Flag::Close, true)),
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
        let (ending, own) = (self.nodes.back(end), self.nodes.back(set));
        let alias = self.aliases.add(end, set, ending.aliases, own.aliases);
        self.nodes.set_aliases(end, alias);
        self.nodes.change_back(set, |back| back.aliases = alias);
    }

    fn stars_of_mut(&mut self, at: u32) -> u32 {
        if let Some(stars) = self.nodes.stars(at) {
            return stars;
        }
        let stars = self.stars.add();
        self.nodes.set_stars(at, stars);
        stars
    }

    /// Notes that a rule ends or has a star form at the depth of this node.
    fn fork(&mut self, at: u32) {
        let depth = self.nodes.depth(at, u64::BITS);
        self.forks |= depth.and_then(|depth| 1_u64.checked_shl(depth)).unwrap_or(1 << 63);
    }

    fn add(&mut self, parent: u32, kind: Kind, text: &Text<'_>) -> u32 {
        let symbol = match kind {
            Kind::Close => Symbol::CLOSE,
            Kind::Any => Symbol::ANY,
            _ => Symbol::new(kind, self.atoms.take(text.hash(self.hasher), text.text)),
        };
        let new = self.nodes.add(parent, symbol);
        match self.node(parent).map(Node::edges) {
            None => {}
            Some(Edges::None) => self.nodes.set_edges(parent, Edges::One(new)),
            Some(Edges::Many(row)) => self.link(row, new),
            Some(Edges::One(only)) => {
                let row = self.row_of(parent);
                self.nodes.set_edges(parent, Edges::Many(row));
                let depth = self.nodes.depth(parent, u64::BITS);
                self.crowded |= depth.and_then(|depth| 1_u64.checked_shl(depth)).unwrap_or(0);
                self.link(row, only);
                self.link(row, new);
            }
        }
        new
    }

    fn link(&mut self, row: u32, child: u32) {
        self.edges.insert(self.row_with(row, child), child);
    }

    /// Hashes the row of symbols that leads to a node.
    fn row_of(&self, at: u32) -> u32 {
        let mut below = Vec::new();
        let mut at = at;
        let top = loop {
            match self.node(at) {
                Some(node) if at != ROOT => match node.edges() {
                    Edges::Many(row) => break row,
                    Edges::None | Edges::One(_) => below.push(at),
                },
                _ => break ROOT_HASH,
            }
            at = self.node(at).map_or(ROOT, |node| node.parent);
        };
        below.into_iter().rev().fold(top, |row, at| self.row_with(row, at))
    }

    /// Hashes the row that leads to a node, from the row of its parent.
    fn row_with(&self, row: u32, at: u32) -> u32 {
        let symbol = self.node(at).map_or(Symbol::CLOSE, |node| node.symbol);
        self.row(row, symbol.kind(), symbol.text().map_or(b"", |text| self.atoms.text(text)))
    }

    /// Removes a use from each node from here up to another, exclusive.
    fn release(&mut self, from: u32, to: u32) {
        let mut at = from;
        while let Some(parent) = self.node(at).map(|node| node.parent).filter(|_| at != to) {
            self.nodes.change_back(at, |back| back.uses = back.uses.saturating_sub(1));
            if self.nodes.back(at).uses == 0 {
                self.delete(at);
            }
            at = parent;
        }
    }

    fn delete(&mut self, at: u32) {
        let Some(node) = self.node(at).copied() else { return };
        self.unstar(at, &node);
        match self.node(node.parent).map(Node::edges) {
            Some(Edges::Many(row)) => self.edges.remove(self.row_with(row, at), at),
            _ => self.nodes.set_edges(node.parent, Edges::None),
        }
        node.symbol.text().into_iter().for_each(|text| self.atoms.release(text));
        self.nodes.stars(at).into_iter().for_each(|stars| self.stars.remove(stars));
        self.nodes.remove(at);
    }

    /// Removes a deleted child from the star forms of its parent.
    fn unstar(&mut self, at: u32, node: &Node) {
        let parent = node.parent;
        let stars = self.nodes.stars(parent);
        match (node.symbol.kind(), stars, node.symbol.text()) {
            (Kind::Any, ..) => self.nodes.change(parent, |node| node.flag(Flag::Any, false)),
            (Kind::Close, ..) => self.nodes.change(parent, |node| node.flag(Flag::Close, false)),
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
        while let Some(alias) = self.aliases.first(self.nodes.back(set).aliases) {
            self.nodes.change_back(set, |back| back.aliases = alias.sibling);
            if let Some(next) = self.aliases.remove(alias) {
                self.nodes.set_aliases(alias.end, next);
            }
            self.release(alias.end, parent);
        }
    }

    /// Visits the nodes where the sets continue that have an element ending at this node.
    pub(super) fn targets(&self, at: u32, mut visit: impl FnMut(u32)) {
        if self.node(at).is_some_and(|node| node.has(Flag::Alias)) {
            self.aliases.targets(self.nodes.back(at).aliases, &mut visit);
        }
    }
}

/// Break ends a walk.
pub(super) type Flow = ControlFlow<()>;

/// The number of nodes that fit into caches.
const FEW: usize = 1 << 15;
