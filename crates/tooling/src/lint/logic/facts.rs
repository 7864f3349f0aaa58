//! The facts about a request at one part of a condition.

use std::collections::BTreeSet;

use super::Logic;
use super::path::Path;
use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, Literal, UnaryOp};

/// The parts of the request that are there, and the names that macros have taken.
#[derive(Clone, Debug, Default)]
pub(in crate::lint) struct Facts {
    present: BTreeSet<Vec<String>>,
    hidden: Vec<String>,
}

impl Facts {
    /// Returns true if `keys` lead to a value.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        let leads = |known: &Vec<String>| known.iter().take(keys.len()).eq(keys.iter().copied());
        self.present.iter().any(|known| known.len() >= keys.len() && leads(known))
    }

    pub(super) fn hides(&self, name: &str) -> bool {
        self.hidden.iter().any(|hidden| hidden == name)
    }

    /// Returns the same where a macro has declared names.
    pub(in crate::lint) fn hiding(&self, names: &[&str]) -> Self {
        let mut inner = self.clone();
        inner.hidden.extend(names.iter().map(|name| (*name).to_owned()));
        inner
    }

    pub(in crate::lint) fn add(&mut self, keys: &[&str]) {
        self.present.insert(keys.iter().map(|key| (*key).to_owned()).collect());
    }
}

impl Logic<'_> {
    /// Returns `facts` and those that hold where `expr` has the outcome `truth`.
    pub(super) fn with(&self, facts: &Facts, expr: &Expr, truth: bool) -> Facts {
        let mut more = facts.clone();
        self.learn(&mut more, expr, truth);
        more
    }

    pub(super) fn learn(&self, facts: &mut Facts, expr: &Expr, truth: bool) {
        if !self.burn() {
            return;
        }
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.learn(facts, inner, !truth),
            ExprKind::Binary(BinaryOp::And, left, right) if truth => {
                self.learn(facts, left, true);
                self.learn(facts, right, true);
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if !truth => {
                self.learn(facts, left, false);
                self.learn(facts, right, false);
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) | ExprKind::Conditional(..) => {}
            ExprKind::Has { operand, field } => {
                if let Some(path) = Path::of(operand, facts) {
                    let mut keys = path.keys().to_vec();
                    keys.extend(truth.then_some(field.as_str()));
                    facts.add(&keys);
                }
            }
            ExprKind::Binary(BinaryOp::In, key, map) if truth => {
                self.learn_reads(facts, expr);
                if let ExprKind::Literal(Literal::String(key)) = &key.kind
                    && let Some([of @ ("P" | "R"), "attr"]) =
                        Path::of(map, facts).as_ref().map(Path::keys)
                {
                    facts.add(&[of, "attr", key]);
                }
            }
            _ => match self.variable(expr, facts) {
                Some(inner) => self.learn(facts, &inner, truth),
                None => self.learn_reads(facts, expr),
            },
        }
    }

    /// Adds every read of an expression, for all of its outcomes.
    pub(in crate::lint) fn learn_all(&self, facts: &mut Facts, expr: &Expr) {
        self.learn_parts(facts, expr, ExprKind::children);
    }

    /// Adds the reads of an expression that did not fail.
    fn learn_reads(&self, facts: &mut Facts, expr: &Expr) {
        self.learn_parts(facts, expr, evaluated);
    }

    /// Adds the read that an expression is, or else those of its `parts`.
    fn learn_parts(&self, facts: &mut Facts, expr: &Expr, parts: fn(&ExprKind) -> Vec<&Expr>) {
        if !self.burn() {
            return;
        }
        if let Some(path) = Path::of(expr, facts) {
            facts.add(path.keys());
            if let Some(inner) = self.variable(expr, facts) {
                self.learn_parts(facts, &inner, parts);
            }
            return;
        }
        parts(&expr.kind).into_iter().for_each(|part| self.learn_parts(facts, part, parts));
    }
}

/// Returns the parts of an expression that are evaluated in any case.
fn evaluated(kind: &ExprKind) -> Vec<&Expr> {
    match kind {
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..)
        | ExprKind::Bind { .. }
        | ExprKind::OptMap { .. }
        | ExprKind::Block { .. } => Vec::new(),
        ExprKind::Conditional(condition, ..) => vec![condition],
        ExprKind::Comprehension(node) => vec![&node.range],
        kind => kind.children(),
    }
}
