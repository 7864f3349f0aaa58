//! A set of rules, and which of them allow a query.
//!
//! A rule is in the set once, however it is written, and keeps its number until it is taken out. Numbers
//! rise and are never given twice, so that the same changes in the same order give the same answers.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::limits::MAX_RULES;
use crate::normal::Normal;

/// A set of rules.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: BTreeMap<RuleId, Normal>,
    /// The number of each rule by its text.
    ids: BTreeMap<Vec<u8>, RuleId>,
    /// The number of the next rule.
    next: u32,
}

/// The number of a rule in its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u32);

/// What became of a rule that was to be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is in the set now.
    New(RuleId),
    /// It was there already.
    Known(RuleId),
}

/// Why a rule is not put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// It is the empty expression, which reading leaves behind when it fails.
    Empty,
    /// The set is full.
    TooMany,
    /// Every number has been given.
    NoNumber,
}

impl RuleSet {
    /// Makes a set without rules, which allows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a rule in, unless one that stands for the same is there.
    ///
    /// # Errors
    /// If the set cannot take it.
    pub fn insert(&mut self, rule: &Normal) -> Result<Inserted, Refused> {
        if rule.is_empty() {
            return Err(Refused::Empty);
        }
        let text = rule.expression().to_canonical();
        if let Some(id) = self.ids.get(&text) {
            return Ok(Inserted::Known(*id));
        }
        if self.rules.len() >= MAX_RULES {
            return Err(Refused::TooMany);
        }
        let id = RuleId(self.next);
        self.next = self.next.checked_add(1).ok_or(Refused::NoNumber)?;
        self.ids.insert(text, id);
        self.rules.insert(id, rule.clone());
        Ok(Inserted::New(id))
    }

    /// Takes a rule out, and tells whether it was there.
    pub fn remove(&mut self, id: RuleId) -> bool {
        let Some(rule) = self.rules.remove(&id) else { return false };
        self.ids.remove(&rule.expression().to_canonical());
        true
    }

    /// Tells whether a rule allows the query.
    #[must_use]
    pub fn allows(&self, query: &Normal) -> bool {
        self.first(query).is_some()
    }

    /// Returns the lowest number of a rule that allows the query.
    #[must_use]
    pub fn first(&self, query: &Normal) -> Option<RuleId> {
        self.iter().find(|(_, rule)| query.is_at_most(rule)).map(|(id, _)| id)
    }

    /// Returns the numbers of all rules that allow the query, in order.
    pub fn matches(&self, query: &Normal) -> impl Iterator<Item = RuleId> {
        let ids = self.iter().filter(|(_, rule)| query.is_at_most(rule)).map(|(id, _)| id);
        ids.collect::<Vec<_>>().into_iter()
    }

    /// Returns the number of a rule that stands for the same.
    #[must_use]
    pub fn find(&self, rule: &Normal) -> Option<RuleId> {
        self.ids.get(&rule.expression().to_canonical()).copied()
    }

    /// Returns a rule, in its normal form.
    #[must_use]
    pub fn rule(&self, id: RuleId) -> Option<Normal> {
        self.rules.get(&id).cloned()
    }

    /// Returns the rules in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (RuleId, Normal)> {
        self.rules.iter().map(|(id, rule)| (*id, rule.clone()))
    }

    /// Returns how many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Tells whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl RuleId {
    /// Makes the number of a rule out of a plain one, which may be that of none.
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

    /// Tells whether the rule was not there before.
    #[must_use]
    pub const fn is_new(self) -> bool {
        matches!(self, Self::New(_))
    }
}

impl core::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("an empty expression is no rule"),
            Self::TooMany => write!(out, "a set has at most {MAX_RULES} rules"),
            Self::NoNumber => {
                out.write_str("every number of a rule has been given: load the rules anew")
            }
        }
    }
}
