//! The effects of a batch of changes, planned as a whole before anything is written.
//!
//! Each change sees the effects of those before it. The changes of one client that belong together
//! are made all or none.
//!
//! | before | change | written |
//! |---|---|---|
//! | not there, the files do not have it | add | `Added` |
//! | hidden, the files have it | add | `Forgotten`: the files hold again |
//! | there, the files have it | delete | `Hidden` |
//! | there, only added | delete | `Forgotten` |

use std::collections::BTreeMap;

use wardgate_spocp::Normal;

use super::change::{Change, Kind};
use super::key::Key;
use super::live::Live;

/// A change that a client requests.
#[derive(Clone, Debug)]
pub enum RuleChange {
    /// A rule is to be there.
    Add(Normal),
    /// A rule is not to be there.
    Delete(Key),
}

/// The reason for a refused change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The rule is there already, or another one has its id.
    Exists,
    /// There is no such rule.
    Unknown,
    /// The set is full, or the change could not be written.
    Failed,
}

/// A rule of the base files that an administrator deleted.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    /// Its text.
    pub(super) rule: Vec<u8>,
    /// The files still have it.
    pub(super) is_base: bool,
}

/// The effect on the set after the changes are written.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// Put this in, as a rule of the files or not.
    Put(Key, Normal, bool),
    /// Take this out, and remember it as hidden.
    Take(Key, Option<Hidden>),
}

/// The changes of a group that was looked at so far.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    live: &'a Live,
    hidden: &'a BTreeMap<Key, Hidden>,
    now: BTreeMap<Key, Now>,
    /// INVARIANT: as many as `effects`.
    pub(super) changes: Vec<Change>,
    pub(super) effects: Vec<Effect>,
}

/// A rule as the plan leaves it.
#[derive(Clone, Debug)]
enum Now {
    /// There, with the text; the files have it or not.
    Here(Vec<u8>, bool),
    /// Not there; the files have it or not.
    Away(bool),
}

impl<'a> Batch<'a> {
    pub(super) const fn new(live: &'a Live, hidden: &'a BTreeMap<Key, Hidden>) -> Self {
        Self { live, hidden, now: BTreeMap::new(), changes: Vec::new(), effects: Vec::new() }
    }

    /// Takes all of `changes` into the plan, or nothing.
    pub(super) fn extend(&mut self, changes: Vec<RuleChange>) -> Result<(), Refusal> {
        let before = self.changes.len();
        let mut touched = Vec::new();
        for changes in changes {
            if let Err(refusal) = self.one(changes, &mut touched) {
                self.changes.truncate(before);
                self.effects.truncate(before);
                for (key, now) in touched.into_iter().rev() {
                    match now {
                        Some(now) => self.now.insert(key, now),
                        None => self.now.remove(&key),
                    };
                }
                return Err(refusal);
            }
        }
        Ok(())
    }

    fn one(
        &mut self,
        changes: RuleChange,
        touched: &mut Vec<(Key, Option<Now>)>,
    ) -> Result<(), Refusal> {
        let (key, now, change, effect) = match changes {
            RuleChange::Add(rule) => self.add(rule)?,
            RuleChange::Delete(key) => self.delete(key)?,
        };
        touched.push((key, self.now.insert(key, now)));
        self.changes.push(change);
        self.effects.push(effect);
        Ok(())
    }

    fn add(&self, rule: Normal) -> Result<(Key, Now, Change, Effect), Refusal> {
        let text = rule.expression().to_canonical();
        let key = Key::of_text(&text);
        let Now::Away(is_base) = self.now(key) else { return Err(Refusal::Exists) };
        // Hidden under the id of this one, but another rule.
        let is_other = self.hidden.get(&key).is_some_and(|hidden| hidden.rule != text);
        if is_other {
            return Err(Refusal::Exists);
        }
        if self.live.is_full(self.effects.len().saturating_add(1)) {
            return Err(Refusal::Failed);
        }
        let kind = if is_base { Kind::Forgotten } else { Kind::Added };
        let now = Now::Here(text.clone(), is_base);
        Ok((key, now, Change { kind, rule: text }, Effect::Put(key, rule, is_base)))
    }

    fn delete(&self, key: Key) -> Result<(Key, Now, Change, Effect), Refusal> {
        let Now::Here(text, is_base) = self.now(key) else { return Err(Refusal::Unknown) };
        let kind = if is_base { Kind::Hidden } else { Kind::Forgotten };
        let hidden = is_base.then(|| Hidden { rule: text.clone(), is_base });
        Ok((key, Now::Away(is_base), Change { kind, rule: text }, Effect::Take(key, hidden)))
    }

    fn now(&self, key: Key) -> Now {
        if let Some(now) = self.now.get(&key) {
            return now.clone();
        }
        match self.live.entry(key) {
            Some(entry) => Now::Here(self.live.text(key).unwrap_or_default(), entry.is_base),
            None => Now::Away(self.hidden.get(&key).is_some_and(|hidden| hidden.is_base)),
        }
    }
}
