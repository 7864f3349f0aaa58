//! The nodes of the tree, in two arrays.
//!
//! The fields that a walk reads in each node are separate from the rest, so that four nodes fill a
//! line of most caches: the speed of a large set depends on the number of lines that a query reads.

use alloc::vec;
use alloc::vec::Vec;

use super::symbol::Symbol;
use crate::expression::index;

/// All nodes of a set of rules.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    backs: Vec<Back>,
    free: Vec<u32>,
}

/// A node: a position between two symbols of rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) parent: u32,
    /// The symbol that leads from the parent to this node.
    pub(super) symbol: Symbol,
    /// The only child, or the hash of the row that leads to this node.
    child: u32,
    /// A bit for each flag that is set.
    flags: u32,
}

/// The fields of a node that changes need, and few walks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Back {
    /// The number of rules, and of elements of sets, that run through this node.
    pub(super) uses: u32,
    /// The number of the rule that ends at this node.
    pub(super) rule: u32,
    /// At a set, its aliases; elsewhere, the aliases that end at this node.
    pub(super) aliases: u32,
    /// The entry in `stars` for the prefixes, suffixes and ranges that rules continue with.
    stars: u32,
}

/// The children of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edges {
    /// No child.
    None,
    /// One child.
    One(u32),
    /// The children that the table of edges has for the row with this hash.
    Many(u32),
}

/// A property of a node, stored in one bit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flag {
    /// A rule continues with `(*)`.
    Any,
    /// A rule continues with a prefix, a suffix or a range.
    Stars,
    /// A list of a rule closes at this node.
    Close,
    /// A rule ends at this node.
    End,
    /// An element of a set ends at this node.
    Alias,
    /// The node has had more than one child, so the table of edges has them.
    Many,
}

impl Nodes {
    /// Makes a tree of its root, which is never removed.
    pub(super) fn new() -> Self {
        let nodes = vec![Node::new(NONE, Symbol::CLOSE)];
        Self { nodes, backs: vec![Back { uses: 1, ..Back::NEW }], free: Vec::new() }
    }

    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(index(at))
    }

    /// Returns the second part of a node.
    pub(super) fn back(&self, at: u32) -> Back {
        self.backs.get(index(at)).copied().unwrap_or(Back::NEW)
    }

    /// Returns the number of nodes, including free ones.
    pub(super) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a node.
    pub(super) fn add(&mut self, parent: u32, symbol: Symbol) -> u32 {
        let node = Node::new(parent, symbol);
        let Some(reused) = self.free.pop() else {
            let new = u32::try_from(self.nodes.len()).unwrap_or(NONE);
            self.nodes.push(node);
            self.backs.push(Back::NEW);
            return new;
        };
        self.change(reused, |position| *position = node);
        self.change_back(reused, |position| *position = Back::NEW);
        reused
    }

    /// Frees a node that no edge leads to any more.
    pub(super) fn remove(&mut self, at: u32) {
        self.free.push(at);
    }

    pub(super) fn change(&mut self, at: u32, change: impl FnOnce(&mut Node)) {
        if let Some(it) = self.nodes.get_mut(index(at)) {
            change(it);
        }
    }

    pub(super) fn change_back(&mut self, at: u32, change: impl FnOnce(&mut Back)) {
        if let Some(it) = self.backs.get_mut(index(at)) {
            change(it);
        }
    }

    /// Sets the children of a node.
    pub(super) fn set_edges(&mut self, at: u32, edges: Edges) {
        self.change(at, |node| {
            node.flag(Flag::Many, matches!(edges, Edges::Many(_)));
            node.child = match edges {
                Edges::None => NONE,
                Edges::One(to) | Edges::Many(to) => to,
            };
        });
    }

    /// Sets the first alias of those that end at a node.
    pub(super) fn set_aliases(&mut self, end: u32, first: u32) {
        self.change_back(end, |back| back.aliases = first);
        self.change(end, |node| node.flag(Flag::Alias, first != NONE));
    }

    /// Returns the entry in `stars` of a node, if it has one.
    pub(super) fn stars(&self, at: u32) -> Option<u32> {
        self.node(at).filter(|node| node.has(Flag::Stars)).map(|_| self.back(at).stars)
    }

    /// Sets the entry in `stars` of a node.
    pub(super) fn set_stars(&mut self, at: u32, stars: u32) {
        self.change_back(at, |back| back.stars = stars);
        self.change(at, |node| node.flag(Flag::Stars, stars != NONE));
    }

    /// Sets the number of the rule that ends at a node.
    pub(super) fn set_rule(&mut self, end: u32, rule: u32) {
        self.change_back(end, |back| back.rule = rule);
        self.change(end, |node| node.flag(Flag::End, rule != NONE));
    }

    /// Returns the number of symbols that lead to a node, if it is at most `most`.
    pub(super) fn depth(&self, at: u32, most: u32) -> Option<u32> {
        let mut at = self.node(at)?.parent;
        for depth in 0..=most {
            if at == NONE {
                return Some(depth);
            }
            at = self.node(at)?.parent;
        }
        None
    }
}

impl Node {
    const fn new(parent: u32, symbol: Symbol) -> Self {
        Self { parent, symbol, child: NONE, flags: 0 }
    }

    /// Returns true if the flag is set.
    pub(super) const fn has(&self, flag: Flag) -> bool {
        self.flags & flag.bit() != 0
    }

    /// Returns true if one of the flags is set.
    pub(super) fn has_any_of(&self, flags: &[Flag]) -> bool {
        self.flags & flags.iter().fold(0, |bits, flag| bits | flag.bit()) != 0
    }

    /// Sets or clears a flag.
    pub(super) const fn flag(&mut self, flag: Flag, holds: bool) {
        self.flags = if holds { self.flags | flag.bit() } else { self.flags & !flag.bit() };
    }

    /// Returns the children of the node.
    pub(super) const fn edges(&self) -> Edges {
        match self.child {
            hash if self.has(Flag::Many) => Edges::Many(hash),
            NONE => Edges::None,
            only => Edges::One(only),
        }
    }

    /// Returns true if the edges alone determine the next node for an atom.
    pub(super) const fn is_plain(&self) -> bool {
        !self.has(Flag::Any) && !self.has(Flag::Stars)
    }
}

impl Back {
    const NEW: Self = Self { uses: 0, rule: NONE, aliases: NONE, stars: NONE };
}

impl Flag {
    const fn bit(self) -> u32 {
        match self {
            Self::Any => 1,
            Self::Close => 2,
            Self::End => 4,
            Self::Alias => 8,
            Self::Many => 16,
            Self::Stars => 32,
        }
    }
}

pub(super) const ROOT: u32 = 0;
pub(super) const NONE: u32 = u32::MAX;

/// The hash of the row without symbols.
pub(super) const ROOT_HASH: u32 = 0;
