//! Counts the observations of the engine for the policies as they are written.
//!
//! The engine knows rules by their numbers in a table and reports expressions only by their truth.
//! Both are enough: the rules of a policy come in the table in the order in which they are written,
//! and a walk through a condition with the same logic evaluates the same expressions in the same
//! order.

use std::cell::RefCell;
use std::collections::HashMap;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::Outcome;
use wardgate_engine::decide::observe::{Considered, Grant, Granting, Observer, Truth};
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use super::{Coverage, ExpressionCoverage, PolicyCoverage, RESOURCE, RuleCoverage};
use wardgate_compiler::policy::model::Condition;

/// Counts the parts that decisions over one table exercise.
///
/// Tests may have other options, and then tables of their own; each of them needs its own counting.
#[derive(Debug)]
pub struct Counting {
    /// By the number of a rule in the table: its policy, and its place in that.
    rules: HashMap<u64, (usize, usize)>,
    /// By the key of a resource policy and the name of a derived role: the index of the policy that
    /// defines it, and the index of the role in that.
    roles: HashMap<(String, String), (usize, usize)>,
}

impl Counting {
    /// Finds the rules of `table` in the policies that it was compiled from.
    #[must_use]
    pub fn new(coverage: &Coverage, table: &PolicyTable) -> Self {
        Self { rules: rules(coverage, table), roles: roles(coverage) }
    }

    /// Decides on `request` and counts the evaluated parts.
    pub fn count(
        &self,
        coverage: &mut Coverage,
        table: &PolicyTable,
        request: &Request,
        now: Timestamp,
    ) -> Decision {
        let watch =
            Watch { counting: self, coverage: RefCell::new(coverage), seen: RefCell::default() };
        table.observe(request, now, &watch)
    }
}

fn rules(coverage: &Coverage, table: &PolicyTable) -> HashMap<u64, (usize, usize)> {
    let keys = coverage.policies.iter().map(|policy| policy.key.as_str());
    let policies: HashMap<&str, usize> = keys.zip(0..).collect();
    let mut last: HashMap<&str, usize> = HashMap::new();
    let mut rules = HashMap::new();
    for location in table.rule_locations() {
        let Some((at, policy)) =
            policies.get(location.policy).and_then(|at| Some((*at, coverage.policies.get(*at)?)))
        else {
            continue;
        };
        let from = last.get(location.policy).map_or(0, |last| last + usize::from(!repeats(policy)));
        let is_it = |rule: &RuleCoverage| {
            rule.position.line == location.line
                && (location.name.is_empty() || rule.name == location.name)
        };
        let candidates = policy.rules.iter().enumerate().skip(from);
        if let Some((found, _)) = candidates.into_iter().find(|(_, rule)| is_it(rule)) {
            last.insert(location.policy, found);
            rules.insert(location.number, (at, found));
        }
    }
    rules
}

/// Returns true if the table may have several entries for one rule: one for its roles, and one for
/// each derived role.
fn repeats(policy: &PolicyCoverage) -> bool {
    policy.kind == RESOURCE
}

fn roles(coverage: &Coverage) -> HashMap<(String, String), (usize, usize)> {
    let keys = coverage.policies.iter().map(|policy| policy.key.as_str());
    let policies: HashMap<&str, usize> = keys.zip(0..).collect();
    let mut roles = HashMap::new();
    for policy in &coverage.policies {
        for import in policy.imports.iter().filter_map(|set| policies.get(set.as_str())) {
            let defined = coverage.policies.get(*import).map(|set| set.derived_roles.as_slice());
            for (at, role) in (0..).zip(defined.unwrap_or_default()) {
                roles.insert((policy.key.clone(), role.name.clone()), (*import, at));
            }
        }
    }
    roles
}

/// Watches one decision.
struct Watch<'w> {
    counting: &'w Counting,
    coverage: RefCell<&'w mut Coverage>,
    seen: RefCell<Truths>,
}

/// The truths of expressions since the last rule, and since the last derived role.
#[derive(Default)]
struct Truths {
    by_rule: Vec<Truth>,
    by_role: Vec<Truth>,
}

impl Observer for Watch<'_> {
    fn expression(&self, truth: Truth, in_derived_roles: bool) {
        let mut seen = self.seen.borrow_mut();
        if in_derived_roles { seen.by_role.push(truth) } else { seen.by_rule.push(truth) }
    }

    fn derived_role(&self, role: &Granting<'_>) {
        let seen = std::mem::take(&mut self.seen.borrow_mut().by_role);
        let key = (role.policy.to_owned(), role.name.to_owned());
        let Some(&(policy, at)) = self.counting.roles.get(&key) else { return };
        let mut coverage = self.coverage.borrow_mut();
        let policy = coverage.policies.get_mut(policy);
        let Some(counted) = policy.and_then(|policy| policy.derived_roles.get_mut(at)) else {
            return;
        };
        match role.grant {
            Grant::Granted => counted.granted += 1,
            Grant::NoParentRole | Grant::ConditionNotMet => counted.not_granted += 1,
            Grant::Failed => counted.failed += 1,
        }
        let condition = counted.condition.as_ref();
        Replay::new(&seen).count(condition, &mut counted.expressions);
    }

    fn rule(&self, rule: &Considered<'_, '_>) {
        let seen = std::mem::take(&mut self.seen.borrow_mut().by_rule);
        let Some(&(policy, at)) = self.counting.rules.get(&rule.number()) else { return };
        let mut replay = Replay::new(&seen);
        let mut coverage = self.coverage.borrow_mut();
        if let Some(name) = rule.derived_role() {
            // Its expressions were counted when it was granted or not.
            let key = (rule.policy().to_owned(), name.to_owned());
            let found = self.counting.roles.get(&key).and_then(|(policy, at)| {
                coverage.policies.get(*policy)?.derived_roles.get(*at)?.condition.as_ref()
            });
            replay.pass(found);
        }
        let policy = coverage.policies.get_mut(policy);
        let Some(counted) = policy.and_then(|policy| policy.rules.get_mut(at)) else { return };
        match (rule.outcome, rule.is_opposite()) {
            (Outcome::Applied, false) | (Outcome::ConditionNotMet, true) => counted.applied += 1,
            (Outcome::PartlyMet, false) if rule.effect() == Some(Effect::Deny) => {
                counted.applied += 1;
            }
            (Outcome::Failed, _) => counted.failed += 1,
            _ => counted.not_applied += 1,
        }
        if *rule.outcome != Outcome::DerivedRoleNotMet {
            replay.count(counted.condition.as_ref(), &mut counted.expressions);
        }
    }
}

/// Walks conditions with the truths of their expressions.
struct Replay<'s> {
    seen: std::slice::Iter<'s, Truth>,
}

/// The expressions of a condition, in order.
type Expressions<'e> = std::slice::IterMut<'e, ExpressionCoverage>;

/// True or false, or `None` for a part of the topics that a request asks about.
type Holds = Option<bool>;

fn opposite(holds: Holds) -> Holds {
    holds.map(|holds| !holds)
}

impl<'s> Replay<'s> {
    fn new(seen: &'s [Truth]) -> Self {
        Self { seen: seen.iter() }
    }

    /// Counts the expressions that were looked at.
    fn count(&mut self, condition: Option<&Condition>, expressions: &mut [ExpressionCoverage]) {
        if let Some(condition) = condition {
            self.walk(condition, &mut expressions.iter_mut());
        }
    }

    /// Passes over those that were looked at.
    fn pass(&mut self, condition: Option<&Condition>) {
        if let Some(condition) = condition {
            self.walk(condition, &mut [].iter_mut());
        }
    }

    /// Returns whether the condition holds; `None` once no truth is left. In a strict table an
    /// error ends the walk, and with it the truths; in a lenient one it counts as false.
    fn walk(&mut self, condition: &Condition, expressions: &mut Expressions<'_>) -> Option<Holds> {
        match condition {
            Condition::Expr(_) => self.expression(expressions.next()),
            Condition::All(parts) => self.contains(parts, false, expressions).map(opposite),
            Condition::Any(parts) => self.contains(parts, true, expressions),
            Condition::None(parts) => self.contains(parts, true, expressions).map(opposite),
        }
    }

    /// Returns true if a part has the truth `wanted`; the parts behind it are passed over.
    fn contains(
        &mut self,
        parts: &[Condition],
        wanted: bool,
        expressions: &mut Expressions<'_>,
    ) -> Option<Holds> {
        let mut parts = parts.iter();
        let mut found = Some(false);
        while let Some(part) = parts.next() {
            let holds = self.walk(part, expressions)?;
            if holds.is_none() {
                found = None;
            }
            if holds == Some(wanted) {
                let skipped = parts.map(|part| part.expressions().len()).sum();
                expressions.by_ref().take(skipped).for_each(|_| {});
                return Some(Some(true));
            }
        }
        Some(found)
    }

    fn expression(&mut self, counted: Option<&mut ExpressionCoverage>) -> Option<Holds> {
        let truth = self.seen.next()?;
        if let Some(counted) = counted {
            match truth {
                Truth::True => counted.times_true += 1,
                // For a part of the topics it is false.
                Truth::False | Truth::Partly => counted.times_false += 1,
                Truth::Error => counted.failed += 1,
            }
        }
        Some((*truth != Truth::Partly).then_some(*truth == Truth::True))
    }
}
