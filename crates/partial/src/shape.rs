//! The shape of a fast path before it becomes words: entries for all classes at once with a mask,
//! or, if there are too many classes, entries for each class.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wardgate_fastpath::layout::{ALLOW, MAX_CLASSES};

use super::classes::{Class, Classes, Placed, Step};

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A step, the classes that take it, and its origin.
    Step(Step, u32, u32),
    /// The end of a scope in which a class may be allowed.
    ScopeEnd,
}

/// Entries, and the mask or class of each role.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) entries: Entries,
    pub(super) roles: Vec<(u32, u32)>,
    pub(super) others: u32,
    /// The slots of tests without which nothing is decided, and which no entry reads.
    pub(super) guards: Vec<u32>,
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
    pub(super) fn guarded(self, guards: Vec<u32>) -> Self {
        Self { guards, ..self }
    }

    /// Returns true if there is no entry.
    pub(super) const fn is_empty(&self) -> bool {
        matches!(&self.entries, Entries::Masked(entries) if entries.is_empty())
    }

    fn of(classes: &Classes, entries: Entries, word: impl Fn(usize) -> u32) -> Self {
        let roles = classes.roles.iter().map(|(role, class)| (*role, word(*class))).collect();
        Self { entries, roles, others: word(classes.others), guards: Vec::new() }
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
    let mut sequences: Vec<(Vec<(Step, u32)>, u32)> = Vec::new();
    for (bit, class) in (0..).zip(classes) {
        let here = class.steps.iter().filter(|placed| placed.scope == scope);
        let of_roles = here.filter(|placed| placed.rule.is_none());
        let steps: Vec<_> = of_roles.map(|placed| (placed.step, placed.origin)).collect();
        match sequences.iter_mut().find(|(known, _)| *known == steps) {
            Some((_, mask)) => *mask |= 1 << bit,
            None => sequences.push((steps, 1 << bit)),
        }
    }
    for (steps, mask) in sequences {
        entries.extend(steps.into_iter().map(|(step, origin)| Entry::Step(step, mask, origin)));
    }
}

/// Writes the steps of a resource policy, whose rules are tried in the same order by all classes.
fn rules<'c>(classes: impl Iterator<Item = &'c Class>, scope: usize, entries: &mut Vec<Entry>) {
    let mut merged: BTreeMap<(usize, Step, u32), u32> = BTreeMap::new();
    for (bit, class) in (0..).zip(classes) {
        let here = class.steps.iter().filter(|placed| placed.scope == scope);
        for Placed { rule, step, origin, .. } in here {
            if let Some(rule) = rule {
                *merged.entry((*rule, *step, *origin)).or_default() |= 1 << bit;
            }
        }
    }
    let entry = |((_, step, origin), mask)| Entry::Step(step, mask, origin);
    entries.extend(merged.into_iter().map(entry));
}

fn number(class: usize) -> u32 {
    u32::try_from(class).unwrap_or(u32::MAX)
}
