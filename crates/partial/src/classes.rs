//! Classes of roles: the steps of each role on its walk, and the roles with equal steps.
//!
//! The steps of a role are those of the walk in its order: scope by scope, role policies first,
//! then the rules of the resource policy. Steps without an effect on the answer are left out: those
//! after a denial without a condition, an allow that is forgotten at the end of its scope, and a
//! rule that occurred before.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::candidates::{Candidate, Candidates, Stage};
use super::predicates::{ALWAYS, Predicate, PredicateId, Predicates};
use crate::limits::MAX_ENTRIES;
use wardgate_engine::table::at;
use wardgate_fastpath::layout::{ALLOW, DENY, origin};

/// One rule that a role meets: its predicate and effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// [`ALLOW`], [`DENY`] or 0; for an output `EMITS` or `EMITS_UNMET` of the layout.
    pub(super) effect: u32,
    pub(super) predicate: PredicateId,
    /// True if it is no rule but what a check reports beside: the error of a variable, an output.
    pub(super) is_reported: bool,
    /// The program of an output that the fast path emits.
    pub(super) output: Option<u32>,
}

impl Step {
    /// Returns a step that a check reports, and that no effect depends on.
    pub(super) const fn reported(predicate: PredicateId) -> Self {
        Self { effect: 0, predicate, is_reported: true, output: None }
    }

    /// Returns the step of a rule.
    pub(super) const fn of_rule(effect: u32, predicate: PredicateId) -> Self {
        Self { effect, predicate, is_reported: false, output: None }
    }
}

/// A step and its position on the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// The number of the scope, counted from the most specific one.
    pub(super) scope: usize,
    /// The rule's number in its block; `None` in role policies, which are in the order of the
    /// role's lineage.
    pub(super) rule: Option<usize>,
    pub(super) step: Step,
    /// The [`origin`] of the step; 0 in a fast path without verdicts.
    pub(super) origin: u32,
    /// True if only verdicts depend on it.
    pub(super) is_more: bool,
}

/// The answers for which the steps are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Allow or deny.
    Effect,
    /// Beside that, which rule decides, and no error unseen.
    Verdict,
}

/// A class of roles that meet the same steps; without steps, no action is ever allowed.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub(super) steps: Vec<Placed>,
}

/// The classes of roles for one action, and the class of each role.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    pub(super) classes: Vec<Class>,
    /// Roles that are not in the class of other roles, by string id.
    pub(super) roles: BTreeMap<u32, usize>,
    pub(super) others: usize,
}

impl Classes {
    /// Sorts the roles into classes; `None` if they have too many steps. `steps` is the rest of the
    /// work that building may take.
    pub(super) fn new(
        candidates: &Candidates<'_>,
        predicates: &Predicates<'_>,
        purpose: Purpose,
        steps: &mut usize,
    ) -> Option<Self> {
        let (classes, known) = (Vec::new(), BTreeMap::new());
        let mut sorter = Sorter { candidates, predicates, purpose, classes, known, size: 0 };
        let others = sorter.class(&[], steps)?;
        let mut roles = BTreeMap::new();
        for role in candidates.roles() {
            let lineage = candidates.lineage(role);
            let class = sorter.class(&lineage, steps)?;
            if class != others {
                roles.insert(role, class);
            }
        }
        Some(Self { classes: sorter.classes, roles, others })
    }
}

struct Sorter<'a, 'p> {
    candidates: &'a Candidates<'p>,
    predicates: &'a Predicates<'p>,
    purpose: Purpose,
    classes: Vec<Class>,
    known: BTreeMap<Vec<(usize, Step, u32)>, usize>,
    /// The number of steps of all classes.
    size: usize,
}

impl Sorter<'_, '_> {
    /// Returns the class of a role with this lineage.
    fn class(&mut self, lineage: &[u32], left: &mut usize) -> Option<usize> {
        let steps = self.steps(lineage, left)?;
        let key = steps.iter().map(|placed| (placed.scope, placed.step, placed.origin)).collect();
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        self.size = self.size.saturating_add(steps.len());
        let number = self.classes.len();
        self.classes.push(Class { steps });
        self.known.insert(key, number);
        (self.size <= MAX_ENTRIES).then_some(number)
    }

    fn steps(&self, lineage: &[u32], left: &mut usize) -> Option<Vec<Placed>> {
        let (predicates, purpose) = (self.predicates, self.purpose);
        let (is_own, steps, seen) = (self.candidates.is_own(), Vec::new(), BTreeSet::new());
        let mut walk = Walk { predicates, purpose, is_own, steps, seen };
        for (scope, stage) in self.candidates.stages().enumerate() {
            let rules = stage.rules_for(lineage);
            *left = left.checked_sub(1 + rules.len())?;
            if walk.role_policies(scope, stage, lineage) || walk.rules(scope, stage, &rules) {
                break;
            }
        }
        let matters = |Placed { step, is_more, .. }: &Placed| {
            !is_more && (step.effect == ALLOW || self.predicates.can_fail(step.predicate))
        };
        if !walk.steps.iter().any(matters) {
            match self.purpose {
                Purpose::Effect => walk.steps.clear(),
                Purpose::Verdict => walk.steps.iter_mut().for_each(|step| step.is_more = true),
            }
        }
        Some(walk.steps)
    }
}

/// The scope of a step, its rule, and its origin: as in [`Placed`].
type Position = (usize, Option<usize>, u32);

/// The walk of one role.
struct Walk<'a, 'p> {
    predicates: &'a Predicates<'p>,
    purpose: Purpose,
    /// True if the first scope is the policy of a principal itself.
    is_own: bool,
    steps: Vec<Placed>,
    /// Steps of this scope: taken again they change no answer.
    seen: BTreeSet<Step>,
}

impl Walk<'_, '_> {
    /// Walks through the role policies of a scope. Returns true if the walk ends here in any case.
    fn role_policies(&mut self, scope: usize, stage: &Stage<'_>, lineage: &[u32]) -> bool {
        self.seen.clear();
        for role in lineage.iter().filter(|role| stage.has_role_policy(**role)) {
            let rows = stage.role_rules(*role);
            for row in &rows {
                let origin = self.origin(origin::ROLE_RULE, scope, row.number);
                if self.meet((scope, None, origin), row, true) {
                    return true;
                }
            }
            if rows.is_empty() {
                let origin = self.origin(origin::NOT_LISTED, scope, at(*role));
                let denial = Step::of_rule(DENY, ALWAYS);
                return self.add((scope, None, origin), denial);
            }
        }
        false
    }

    /// Walks through the rules of a resource policy. Returns true if the walk ends here in any
    /// case.
    fn rules(&mut self, scope: usize, stage: &Stage<'_>, rules: &[usize]) -> bool {
        let mut allowed = false;
        for rule in rules.iter().filter_map(|rule| stage.candidate(*rule)) {
            let origin = self.origin(origin::RESOURCE_RULE, scope, rule.number);
            if self.meet((scope, Some(rule.number), origin), rule, stage.needs_consent) {
                return true;
            }
            allowed |= rule.effect == ALLOW && rule.predicate == ALWAYS;
        }
        allowed && !stage.needs_consent
    }

    /// Adds the step of a candidate. An allow that is `forgotten` matters only if its predicate can
    /// fail.
    fn meet(&mut self, position: Position, candidate: &Candidate, forgotten: bool) -> bool {
        let (scope, rule, _) = position;
        if self.purpose == Purpose::Verdict {
            let reported = candidate.reported.iter().flat_map(|reported| reported.iter().copied());
            for predicate in reported {
                let step = Step::reported(predicate);
                self.add((scope, rule, self.origin(origin::NONE, scope, 0)), step);
            }
            for step in candidate.emissions.iter().flatten() {
                self.add(position, self.predicates.emission(*step));
            }
        }
        let is_forgotten = forgotten && candidate.effect == ALLOW;
        let effect = if is_forgotten { 0 } else { candidate.effect };
        self.add(position, Step::of_rule(effect, candidate.predicate))
    }

    /// Returns the word of an origin for verdicts, and 0 for effects alone.
    fn origin(&self, kind: u32, scope: usize, number: usize) -> u32 {
        if self.purpose == Purpose::Effect {
            return 0;
        }
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let of_kind = scope.checked_sub(usize::from(self.is_own));
        origin::word(kind, of_kind.map_or(origin::OWN, narrow), narrow(number))
    }

    /// Adds a step. Returns true if it denies or fails in any case.
    fn add(&mut self, (scope, rule, origin): Position, step: Step) -> bool {
        let never = matches!(self.predicates.get(step.predicate), Some(Predicate::Never));
        // A check reports errors that an effect does not depend on.
        let emits = step.output.is_some();
        let is_reported = self.purpose == Purpose::Verdict && (emits || step.predicate != ALWAYS);
        let bears_on_effect =
            !step.is_reported && (step.effect != 0 || self.predicates.can_fail(step.predicate));
        // Two rules with equal outputs emit both.
        if !never && (bears_on_effect || is_reported) && (emits || self.seen.insert(step)) {
            let is_more = !bears_on_effect;
            self.steps.push(Placed { scope, rule, step, origin, is_more });
        }
        let denies = step.effect == DENY && step.predicate == ALWAYS;
        denies || self.predicates.always_fails(step.predicate)
    }
}
