//! A set of rules, and the search for those that allow a query.
//!
//! A rule is in the set once, however it is written, and has its number until it is removed.
//! Numbers rise and are never reused, so that the same changes in the same order give the same
//! answers. The rules are a tree in flat arrays (`trie`), along which a query walks once (`walk`):
//! the work grows with the query and with the rules that are like it, not with the number of rules.

mod ahead;
mod aliases;
mod atoms;
mod literals;
mod nodes;
mod numbers;
mod ranges;
mod stack;
mod stars;
mod straight;
mod symbol;
mod table;
mod trie;
mod walk;

use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;

use crate::limits::{MAX_DEPTH, MAX_PLACES, MAX_RULES, MAX_TEXT};
use crate::normal::Normal;
use crate::read;
use nodes::NONE;
use numbers::Numbers;
use table::Hasher;
use trie::Trie;

/// A set of rules.
///
/// # Examples
/// ```
/// use wardgate_spocp::{Normal, RuleSet};
///
/// let mut rules = RuleSet::new();
/// let rule = Normal::from_advanced(b"(http (action (* set GET HEAD)))")?;
/// let id = rules.insert(&rule)?.id();
/// let query = Normal::from_advanced(b"(http (action GET))")?;
/// assert_eq!(rules.first(&query), Some(id));
/// assert_eq!(rules.matches(&query).collect::<Vec<_>>(), [id]);
/// assert!(rules.remove(id) && !rules.allows(&query));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RuleSet {
    trie: Trie,
    numbers: Numbers,
    /// The number of the next rule.
    next: u32,
}

/// The number of a rule in its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u32);

/// The result of inserting a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The rule is new in the set.
    New(RuleId),
    /// The set had an equal rule already.
    Known(RuleId),
}

/// The reason why a rule is not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The rule is the empty expression, the result of a failed read.
    Empty,
    /// The set is full.
    Full,
    /// The numbers are exhausted.
    NoNumber,
}

impl RuleSet {
    /// Makes an empty set, which allows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::seeded(0)
    }

    /// Makes an empty set whose hashing is unpredictable without the seed. The seed changes no
    /// answer: a random one prevents authors of rules from making lookups slow.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        let trie = Trie::new(Hasher::new(seed));
        Self { trie, numbers: Numbers::default(), next: 0 }
    }

    /// Inserts a rule, unless the set has an equal one.
    ///
    /// # Errors
    /// The set cannot take the rule; the set is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use wardgate_spocp::{Inserted, Normal, RuleId, RuleSet};
    ///
    /// let mut rules = RuleSet::new();
    /// let rule = Normal::from_advanced(b"(http (action GET))")?;
    /// assert_eq!(rules.insert(&rule)?, Inserted::New(RuleId::new(0)));
    /// assert_eq!(rules.insert(&rule)?, Inserted::Known(RuleId::new(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert(&mut self, rule: &Normal) -> Result<Inserted, Refused> {
        if rule.is_empty() {
            return Err(Refused::Empty);
        }
        if let Some(id) = self.find(rule) {
            return Ok(Inserted::Known(id));
        }
        self.has_room(rule)?;
        let number = self.next;
        self.next = number.checked_add(1).filter(|next| *next < NONE).ok_or(Refused::NoNumber)?;
        let end = self.trie.insert(rule.expression(), number);
        self.numbers.push(number, end);
        Ok(Inserted::New(RuleId(number)))
    }

    /// Removes a rule; returns true if it was in the set.
    pub fn remove(&mut self, id: RuleId) -> bool {
        let end = self.numbers.remove(id.0);
        end.into_iter().for_each(|end| self.trie.remove(end));
        end.is_some()
    }

    /// Returns true if a rule allows the query.
    #[must_use]
    pub fn allows(&self, query: &Normal) -> bool {
        let mut allowed = false;
        walk::walk(&self.trie, query.expression(), |_| {
            allowed = true;
            ControlFlow::Break(())
        });
        allowed
    }

    /// Returns the lowest number of a rule that allows the query.
    #[must_use]
    pub fn first(&self, query: &Normal) -> Option<RuleId> {
        let mut first: Option<u32> = None;
        walk::walk(&self.trie, query.expression(), |number| {
            first = Some(first.map_or(number, |first| first.min(number)));
            ControlFlow::Continue(())
        });
        first.map(RuleId)
    }

    /// Returns the numbers of all rules that allow the query, in order.
    pub fn matches(&self, query: &Normal) -> impl Iterator<Item = RuleId> + use<> {
        let mut numbers = Vec::new();
        walk::walk(&self.trie, query.expression(), |number| {
            numbers.push(RuleId(number));
            ControlFlow::Continue(())
        });
        numbers.sort_unstable();
        numbers.into_iter()
    }

    /// Returns the number of the rule that equals `rule`.
    #[must_use]
    pub fn find(&self, rule: &Normal) -> Option<RuleId> {
        let end = self.trie.find(rule.expression())?;
        Some(self.trie.nodes.back(end).rule).filter(|rule| *rule != NONE).map(RuleId)
    }

    /// Returns a rule, in its normal form.
    #[must_use]
    pub fn rule(&self, id: RuleId) -> Option<Normal> {
        self.numbers.node(id.0).map(|end| self.written(end))
    }

    /// Returns the rules in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (RuleId, Normal)> {
        self.numbers.iter().map(|(number, end)| (RuleId(number), self.written(end)))
    }

    /// Returns the number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rule that ends at a node.
    fn written(&self, end: u32) -> Normal {
        // INVARIANT: a rule that was inserted can be written and read again.
        read::normal(&self.trie.write(end)).map(Normal::written).unwrap_or_default()
    }

    /// Checks that a rule fits, by the most that it can take: two nodes for an element, and the
    /// text of sets at every depth.
    fn has_room(&self, rule: &Normal) -> Result<(), Refused> {
        let expression = rule.expression();
        let positions =
            expression.nodes.len().saturating_mul(2).saturating_add(self.trie.nodes.len());
        let text =
            expression.text.len().saturating_mul(MAX_DEPTH).saturating_add(self.trie.atoms.len());
        match self.len() < MAX_RULES && positions < MAX_PLACES && text < MAX_TEXT {
            true => Ok(()),
            false => Err(Refused::Full),
        }
    }
}

impl Default for RuleSet {
    fn default() -> Self {
        Self::new()
    }
}

/// Sets are equal if they have the same rules with the same numbers.
impl PartialEq for RuleSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for RuleSet {}

impl RuleId {
    /// Makes a rule number from a plain one, which need not be in any set.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the plain number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl Inserted {
    /// Returns the number of the rule.
    #[must_use]
    pub const fn id(self) -> RuleId {
        match self {
            Self::New(id) | Self::Known(id) => id,
        }
    }

    /// Returns true if the rule is new in the set.
    #[must_use]
    pub const fn is_new(self) -> bool {
        matches!(self, Self::New(_))
    }
}

impl core::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("an empty expression is not a rule"),
            Self::Full => {
                write!(out, "the set is full: it has at most {MAX_RULES} rules, or fewer long ones")
            }
            Self::NoNumber => out.write_str("all numbers of rules are used: load the rules anew"),
        }
    }
}
