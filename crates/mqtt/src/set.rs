//! A set of filters with values, and the search for all that match a name.
//!
//! Filters without wildcard are found by the hash of the whole name. The others are a tree whose
//! edges are in one table, keyed by the hash of the path that leads to them: the places of all
//! levels of a name are known before the first is read, so that a processor looks them up together
//! and does not wait for one level to find the next. A node has no text of its own.
//!
//! No hash decides: of each filter that the tree leads to, it is proved that it matches the name
//! and is found by this way, before its values are given. Two paths with equal hashes share a node,
//! which leads to more filters and never to fewer. So the seed changes no answer; an unpredictable
//! one prevents authors of filters from making searches slow.
//!
//! A search visits each node at most once, so that its work is bounded by the filters that begin
//! like the name. Nodes with equal hashes may be visited more often: a set that strangers fill needs
//! an unpredictable seed.

mod hash;
mod table;
mod texts;
mod walk;

use alloc::vec::Vec;
use core::fmt;
use core::hint::black_box;

use crate::limits::{SET_BYTES, SET_FILTERS};
use crate::topic::{Filter, Level, Name, has_wildcard};
use hash::Hasher;
use table::{Table, Value};
use texts::Texts;
use walk::Walk;

/// A set of filters with values.
///
/// A filter is in the set as often as it was inserted. Groups of shared subscriptions do not
/// matter: of `$share/g/a/b`, `a/b` is in the set.
///
/// # Examples
/// ```
/// use wardgate_mqtt::{Filter, Filters, Name};
///
/// let mut filters = Filters::new();
/// filters.insert(Filter::new("a/+")?, 1).unwrap();
/// let id = filters.insert(Filter::new("a/#")?, 2).unwrap();
/// let matching = |filters: &Filters<u32>| {
///     let mut found = Vec::new();
///     filters.matches(Name::new("a/b").unwrap(), &mut |value| found.push(*value));
///     found.sort();
///     found
/// };
/// assert_eq!(matching(&filters), [1, 2]);
/// assert_eq!(filters.remove(id), Some(2));
/// assert_eq!(matching(&filters), [1]);
/// # Ok::<(), wardgate_mqtt::TopicError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filters<V> {
    hasher: Hasher,
    /// Each distinct filter, by its hash.
    leaves: Table<Leaf>,
    /// The tree of the filters with wildcards, by the hashes of paths, without its root.
    nodes: Table<Node>,
    root: Node,
    /// A bit for each first byte of filters with wildcards that begin with a word, and of some that
    /// are gone.
    beginnings: u64,
    entries: Vec<Entry<V>>,
    /// The first free entry.
    free: u32,
    len: usize,
    texts: Texts,
}

/// The number of an inserted filter in its set. It never stands for another one later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    entry: u32,
    generation: u32,
}

/// The set has no room for another filter: it holds 268,435,456 filters or 2 GiB of their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A filter and the list of its entries.
#[derive(Clone, Copy, Debug, Default)]
struct Leaf {
    text: u32,
    first: u32,
}

/// The beginning of filters.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The number of filters that run through or end here; zero in a free slot.
    uses: u32,
    /// The number of filters that go on with a word, times [`WORD`], and a bit for each flag.
    edges: u32,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    value: Option<V>,
    text: u32,
    /// The next entry of the same filter, or the next free entry.
    next: u32,
    previous: u32,
    generation: u32,
}

impl<V> Filters<V> {
    /// Makes an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::seeded(0)
    }

    /// Makes an empty set whose hashing is unpredictable without the seed. A server that strangers
    /// subscribe to takes a random one.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            hasher: Hasher::new(seed),
            leaves: Table::default(),
            nodes: Table::default(),
            root: Node::default(),
            beginnings: 0,
            entries: Vec::new(),
            free: NONE,
            len: 0,
            texts: Texts::default(),
        }
    }

    /// Returns the number of inserted filters.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the set has no filter.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes that the set has allocated, those of the texts of the filters aside, and
    /// without what the values have allocated themselves.
    #[must_use]
    pub fn overhead(&self) -> usize {
        let entries = self.entries.capacity().saturating_mul(size_of::<Entry<V>>());
        entries.saturating_add(self.leaves.bytes()).saturating_add(self.nodes.bytes())
    }

    /// Returns the value of an inserted filter.
    #[must_use]
    pub fn get(&self, id: Id) -> Option<&V> {
        self.entry(id)?.value.as_ref()
    }

    /// Returns an inserted filter, without its group.
    #[must_use]
    pub fn filter(&self, id: Id) -> Option<Filter<'_>> {
        self.entry(id).map(|entry| self.texts.filter(entry.text))
    }

    /// Calls `found` with the value of each filter that matches the name, in no particular order.
    #[inline]
    pub fn matches(&self, name: Name<'_>, found: &mut impl FnMut(&V)) {
        let text = name.text().as_bytes();
        // What is read here is needed after the walk: a large set is out of the cache.
        let key = self.hasher.text(text);
        let first = self.leaves.first(key);
        if first.0 == key {
            black_box((
                self.texts.touch(first.1.text),
                self.entries.get(index(first.1.first)).map(|it| it.next),
            ));
        }
        let edges = self.edges_of_root(name);
        if edges != 0 {
            Walk { set: self, name: text }.all(edges, found);
        }
        let is = |leaf: &Leaf| self.texts.get(leaf.text) == text;
        if let Some(leaf) = self.leaves.find_from(first, key, is) {
            self.each(leaf.first, found);
        }
    }

    /// Returns the edges of the root that can lead on.
    #[inline]
    fn edges_of_root(&self, name: Name<'_>) -> u32 {
        let mut edges = self.root.edges;
        if name.is_internal() {
            edges &= !(PLUS | REST);
        }
        if self.beginnings & beginning(name.text()) == 0 {
            edges &= WORD - 1;
        }
        edges
    }

    /// Inserts a filter with a value.
    ///
    /// # Errors
    /// The set is full, and is unchanged.
    pub fn insert(&mut self, filter: Filter<'_>, value: V) -> Result<Id, Full> {
        let text = filter.text();
        if self.len >= SET_FILTERS || self.texts.bytes().saturating_add(text.len()) > SET_BYTES {
            return Err(Full);
        }
        let (text, is_plain) = (text.as_bytes(), !filter.has_wildcard());
        let key = if is_plain { self.hasher.text(text) } else { self.grow(filter) };
        let (entry, generation) = self.take_entry(value);
        let texts = &self.texts;
        let leaf = self.leaves.find(key, |leaf| texts.get(leaf.text) == text).copied();
        match leaf {
            Some(leaf) => self.append(leaf, entry),
            None => {
                let leaf = Leaf { text: self.texts.add(text), first: entry };
                self.leaves.insert(key, leaf);
                self.change(entry, |it| it.text = leaf.text);
            }
        }
        self.len = self.len.saturating_add(1);
        Ok(Id { entry, generation })
    }

    /// Removes an inserted filter and returns its value; returns `None` if it was removed before.
    pub fn remove(&mut self, id: Id) -> Option<V> {
        let Entry { text, next, previous, .. } = *self.entry(id)?;
        let filter = self.texts.get(text);
        let is_plain = !has_wildcard(filter);
        let key = if is_plain { self.hasher.text(filter) } else { self.key(text) };
        self.change(previous, |it| it.next = next);
        self.change(next, |it| it.previous = previous);
        let is_last = previous == NONE && next == NONE;
        if is_last {
            self.leaves.remove(key, |leaf| leaf.text == text);
        } else if previous == NONE {
            let leaf = self.leaves.find_mut(key, |leaf| leaf.text == text);
            leaf.into_iter().for_each(|leaf| leaf.first = next);
        }
        if !is_plain {
            self.shrink(text, key);
        }
        if is_last {
            self.texts.remove(text);
        }
        self.len = self.len.saturating_sub(1);
        let value = self.free_entry(id.entry);
        if self.texts.is_sparse() {
            self.compact();
        }
        value
    }

    /// Calls `found` with the value of an entry and of those after it.
    #[inline]
    fn each(&self, first: u32, found: &mut impl FnMut(&V)) {
        let mut at = first;
        while let Some(entry) = self.entries.get(index(at)) {
            entry.value.iter().for_each(&mut *found);
            at = entry.next;
        }
    }

    /// Adds the path of a filter to the tree and returns the key of its leaf.
    fn grow(&mut self, filter: Filter<'_>) -> u64 {
        let mut at = hash::ROOT;
        self.nodes.reserve(filter.levels().count());
        self.root.uses = self.root.uses.saturating_add(1);
        if !filter.begins_with_wildcard() {
            self.beginnings |= beginning(filter.text());
        }
        for level in filter.levels() {
            let child = match level {
                Level::Rest => {
                    self.change_node(at, |node| node.edges |= REST);
                    return self.hasher.rest(at);
                }
                Level::Any => {
                    self.change_node(at, |node| node.edges |= PLUS);
                    self.hasher.plus(at)
                }
                Level::Word(word) => {
                    self.change_node(at, |node| node.edges = node.edges.saturating_add(WORD));
                    self.hasher.child(at, word.as_bytes())
                }
            };
            match self.nodes.find_mut(child, |_| true) {
                Some(node) => node.uses = node.uses.saturating_add(1),
                None => self.nodes.insert(child, Node { uses: 1, edges: 0 }),
            }
            at = child;
        }
        self.change_node(at, |node| node.edges |= END);
        self.hasher.end(at)
    }

    /// Removes the path of a filter from the tree, after its leaf if it was the last.
    fn shrink(&mut self, text: u32, leaf: u64) {
        let filter = self.texts.filter(text);
        let edges = self.path(filter);
        let flag = if filter.text().ends_with('#') { REST } else { END };
        if self.leaves.find(leaf, |_| true).is_none() {
            let last = edges.last().map_or(hash::ROOT, |(child, _)| *child);
            self.change_node(last, |node| node.edges &= !flag);
        }
        for number in (0..edges.len()).rev() {
            let Some((child, word)) = edges.get(number).copied() else { return };
            let before = number.checked_sub(1).and_then(|before| edges.get(before));
            let parent = before.map_or(hash::ROOT, |(parent, _)| *parent);
            self.change_node(child, |node| node.uses = node.uses.saturating_sub(1));
            let is_unused = self.nodes.remove(child, |node| node.uses == 0);
            self.change_node(parent, |node| {
                node.edges = node.edges.saturating_sub(word);
                if is_unused && word == 0 {
                    node.edges &= !PLUS;
                }
            });
        }
        self.root.uses = self.root.uses.saturating_sub(1);
        if self.root.edges < WORD {
            self.beginnings = 0;
        }
    }

    /// Returns the node after each level of a filter but `#`, with [`WORD`] if it is a word.
    fn path(&self, filter: Filter<'_>) -> Vec<(u64, u32)> {
        let mut at = hash::ROOT;
        let levels = filter.levels().filter(|level| *level != Level::Rest);
        let nodes = levels.map(|level| {
            let (child, word) = match level {
                Level::Word(word) => (self.hasher.child(at, word.as_bytes()), WORD),
                _ => (self.hasher.plus(at), 0),
            };
            at = child;
            (child, word)
        });
        nodes.collect()
    }

    /// Returns the key of the leaf of a filter with wildcards.
    fn key(&self, text: u32) -> u64 {
        let mut at = hash::ROOT;
        for level in self.texts.filter(text).levels() {
            at = match level {
                Level::Rest => return self.hasher.rest(at),
                Level::Any => self.hasher.plus(at),
                Level::Word(word) => self.hasher.child(at, word.as_bytes()),
            };
        }
        self.hasher.end(at)
    }

    fn change_node(&mut self, at: u64, change: impl FnOnce(&mut Node)) {
        let node = match at {
            hash::ROOT => Some(&mut self.root),
            at => self.nodes.find_mut(at, |_| true),
        };
        if let Some(node) = node {
            change(node);
        }
    }

    fn entry(&self, id: Id) -> Option<&Entry<V>> {
        let entry = self.entries.get(index(id.entry))?;
        (entry.generation == id.generation && entry.value.is_some()).then_some(entry)
    }

    fn change(&mut self, at: u32, change: impl FnOnce(&mut Entry<V>)) {
        if let Some(entry) = self.entries.get_mut(index(at)) {
            change(entry);
        }
    }

    /// Puts an entry behind the first one of a leaf.
    fn append(&mut self, leaf: Leaf, new: u32) {
        let Leaf { text, first } = leaf;
        let second = self.entries.get(index(first)).map_or(NONE, |first| first.next);
        self.change(new, |it| (it.text, it.previous, it.next) = (text, first, second));
        self.change(first, |it| it.next = new);
        self.change(second, |it| it.previous = new);
    }

    fn take_entry(&mut self, value: V) -> (u32, u32) {
        let at = self.free;
        if let Some(entry) = self.entries.get_mut(index(at)) {
            self.free = entry.next;
            let generation = entry.generation;
            *entry = Entry { value: Some(value), text: 0, next: NONE, previous: NONE, generation };
            return (at, generation);
        }
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(self.entries.len() / 4 + 8);
        }
        let at = u32::try_from(self.entries.len()).unwrap_or(NONE);
        let value = Some(value);
        self.entries.push(Entry { value, text: 0, next: NONE, previous: NONE, generation: 0 });
        (at, 0)
    }

    fn free_entry(&mut self, at: u32) -> Option<V> {
        let free = self.free;
        let entry = self.entries.get_mut(index(at))?;
        entry.generation = entry.generation.wrapping_add(1);
        (entry.next, entry.previous) = (free, NONE);
        let value = entry.value.take();
        // An entry whose generations are used up stays out of use, so that no number comes twice.
        if entry.generation != 0 {
            self.free = at;
        }
        value
    }

    /// Moves the texts together.
    fn compact(&mut self) {
        let old = self.texts.take();
        for leaf in self.leaves.iter_mut() {
            leaf.text = self.texts.add(old.get(leaf.text));
            let mut at = leaf.first;
            while let Some(entry) = self.entries.get_mut(index(at)) {
                entry.text = leaf.text;
                at = entry.next;
            }
        }
    }
}

impl<V> Default for Filters<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the set of filters is full")
    }
}

impl core::error::Error for Full {}

impl Value for Leaf {
    const USED: usize = 6;
}

impl Value for Node {
    const USED: usize = 4;
}

/// Returns the bit of the first byte of a text.
#[inline]
fn beginning(text: &str) -> u64 {
    1_u64.wrapping_shl(text.bytes().next().map_or(0, u32::from))
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The number of no entry.
const NONE: u32 = u32::MAX;

/// A filter goes on with `+`.
const PLUS: u32 = 1;
/// A filter goes on with `#`.
const REST: u32 = 2;
/// A filter ends at the node.
const END: u32 = 4;
/// A filter goes on with a word.
const WORD: u32 = 8;

#[cfg(test)]
mod tests;
