//! Rules whose failure denies an action that another rule allows, where an attribute is missing.
//!
//! In a strict table an expression that fails denies the action, against all other rules. A finding
//! needs a rule that can fail without the attribute, and one of the same policy that allows the
//! same action for the same role and does not read it. Where the condition tests the presence of
//! the attribute with `has` or `in`, nothing is reported.

mod failing;
mod knowledge;

use std::cell::Cell;
use std::collections::BTreeSet;

use wardgate_engine::table::Evaluation;

use super::logic::{Facts, Logic};
use super::pattern::covers;
use super::schemas::required;
use super::{Lint, Linter};
use failing::located;
use knowledge::Knowledge;
use wardgate_compiler::Enforcement;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::policy::model::{Condition, Effect, ResourceRule, ScopePermissions};
use wardgate_compiler::resolve::model::{DerivedRole, ResourcePolicy};
use wardgate_compiler::schema::Load;
use wardgate_compiler::source::{Location, Position};

impl<'p> Linter<'p> {
    /// Reports such rules, except those that `found` reports as failing only.
    pub(super) fn strict(&self, load: &Load<'_>, found: &[Diagnostic]) -> Vec<Diagnostic> {
        if self.options.evaluation != Evaluation::Strict {
            return Vec::new();
        }
        let reported: BTreeSet<(&str, Option<Position>)> = wardgate_engine::order::in_order(
            found
                .iter()
                .filter(|one| matches!(one.code, Code::Lint(Lint::AllowCanOnlyDeny)))
                .map(|one| (one.file.as_str(), one.position)),
        );
        let is_new = |rule: &&ResourceRule| {
            let location = &rule.location;
            !reported.contains(&(location.file.path.as_str(), Some(location.position)))
        };
        let mut found = Vec::new();
        for policy in &self.resolved.resource {
            let needs_consent =
                policy.head.scope_permissions == ScopePermissions::RequireParentalConsentForAllows;
            if needs_consent || policy.rules.len() > MAX_COMPARED {
                continue;
            }
            let search = Search::new(self, policy, load);
            found
                .extend(policy.rules.iter().filter(is_new).filter_map(|rule| search.finding(rule)));
        }
        found
    }
}

/// The rules of one policy.
struct Search<'s, 'p> {
    linter: &'s Linter<'p>,
    policy: &'p ResourcePolicy,
    logic: Logic<'p>,
    /// The knowledge about every request that fits the schemas.
    always: Knowledge,
    /// The rules with an allow, each with the knowledge about requests that it allows.
    allows: Vec<(&'p ResourceRule, Knowledge)>,
    /// Comparisons that may still be made.
    budget: Cell<u32>,
}

/// An expression that fails without an attribute.
struct Failure {
    location: Location,
    at: Position,
    reads: String,
    what: String,
}

impl<'s, 'p> Search<'s, 'p> {
    fn new(linter: &'s Linter<'p>, policy: &'p ResourcePolicy, load: &Load<'_>) -> Self {
        let logic = linter.logic(&policy.head);
        let mut facts = Facts::default();
        if linter.options.schema_enforcement == Enforcement::Reject {
            for path in required(linter.resolved, policy, load) {
                facts.add(&path.each_ref().map(String::as_str));
            }
        }
        let always = Knowledge::new(facts);
        let allows = policy.rules.iter().filter(|rule| rule.effect == Effect::Allow);
        let allows = allows.filter_map(|rule| match &rule.condition {
            Some(condition) => Some((rule, always.clone().and(&logic, condition)?)),
            None => Some((rule, always.clone())),
        });
        let allows = allows.collect();
        Self { linter, policy, logic, always, allows, budget: Cell::new(MAX_COMPARISONS) }
    }

    fn finding(&self, rule: &'p ResourceRule) -> Option<Diagnostic> {
        // Most rules cannot fail, or no other rule is about the same.
        self.grantees(rule).iter().find_map(|grantee| self.failing(rule, grantee, &self.always))?;
        self.allows.iter().find_map(|(other, known)| self.compared(rule, other, known))
    }

    /// Reports `rule` if it can fail where `other` allows the same.
    fn compared(
        &self,
        rule: &'p ResourceRule,
        other: &'p ResourceRule,
        known: &Knowledge,
    ) -> Option<Diagnostic> {
        let both = |one: &String, two: &String| covers(one, two) || covers(two, one);
        let action = rule.actions.iter().any(|one| other.actions.iter().any(|two| both(one, two)));
        if !action || std::ptr::eq(rule, other) {
            return None;
        }
        for grantee in self.grantees(rule) {
            for theirs in self.grantees(other) {
                if !grantee.meets(&theirs) {
                    continue;
                }
                self.budget.set(self.budget.get().checked_sub(1)?);
                let known = match theirs.condition() {
                    Some((role, it)) => known.clone().and(&self.linter.role_logic(role), it),
                    None => Some(known.clone()),
                };
                let Some(known) = known else { continue };
                if let Some(failing) = self.failing(rule, &grantee, &known) {
                    return Some(failing.diagnostic(other));
                }
            }
        }
        None
    }

    fn grantees(&self, rule: &'p ResourceRule) -> Vec<Grantee<'p>> {
        let roles = rule.roles.iter().map(|role| Grantee {
            derived: None,
            roles: std::slice::from_ref(role),
            at: &rule.location,
        });
        let derived = rule.derived_roles.iter().filter_map(|named| {
            let role = self.policy.derived_roles.get(&named.name)?;
            Some(Grantee { derived: Some(role), roles: &role.parent_roles, at: &named.location })
        });
        roles.chain(derived).collect()
    }

    /// Returns the expression of a rule that can fail for want of an attribute, for one of its
    /// grantees.
    fn failing(
        &self,
        rule: &'p ResourceRule,
        grantee: &Grantee<'p>,
        known: &Knowledge,
    ) -> Option<Failure> {
        let mut known = known.clone();
        if let Some((role, condition)) = grantee.condition() {
            let logic = self.linter.role_logic(role);
            match (known.verdict(&logic, condition), located(&logic, condition, &known.facts)) {
                (Some(false), _) => return None,
                (None, Some((_, _, reads))) => {
                    let (what, at) =
                        (format!("the derived role `{}`", role.name), grantee.at.position);
                    return Some(Failure { location: grantee.at.clone(), at, reads, what });
                }
                (Some(true), _) | (None, None) => known = known.and(&logic, condition)?,
            }
        }
        let condition = rule.condition.as_ref()?;
        if known.verdict(&self.logic, condition).is_some() {
            return None;
        }
        let (expr, offset, reads) = located(&self.logic, condition, &known.facts)?;
        let what = format!("rule `{}`", rule.name);
        Some(Failure { location: expr.at.clone(), at: expr.locate(offset), reads, what })
    }
}

impl Failure {
    fn diagnostic(self, other: &ResourceRule) -> Diagnostic {
        let Self { reads, what, location, at } = self;
        let (name, line) = (&other.name, other.location.position.line);
        let message = format!(
            "where `{reads}` is missing, {what} fails, and that denies what rule `{name}` on line {line} allows"
        );
        Diagnostic::lint(Lint::StrictError, &location, message).at(at)
    }
}

/// The way of a principal to a rule.
#[derive(Clone, Copy)]
struct Grantee<'p> {
    derived: Option<&'p DerivedRole>,
    /// The roles, of which the principal has one.
    roles: &'p [String],
    at: &'p Location,
}

impl<'p> Grantee<'p> {
    /// Returns true if there are roles with which a principal gets both ways.
    fn meets(&self, other: &Self) -> bool {
        let both = |one: &String, two: &String| covers(one, two) || covers(two, one);
        self.roles.iter().any(|one| other.roles.iter().any(|two| both(one, two)))
    }

    /// Returns the condition that is evaluated before that of the rule.
    fn condition(&self) -> Option<(&'p DerivedRole, &'p Condition)> {
        let role = self.derived?;
        Some((role, role.condition.as_ref()?))
    }
}

/// Rules of one policy that are compared with each other: the work grows with their square.
const MAX_COMPARED: usize = 500;

/// Comparisons of the rules of one policy, each on one of its ways with one of another rule.
const MAX_COMPARISONS: u32 = 20_000;
