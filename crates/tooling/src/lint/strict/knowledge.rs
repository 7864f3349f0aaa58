//! The knowledge about a request where one rule holds, and the outcome of another rule there.
//!
//! The reads of a rule that holds are present, and its parts have an outcome. `||` and `&&` ignore
//! an error where the other side decides, so a rule that repeats such a part does not fail.

use std::collections::BTreeMap;

use crate::lint::logic::{Facts, Logic};
use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, UnaryOp};
use wardgate_compiler::policy::model::Condition;

/// The knowledge about a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// The present attributes.
    pub(super) facts: Facts,
    /// The outcomes of expressions, by their keys.
    truths: BTreeMap<String, bool>,
}

impl Knowledge {
    pub(super) fn new(facts: Facts) -> Self {
        Self { facts, truths: BTreeMap::new() }
    }

    /// Adds that a condition holds. Returns `None` if it never does, or if the work for that is too
    /// large.
    pub(super) fn and(mut self, logic: &Logic<'_>, condition: &Condition) -> Option<Self> {
        logic.condition(condition).yes.then_some(())?;
        logic.refuel();
        logic.learn_condition(&mut self.facts, condition, true);
        for expr in condition.expressions() {
            let tree = logic.tree(&expr.text)?;
            logic.learn_all(&mut self.facts, &tree);
        }
        logic.each_implied(condition, true, &mut |tree, truth| self.add(logic, tree, truth));
        (!logic.is_spent()).then_some(self)
    }

    fn add(&mut self, logic: &Logic<'_>, expr: &Expr, truth: bool) {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.add(logic, inner, !truth),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), budget, right) => {
                if truth == (*op == BinaryOp::And) {
                    self.add(logic, budget, truth);
                    self.add(logic, right, truth);
                }
            }
            _ => match logic.variable(expr, &Facts::default()) {
                Some(inner) => self.add(logic, &inner, truth),
                None => self.truths.extend(logic.key(expr).map(|key| (key, truth))),
            },
        }
    }

    /// Returns the verdict of a condition, if it is known and nothing fails before.
    pub(super) fn verdict(&self, logic: &Logic<'_>, condition: &Condition) -> Option<bool> {
        let (parts, ending, at_the_end) = match condition {
            Condition::Expr(expr) => return self.outcome(logic, &*logic.tree(&expr.text)?),
            Condition::All(parts) => (parts, false, true),
            Condition::Any(parts) => (parts, true, false),
            Condition::None(parts) => (parts, true, true),
        };
        for part in parts {
            if self.verdict(logic, part)? == ending {
                return Some(!at_the_end);
            }
        }
        Some(at_the_end)
    }

    fn outcome(&self, logic: &Logic<'_>, expr: &Expr) -> Option<bool> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.outcome(logic, inner).map(|it| !it),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), budget, right) => {
                let decides = *op == BinaryOp::Or;
                match (self.outcome(logic, budget), self.outcome(logic, right)) {
                    (Some(one), _) | (_, Some(one)) if one == decides => Some(decides),
                    (Some(_), Some(_)) => Some(!decides),
                    _ => None,
                }
            }
            _ => match logic.variable(expr, &Facts::default()) {
                Some(inner) => self.outcome(logic, &inner),
                None => self.truths.get(&logic.key(expr)?).copied(),
            },
        }
    }
}
