//! Rules that decide nothing, and rules that contradict each other: suggestions without an edit.
//!
//! That a rule decides nothing is proved: the policies without it are compiled, and the comparison with those
//! before is equal for every question. Only rules beside which another one could decide are tried, so
//! what is not shown may decide nothing all the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use wardgate_compiler::policy::model::{Body, Output, Policy, ResourceRule};
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::model::{Resolved, ResourcePolicy};
use wardgate_engine::names::ancestors;

use crate::index::{Effect, Index, RuleId};
use crate::limits::MAX_REMOVALS;
use crate::proof::Basis;

/// The kind of a finding about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Its policy in a parent scope says the same, and decides the same without it.
    SameInParentScope,
    /// Rules of other policies always decide.
    ShadowedAcross,
    /// Rules of its own policy always decide.
    NeverDecides,
    /// Another rule of its policy has the other effect under the same condition, for the same action and role.
    Contradiction,
}

impl Kind {
    /// Returns the kind as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameInParentScope => "same-in-parent-scope",
            Self::ShadowedAcross => "shadowed-across",
            Self::NeverDecides => "never-decides",
            Self::Contradiction => "contradiction",
        }
    }

    /// Returns true if the finding is about a rule that decides nothing.
    #[must_use]
    pub const fn is_idle(self) -> bool {
        !matches!(self, Self::Contradiction)
    }
}

/// A finding about a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What it says.
    pub kind: Kind,
    /// The rule.
    pub rule: RuleId,
    /// The rule that says the same or the contrary, if it is about one.
    pub other: Option<RuleId>,
}

/// Rules that decide nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Idle {
    /// The findings, by kind and in the order of the policies.
    pub found: Vec<Finding>,
    /// The number of rules that were not tried, because the bound was reached.
    pub untried: usize,
}

/// Returns the rules with another effect than a rule of their policy under the same condition, for the same
/// action and role.
#[must_use]
pub fn contradictions(index: &Index) -> Vec<Finding> {
    type Target<'i> = (&'i str, &'i str, &'i str, &'i str);
    let mut known: HashMap<Target<'_>, (Effect, RuleId)> = HashMap::new();
    let mut found: BTreeSet<Finding> = BTreeSet::new();
    for (rule, place) in index.all() {
        let Some(body) = index.class_of(rule).map(|class| &class.body) else { continue };
        for action in &body.actions {
            for holder in &body.holders {
                let target = (&*place.policy, &*body.condition.text, &**action, &*holder.meaning);
                let (effect, first) = *known.entry(target).or_insert((body.effect, rule));
                if effect != body.effect {
                    let kind = Kind::Contradiction;
                    found.insert(Finding { kind, rule, other: Some(first) });
                }
            }
        }
    }
    found.into_iter().collect()
}

/// A rule that may decide nothing.
struct Suspect {
    rule: RuleId,
    /// Its policy among those of the repository, and its number there.
    at: (usize, usize),
    /// The rule of a parent scope that says the same.
    above: Option<RuleId>,
}

/// Returns the rules of resource policies that are proved to decide nothing.
pub fn idle(index: &Index, resolved: &Resolved, basis: &mut Basis<'_>) -> Idle {
    let suspects = suspects(index, resolved, basis.repository);
    let mut idle = Idle::default();
    let mut without = basis.repository.clone();
    for (number, suspect) in suspects.iter().enumerate() {
        let is_equal = match number < MAX_REMOVALS {
            true => without_rule(&mut without, suspect.at, |edited| basis.is_equal(edited)),
            false => None,
        };
        match is_equal {
            Some(true) => idle.found.push(Finding {
                kind: kind(suspect, basis),
                rule: suspect.rule,
                other: suspect.above,
            }),
            Some(false) => {}
            None => idle.untried = idle.untried.saturating_add(1),
        }
    }
    idle.found.sort();
    idle
}

/// Says who decides in place of a rule: a parent scope that says the same, its own policy, or others.
fn kind(suspect: &Suspect, basis: &Basis<'_>) -> Kind {
    if suspect.above.is_some() {
        return Kind::SameInParentScope;
    }
    let repository = basis.repository;
    let (own, rule) = suspect.at;
    let is_set = |policy: &Policy| {
        !matches!(
            policy.body,
            Body::Resource(_) | Body::Principal(_) | Body::Role(_) | Body::Limit(_)
        )
    };
    let policies = repository.policies.iter().enumerate();
    let own = policies.filter(|(at, policy)| *at == own || is_set(policy));
    let alone = Repository {
        policies: own.map(|(_, policy)| policy.clone()).collect(),
        ..Repository::default()
    };
    let of_resource = |policy: &Policy| matches!(policy.body, Body::Resource(_));
    let at = alone.policies.iter().position(of_resource).unwrap_or_default();
    let mut without = alone.clone();
    let is_equal =
        without_rule(&mut without, (at, rule), |without| basis.are_equal(&alone, without));
    match is_equal {
        Some(true) => Kind::NeverDecides,
        _ => Kind::ShadowedAcross,
    }
}

/// Calls `test` with policies without a rule, and puts it back.
fn without_rule<T>(
    repository: &mut Repository,
    (policy, rule): (usize, usize),
    test: impl FnOnce(&Repository) -> Option<T>,
) -> Option<T> {
    let rules = |repository: &mut Repository| match &mut repository.policies.get_mut(policy)?.body {
        Body::Resource(body) => Some(std::mem::take(&mut body.rules)),
        _ => None,
    };
    let all = rules(repository)?;
    let mut fewer = all.clone();
    (rule < fewer.len()).then(|| fewer.remove(rule))?;
    put(repository, policy, fewer);
    let answer = test(repository);
    put(repository, policy, all);
    answer
}

fn put(repository: &mut Repository, policy: usize, rules: Vec<ResourceRule>) {
    if let Some(Policy { body: Body::Resource(body), .. }) = repository.policies.get_mut(policy) {
        body.rules = rules;
    }
}

/// Returns the rules beside which another one could decide: one that says the same in a parent scope, a role policy of
/// one of their roles, or a rule without a condition for one of their actions.
fn suspects(index: &Index, resolved: &Resolved, repository: &Repository) -> Vec<Suspect> {
    let mut ids: HashMap<&str, Vec<RuleId>> = HashMap::new();
    for (rule, place) in index.all() {
        ids.entry(&place.policy).or_default().push(rule);
    }
    let of_policy = |key: &str| ids.get(key).cloned().unwrap_or_default();
    let positions = repository.policies.iter().enumerate();
    let positions: HashMap<String, usize> =
        positions.map(|(at, policy)| (policy.key(), at)).collect();
    let narrowed: BTreeSet<&str> =
        resolved.role.iter().map(|policy| policy.head.name.as_str()).collect();
    let mut by_site: BTreeMap<[&str; 3], &ResourcePolicy> = BTreeMap::new();
    for policy in &resolved.resource {
        let head = &policy.head;
        by_site.insert([&head.name, &head.version, &head.scope], policy);
    }
    let mut suspects = Vec::new();
    for policy in &resolved.resource {
        let head = &policy.head;
        let Some(at) = positions.get(&head.key) else { continue };
        let above = ancestors(&head.scope)
            .filter_map(|scope| by_site.get(&[head.name.as_str(), head.version.as_str(), scope]));
        let above: Vec<&ResourcePolicy> =
            above.copied().filter(|above| above.head.key != head.key).collect();
        let mut same: HashMap<[u32; 5], RuleId> = HashMap::new();
        for id in above.iter().flat_map(|above| of_policy(&above.head.key)) {
            if let Some(class) = index.class_of(id) {
                same.entry(class.parts).or_insert(id);
            }
        }
        let always = always(above.iter().copied().chain([policy]));
        for (number, (rule, id)) in policy.rules.iter().zip(of_policy(&head.key)).enumerate() {
            if rule.output != Output::default() {
                continue;
            }
            let above = index.class_of(id).and_then(|class| same.get(&class.parts)).copied();
            let is_narrowed = rule.roles.iter().any(|role| narrowed.contains(role.as_str()));
            let is_covered = rule.actions.iter().any(|action| {
                let count = |action: &str| always.get(action).copied().unwrap_or(0);
                let own = usize::from(rule.condition.is_none());
                count(action).saturating_add(count("*")) > own
            });
            if above.is_some() || is_narrowed || is_covered {
                suspects.push(Suspect { rule: id, at: (*at, number), above });
            }
        }
    }
    // Those that a parent scope repeats come first.
    suspects.sort_by_key(|suspect| (suspect.above.is_none(), suspect.rule));
    suspects
}

/// Counts the rules without a condition for each action.
fn always<'p>(policies: impl Iterator<Item = &'p ResourcePolicy>) -> BTreeMap<Rc<str>, usize> {
    let mut always: BTreeMap<Rc<str>, usize> = BTreeMap::new();
    for rule in policies.flat_map(|policy| &policy.rules).filter(|rule| rule.condition.is_none()) {
        for action in &rule.actions {
            *always.entry(action.as_str().into()).or_default() += 1;
        }
    }
    always
}

#[cfg(test)]
mod tests;
