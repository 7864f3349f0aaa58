//! The rules in use, as readers see them.
//!
//! Only the writer changes them, and only by changes that are in the file already.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Bound;

use wardgate_spocp::limits::{MAX_DEPTH, MAX_RULES, MAX_TEXT};
use wardgate_spocp::{Normal, Refused, RuleId, RuleSet};

use super::error::{Result, StoreError};
use super::key::Key;

/// The rules in use.
#[derive(Debug)]
pub struct Live {
    set: RuleSet,
    entries: BTreeMap<Key, Entry>,
    highest: u32,
    /// The bytes of all rules that were ever put in.
    bytes: usize,
}

/// The origin of a rule, and its number in the set. At least one of the two flags is true.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    number: RuleId,
    /// The files have it.
    pub(super) is_base: bool,
    /// An administrator added it.
    pub(super) is_added: bool,
}

impl Default for Live {
    /// Makes an empty set, whose hashing no client can foresee.
    fn default() -> Self {
        Self { set: unforeseen(), entries: BTreeMap::new(), highest: 0, bytes: 0 }
    }
}

impl Live {
    /// Tells whether a rule allows the query.
    #[must_use]
    pub fn allows(&self, query: &Normal) -> bool {
        self.set.allows(query)
    }

    /// Returns how many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the rules in the order of their ids: those after `after`, or all.
    pub fn after(&self, after: Option<Key>) -> impl Iterator<Item = (Key, Normal)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let entries = self.entries.range((from, Bound::Unbounded));
        entries.filter_map(|(key, entry)| Some((*key, self.set.rule(entry.number)?)))
    }

    pub(super) fn entry(&self, key: Key) -> Option<Entry> {
        self.entries.get(&key).copied()
    }

    /// Returns the canonical text of a rule.
    pub(super) fn text(&self, key: Key) -> Option<Vec<u8>> {
        let rule = self.set.rule(self.entries.get(&key)?.number)?;
        Some(rule.expression().to_canonical())
    }

    /// Returns the rules that administrators added.
    pub(super) fn added(&self) -> impl Iterator<Item = Normal> {
        let added = self.entries.values().filter(|entry| entry.is_added);
        added.filter_map(|entry| self.set.rule(entry.number))
    }

    /// Puts a rule in. If it is there, it comes from both now.
    pub(super) fn put(&mut self, text: &[u8], rule: &Normal, is_base: bool) -> Result<()> {
        let inserted = self.set.insert(rule).map_err(StoreError::TooMany)?;
        let key = Key::of_text(text);
        self.bytes = self.bytes.saturating_add(text.len());
        let number = inserted.id();
        if self.entries.get(&key).is_some_and(|entry| entry.number != number) {
            if inserted.is_new() {
                self.set.remove(number);
            }
            return Err(StoreError::SameId);
        }
        let entry =
            self.entries.entry(key).or_insert(Entry { number, is_base: false, is_added: false });
        entry.is_base |= is_base;
        entry.is_added |= !is_base;
        self.highest = self.highest.max(number.number());
        Ok(())
    }

    /// Takes a rule out.
    pub(super) fn take(&mut self, key: Key) {
        if let Some(entry) = self.entries.remove(&key) {
            self.set.remove(entry.number);
        }
    }

    /// Tells whether the set could refuse `more` rules, by their number.
    pub(super) fn is_full(&self, more: usize) -> bool {
        self.set.len().saturating_add(more) > MAX_RULES
    }

    /// Returns true if the set has room for rules of `bytes` bytes in every case.
    pub(super) const fn has_plenty(&self, more: usize) -> bool {
        self.bytes.saturating_add(more) < MAX_TEXT / MAX_DEPTH
    }

    /// Tries whether the set takes all of these rules, and leaves it as it was.
    pub(super) fn takes<'r>(&mut self, rules: impl Iterator<Item = &'r Normal>) -> bool {
        let mut tried = Vec::new();
        let mut takes = true;
        for rule in rules {
            match self.set.insert(rule) {
                Ok(inserted) if inserted.is_new() => tried.push(inserted.id()),
                Ok(_) => {}
                Err(_) => {
                    takes = false;
                    break;
                }
            }
        }
        for number in tried {
            self.set.remove(number);
        }
        takes
    }

    /// Renumbers all rules when the numbers of the set are used up.
    pub(super) fn renumber(&mut self) -> Result<(), Refused> {
        if self.highest < u32::MAX / 2 {
            return Ok(());
        }
        let mut set = unforeseen();
        let mut numbers = BTreeMap::new();
        for (key, entry) in &self.entries {
            if let Some(rule) = self.set.rule(entry.number) {
                numbers.insert(*key, set.insert(&rule)?.id());
            }
        }
        for (key, entry) in &mut self.entries {
            if let Some(number) = numbers.get(key) {
                entry.number = *number;
            }
        }
        self.highest = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        self.set = set;
        Ok(())
    }
}

/// Makes a set whose hashing differs from process to process.
fn unforeseen() -> RuleSet {
    RuleSet::seeded(RandomState::new().build_hasher().finish())
}
