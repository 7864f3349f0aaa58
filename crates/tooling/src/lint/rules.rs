//! Rules that decide nothing, and rules that others repeat.
//!
//! Within one policy and scope rules are evaluated in order. The first deny that applies ends the
//! search, an allow counts once all rules were evaluated, and in a strict table an error ends the
//! search with a deny. So an earlier deny hides the rules that it covers, an allow repeats another
//! in any order, and a later deny overrules an allow; and a rule that can fail is never merely
//! repeated.

mod flat_rule;
mod redundancy;

use std::cell::Cell;
use std::collections::BTreeMap;

use wardgate_engine::names::sanitized;

use super::pattern::{covers, disjoint, fits};
use super::{Lint, Linter};
use flat_rule::{FlatRule, Grantee};
use redundancy::{Precheck, Redundancy};
use wardgate_compiler::cel::references;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{Output, RoleRule};
use wardgate_compiler::resolve::model::{ResourcePolicy, RolePolicy};

impl<'p> Linter<'p> {
    pub(super) fn rules(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut narrowing: BTreeMap<(&str, &str), Narrowing<'p>> = BTreeMap::new();
        for policy in &self.resolved.role {
            let version_and_scope = (policy.head.version.as_str(), policy.head.scope.as_str());
            narrowing.entry(version_and_scope).or_default().insert(&policy.head.name, policy);
            found.extend(listed_twice(policy));
        }
        for policy in &self.resolved.resource {
            let version_and_scope = (policy.head.version.as_str(), policy.head.scope.as_str());
            let narrowing = narrowing.get(&version_and_scope);
            let rules = self.flat_resource_rules(policy);
            found.extend(examine(&rules, &|action, grantee| {
                narrowed(policy, narrowing?, action, grantee)
            }));
        }
        for policy in &self.resolved.principal {
            found.extend(examine(&self.flat_principal_rules(policy), &|_, _| None));
        }
        found
    }

    /// Returns true if the policy reads the effective derived roles, which a rule may be the reason
    /// of.
    fn reads_derived_roles(&self, policy: &ResourcePolicy) -> bool {
        let rules = policy.rules.iter();
        let conditions = rules.clone().filter_map(|rule| rule.condition.as_ref());
        let conditions = conditions.flat_map(|condition| condition.expressions());
        let outputs = rules.flat_map(|rule| rule.output.expressions());
        let variables = policy.head.variables.iter().map(|variable| &variable.expr);
        let reads = |expr: &ExprSource| {
            self.parsed.tree(&expr.text).is_none_or(|tree| references(&tree).reads_derived_roles)
        };
        conditions.chain(outputs).chain(variables).any(reads)
    }
}

/// The role policies of one version and scope, by their roles.
type Narrowing<'p> = BTreeMap<&'p str, &'p RolePolicy>;

/// Reports the redundant rules of one policy, from the last to the first, so that one of two equal
/// rules stays.
fn examine(rules: &[FlatRule<'_>], before: &Precheck<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if rules.len() > MAX_COMPARED {
        return found;
    }
    let mut remaining: Vec<bool> = vec![true; rules.len()];
    let left = Cell::new(MAX_COMPARISONS);
    for (at, line) in rules.iter().enumerate().rev() {
        let others =
            redundancy::OtherRules { rules, remaining: &remaining, at, before, left: &left };
        let Some(redundancy) = others.redundancy(line) else { continue };
        // A rule that can still deny by failing is not redundant, so it may cover others.
        if redundancy.lint() != Lint::AllowCanOnlyDeny
            && let Some(remaining) = remaining.get_mut(at)
        {
            *remaining = false;
        }
        found.push(diagnostic(line, &redundancy));
    }
    found
}

fn diagnostic(line: &FlatRule<'_>, redundancy: &Redundancy) -> Diagnostic {
    Diagnostic::lint(redundancy.lint(), line.location, redundancy.message(line.name))
}

/// Returns the role policy that stops such an action of the resource before the rules of the
/// resource: a role policy denies the actions that it does not list.
fn narrowed(
    policy: &ResourcePolicy,
    roles: &Narrowing<'_>,
    action: &str,
    grantee: &Grantee,
) -> Option<String> {
    let role = roles.get(grantee.role()?)?;
    let kind = sanitized(&policy.head.name);
    let lists = |rule: &RoleRule| {
        fits(&rule.resource, &kind) && !rule.allow_actions.iter().all(|own| disjoint(own, action))
    };
    let denies = !role.rules.is_empty() && !role.rules.iter().any(lists);
    denies.then(|| format!("the role policy of `{}`", role.head.name))
}

/// Reports the rules of a role policy that list, without a condition, actions that other rules list
/// too.
fn listed_twice(policy: &RolePolicy) -> Vec<Diagnostic> {
    let mut remaining: Vec<bool> = vec![true; policy.rules.len()];
    let mut found = Vec::new();
    if policy.rules.len() > MAX_COMPARED {
        return found;
    }
    for (at, rule) in policy.rules.iter().enumerate().rev() {
        if rule.condition.is_some() || rule.output != Output::default() {
            continue;
        }
        let others = policy.rules.iter().zip(&remaining).enumerate();
        let mut others = others
            .filter(|(other, (_, remaining))| *other != at && **remaining)
            .map(|(_, (rule, _))| rule);
        let Some(other) = others.find(|other| lists_all(other, rule)) else { continue };
        if let Some(remaining) = remaining.get_mut(at) {
            *remaining = false;
        }
        let line = other.location.position.line;
        let message =
            format!("the rule on line {line} lists the same actions of `{}`", rule.resource);
        found.push(Diagnostic::lint(Lint::ShadowedRule, &rule.location, message));
    }
    found
}

fn lists_all(outer: &RoleRule, inner: &RoleRule) -> bool {
    let listed = |action: &String| outer.allow_actions.iter().any(|own| covers(own, action));
    covers(&outer.resource, &inner.resource) && inner.allow_actions.iter().all(listed)
}

/// Rules of one policy that are compared with each other: the work grows with their square.
const MAX_COMPARED: usize = 5_000;

/// The largest number of comparisons of the actions and roles of one policy. Rules with one action
/// and one role each take no more than this; a policy that takes more is not checked.
const MAX_COMPARISONS: u64 = 400_000_000;
