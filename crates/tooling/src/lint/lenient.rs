//! Denies that a lenient table skips, because an attribute is not there.
//!
//! In a lenient table an expression that fails counts as false. An allow is then not granted, which
//! is safe; a deny does not apply, which is not. Below `none` it is the other way round.

use wardgate_engine::table::Evaluation;

use super::logic::{Facts, Logic};
use super::{Lint, Linter};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{Condition, Effect, Named};
use wardgate_compiler::resolve::model::ResourcePolicy;

impl Linter<'_> {
    pub(super) fn lenient(&self) -> Vec<Diagnostic> {
        if self.options.evaluation != Evaluation::Lenient {
            return Vec::new();
        }
        let mut found = Vec::new();
        for policy in &self.resolved.resource {
            let logic = self.logic(&policy.head);
            for rule in policy.rules.iter().filter(|rule| rule.effect == Effect::Deny) {
                let what = format!("rule `{}`", rule.name);
                found.extend(rule.condition.iter().flat_map(|one| skipped(&logic, one, &what)));
                found.extend(self.lost_roles(policy, &rule.derived_roles));
            }
        }
        for policy in &self.resolved.principal {
            let logic = self.logic(&policy.head);
            let rules = policy.rules.iter().flat_map(|rule| &rule.actions);
            for rule in rules.filter(|rule| rule.effect == Effect::Deny) {
                let what = format!("rule `{}`", rule.name);
                found.extend(rule.condition.iter().flat_map(|one| skipped(&logic, one, &what)));
            }
        }
        found
    }

    /// Reports lost derived roles. A derived role whose condition fails is not gained, so a deny
    /// for it does not apply.
    fn lost_roles(&self, policy: &ResourcePolicy, named: &[Named]) -> Vec<Diagnostic> {
        let lost = |named: &Named| {
            let role = policy.derived_roles.get(&named.name)?;
            let found = skipped(&self.role_logic(role), role.condition.as_ref()?, "");
            let reason = found.first()?.message.split_once(", ")?.1.to_owned();
            let message =
                format!("the deny of the derived role `{}` is skipped, {reason}", named.name);
            Some(Diagnostic::lint(Lint::LenientDeny, &named.location, message))
        };
        named.iter().filter_map(lost).collect()
    }
}

fn skipped(logic: &Logic<'_>, condition: &Condition, what: &str) -> Vec<Diagnostic> {
    logic.refuel();
    let mut search = Search { logic, what, found: Vec::new() };
    search.visit(condition, &Facts::default(), true);
    search.found
}

struct Search<'s, 'l> {
    logic: &'s Logic<'l>,
    what: &'s str,
    found: Vec<Diagnostic>,
}

impl Search<'_, '_> {
    /// Looks for a leaf that can fail where that makes the condition less likely to hold.
    fn visit(&mut self, condition: &Condition, facts: &Facts, counts_for: bool) {
        let (parts, truth) = match condition {
            Condition::Expr(expr) if counts_for => return self.leaf(expr, facts),
            Condition::Expr(_) => return,
            Condition::All(parts) => (parts, true),
            Condition::Any(parts) | Condition::None(parts) => (parts, false),
        };
        let counts_for = counts_for != matches!(condition, Condition::None(_));
        for (at, part) in parts.iter().enumerate() {
            // The outcome of this part matters only where all others have the outcome `truth`.
            let mut known = facts.clone();
            for (_, other) in parts.iter().enumerate().filter(|(other, _)| *other != at) {
                self.logic.learn_condition(&mut known, other, truth);
            }
            if self.logic.is_spent() {
                return;
            }
            self.visit(part, &known, counts_for);
        }
    }

    fn leaf(&mut self, expr: &ExprSource, facts: &Facts) {
        let Some(tree) = self.logic.tree(&expr.text) else { return };
        let is_missing = self.logic.outcomes(&tree, facts).fails.missing;
        if !is_missing || self.logic.is_spent() {
            return;
        }
        let unguarded = self.logic.unguarded(&tree, facts);
        let (at, reads) = match &unguarded {
            Some((at, path)) => (at.span.start, format!("`{}`", path.shown())),
            None => (0, "an attribute that it reads".to_owned()),
        };
        let message = format!("the deny of {} is skipped, where {reads} is missing", self.what);
        let finding = Diagnostic::lint(Lint::LenientDeny, &expr.at, message);
        self.found.push(finding.at(expr.locate(at)));
    }
}
