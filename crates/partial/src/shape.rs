//! The shape of a fast path before it becomes words: entries for all classes at once with a mask,
//! or, if there are too many classes, entries for each class.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wardgate_fastpath::layout::{ALLOW, MAX_CLASSES};

use super::classes::{Class, Classes, Placed, Step};

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A step and the classes that take it.
    Step(Step, Taken),
    /// The end of a scope in which a class may be allowed.
    ScopeEnd,
}

/// The classes that take a step, a bit for each, its origin, and whether only verdicts depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) mask: u32,
    pub(super) origin: u32,
    pub(super) is_more: bool,
}

/// Entries, and the mask or class of each role.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) entries: Entries,
    pub(super) roles: Vec<(u32, u32)>,
    pub(super) others: u32,
    /// The slots of tests without which nothing is decided, and which no entry reads: those of
    /// effects, and those of verdicts.
    pub(super) guards: [Vec<u32>; 2],
}

/// The entries of a fast path.
#[derive(Clone, Debug)]
pub(super) enum Entries {
    Masked(Vec<Entry>),
    ByClass(Vec<Vec<Entry>>),
}

impl Shape {
    /// Writes entries with a mask, if the classes are few enough; otherwise entries by class.
    pub(super) fn new(classes: &Classes) -> Self {
        let taken = classes.classes.iter().filter(|class| !class.steps.is_empty());
        if taken.count() > MAX_CLASSES {
            let entries = classes.classes.iter().map(|class| merged([class].into_iter()));
            return Self::of(classes, Entries::ByClass(entries.collect()), number);
        }
        // A class without steps needs no bit: no role in it is allowed or fails.
        let mut bits = (0..MAX_CLASSES).map(|bit| 1 << bit);
        let bit = |class: &Class| if class.steps.is_empty() { 0 } else { bits.next().unwrap_or(0) };
        let masks: Vec<u32> = classes.classes.iter().map(bit).collect();
        let taken = classes.classes.iter().filter(|class| !class.steps.is_empty());
        let entries = Entries::Masked(merged(taken));
        Self::of(classes, entries, |class| masks.get(class).copied().unwrap_or(0))
    }

    /// Returns the shape with tests without which nothing is decided.
    pub(super) fn guarded(self, guards: [Vec<u32>; 2]) -> Self {
        Self { guards, ..self }
    }

    /// Returns true if there is no entry.
    pub(super) const fn is_empty(&self) -> bool {
        matches!(&self.entries, Entries::Masked(entries) if entries.is_empty())
    }

    fn of(classes: &Classes, entries: Entries, word: impl Fn(usize) -> u32) -> Self {
        let roles = classes.roles.iter().map(|(role, class)| (*role, word(*class))).collect();
        Self { entries, roles, others: word(classes.others), guards: Default::default() }
    }
}

/// Writes the steps of classes into one list. Class `i` has bit `i` of the masks.
fn merged<'c>(classes: impl Iterator<Item = &'c Class> + Clone) -> Vec<Entry> {
    let scopes = classes.clone().flat_map(|class| &class.steps).map(|placed| placed.scope);
    let last = scopes.max().unwrap_or(0);
    let mut entries = Vec::new();
    for scope in 0..=last {
        let before = entries.len();
        role_policies(classes.clone(), scope, &mut entries);
        rules(classes.clone(), scope, &mut entries);
        let allows = |entry: &Entry| matches!(entry, Entry::Step(step, ..) if step.effect == ALLOW);
        if scope < last && entries.get(before..).is_some_and(|new| new.iter().any(allows)) {
            entries.push(Entry::ScopeEnd);
        }
    }
    entries
}

/// Writes the steps of role policies. Roles inherit in orders of their own, so each sequence of
/// steps has the mask of its classes.
fn role_policies<'c>(
    classes: impl Iterator<Item = &'c Class>,
    scope: usize,
    entries: &mut Vec<Entry>,
) {
    let mut sequences: Vec<Vec<(Step, Taken)>> = Vec::new();
    for (bit, class) in (0..).zip(classes) {
        let here = class.steps.iter().filter(|placed| placed.scope == scope);
        let of_roles = here.filter(|placed| placed.rule.is_none());
        let steps: Vec<_> = of_roles.map(|placed| (placed.step, taken(placed, bit))).collect();
        let is_same = |known: &&mut Vec<(Step, Taken)>| {
            let key = |(step, taken): &(Step, Taken)| (*step, taken.origin);
            known.iter().map(key).eq(steps.iter().map(key))
        };
        match sequences.iter_mut().find(is_same) {
            Some(known) => known.iter_mut().zip(steps).for_each(|((_, a), (_, b))| a.join(b)),
            None => sequences.push(steps),
        }
    }
    let steps = sequences.into_iter().flatten();
    entries.extend(steps.map(|(step, taken)| Entry::Step(step, taken)));
}

/// Writes the steps of a resource policy, whose rules are tried in the same order by all classes.
fn rules<'c>(classes: impl Iterator<Item = &'c Class>, scope: usize, entries: &mut Vec<Entry>) {
    // What a check reports of a rule comes before the rule, which may end the walk.
    let mut merged: BTreeMap<(usize, bool, Step, u32), Taken> = BTreeMap::new();
    for (bit, class) in (0..).zip(classes) {
        for placed in class.steps.iter().filter(|placed| placed.scope == scope) {
            if let Some(rule) = placed.rule {
                let new = taken(placed, bit);
                let key = (rule, !placed.step.is_reported, placed.step, placed.origin);
                let known = merged.entry(key).or_insert(new);
                known.join(new);
            }
        }
    }
    entries.extend(merged.into_iter().map(|((_, _, step, _), taken)| Entry::Step(step, taken)));
}

const fn taken(placed: &Placed, bit: u32) -> Taken {
    Taken { mask: 1 << bit, origin: placed.origin, is_more: placed.is_more }
}

impl Taken {
    /// Adds the classes of another one. What bears on the effect of one class is kept for it.
    const fn join(&mut self, other: Self) {
        self.mask |= other.mask;
        self.is_more &= other.is_more;
    }
}

fn number(class: usize) -> u32 {
    u32::try_from(class).unwrap_or(u32::MAX)
}
