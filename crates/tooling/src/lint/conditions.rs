//! Conditions, and parts of conditions, with the same outcome for every request.
//!
//! The innermost part that explains the outcome is reported, and nothing around it. A literal is
//! intended where it is a branch of a choice, so only deciding parts are checked.

use super::logic::{Facts, Logic, Outcomes, flatten};
use super::{Lint, Linter};
use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, UnaryOp};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::Condition;

impl Linter<'_> {
    pub(super) fn conditions(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for policy in &self.resolved.resource {
            let conditions = policy.rules.iter().map(|rule| &rule.condition);
            examine_all(&self.logic(&policy.head), conditions, &mut found);
            for role in policy.derived_roles.values() {
                examine_all(&self.role_logic(role), [&role.condition], &mut found);
            }
        }
        for policy in &self.resolved.principal {
            let rules = policy.rules.iter().flat_map(|rule| &rule.actions);
            let conditions = rules.map(|rule| &rule.condition);
            examine_all(&self.logic(&policy.head), conditions, &mut found);
        }
        for policy in &self.resolved.role {
            let conditions = policy.rules.iter().map(|rule| &rule.condition);
            examine_all(&self.logic(&policy.head), conditions, &mut found);
        }
        found
    }
}

fn examine_all<'c>(
    logic: &Logic<'_>,
    conditions: impl IntoIterator<Item = &'c Option<Condition>>,
    found: &mut Vec<Diagnostic>,
) {
    conditions.into_iter().flatten().for_each(|condition| examine(logic, condition, found));
}

fn examine(logic: &Logic<'_>, condition: &Condition, found: &mut Vec<Diagnostic>) {
    let before = found.len();
    match condition {
        Condition::Expr(expr) => return examine_expression(logic, expr, found),
        Condition::All(parts) | Condition::Any(parts) | Condition::None(parts) => {
            parts.iter().for_each(|part| examine(logic, part, found));
        }
    }
    if found.len() > before {
        return;
    }
    let verdict = logic.condition(condition);
    if let (Some((lint, word)), Some(first)) = (constant(verdict), condition.expressions().first())
    {
        let message = match word {
            "true" => "this condition and those beside it are never false together".to_owned(),
            _ => "this condition and those beside it can never hold together".to_owned(),
        };
        let location = first.locate(0);
        found.push(Diagnostic::lint(lint, &first.at, message).at(location));
    }
}

fn examine_expression(logic: &Logic<'_>, expr: &ExprSource, found: &mut Vec<Diagnostic>) {
    let Some(tree) = logic.tree(&expr.text) else { return };
    logic.refuel();
    let whole = logic.outcomes(&tree, &Facts::default());
    let part = part(logic, &tree);
    let (tree, outcomes, what) = match (constant(whole), part) {
        (None, Some((part, outcomes))) => (part, outcomes, "this part of the condition"),
        (Some(_), _) => (&*tree, whole, "this condition"),
        (None, None) => return,
    };
    let Some((lint, word)) = constant(outcomes) else { return };
    let unless = if outcomes.fails.any() && word == "true" { ", unless it fails" } else { "" };
    let message = format!("{what} is always {word}{unless}");
    let finding = Diagnostic::lint(lint, &expr.at, message).at(expr.locate(tree.span.start));
    found.push(match logic.other_type(tree) {
        Some(other) => finding.expected("`bool`").found(format!("`{other}`")),
        None => finding,
    });
}

/// Finds the first operand that decides nothing.
fn part<'e>(logic: &Logic<'_>, expr: &'e Expr) -> Option<(&'e Expr, Outcomes)> {
    let mut operands = Vec::new();
    match &expr.kind {
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
            flatten(expr, *op, &mut operands);
        }
        ExprKind::Unary(UnaryOp::Not, inner) => operands.push(inner),
        ExprKind::Conditional(condition, ..) => operands.push(condition),
        _ => return None,
    }
    operands.into_iter().find_map(|operand| {
        let found = logic.outcomes(operand, &Facts::default());
        constant(found).map(|_| (operand, found)).or_else(|| part(logic, operand))
    })
}

fn constant(found: Outcomes) -> Option<(Lint, &'static str)> {
    if found.is_never() {
        return Some((Lint::ConditionAlwaysFalse, "false"));
    }
    found.is_always().then_some((Lint::ConditionAlwaysTrue, "true"))
}
