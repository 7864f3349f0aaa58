//! The expression of a condition that can fail for want of an attribute.

use crate::lint::logic::{Facts, Logic};
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::Condition;

/// Returns the expression of a condition that can fail for want of an attribute, with the offset of
/// the read in it and the name of the attribute.
pub(super) fn located<'c>(
    logic: &Logic<'_>,
    condition: &'c Condition,
    facts: &Facts,
) -> Option<(&'c ExprSource, usize, String)> {
    logic.refuel();
    let mut known = facts.clone();
    for expr in condition.expressions() {
        if let Some(tree) = logic.tree(&expr.text) {
            logic.learn_guards(&mut known, &tree);
        }
    }
    let is_missing = logic.verdict(condition, &known).fails.missing && !logic.is_spent();
    let found = is_missing.then(|| first(logic, condition, &known)).flatten();
    found.filter(|_| !logic.is_spent())
}

/// Returns the first expression that can fail, in the order of evaluation.
fn first<'c>(
    logic: &Logic<'_>,
    condition: &'c Condition,
    facts: &Facts,
) -> Option<(&'c ExprSource, usize, String)> {
    let (parts, truth) = match condition {
        Condition::Expr(expr) => {
            let tree = logic.tree(&expr.text)?;
            let is_missing = logic.outcomes(&tree, facts).fails.missing;
            let (offset, reads) = is_missing.then(|| logic.missing_read(&tree, facts)).flatten()?;
            return Some((expr, offset, reads));
        }
        Condition::All(parts) => (parts, true),
        Condition::Any(parts) | Condition::None(parts) => (parts, false),
    };
    let mut known = facts.clone();
    for part in parts {
        if let Some(found) = first(logic, part, &known) {
            return Some(found);
        }
        logic.learn_condition(&mut known, part, truth);
    }
    None
}
