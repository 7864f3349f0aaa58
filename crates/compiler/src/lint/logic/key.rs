//! The name by which the same expression is known again, wherever it stands and however it is spaced.

use std::fmt::Write as _;

use super::path::Path;
use super::{Facts, Logic};
use crate::cel::Expr;
use crate::cel::ast::{BinaryOp, ExprKind};
use crate::policy::model::Condition;

impl Logic<'_> {
    /// Returns the name of an expression, its variables written out; nothing if that is too long.
    pub(super) fn key(&self, expr: &Expr) -> Option<String> {
        let mut key = String::new();
        self.write(expr, &Facts::default(), &mut key);
        (key.len() <= MAX_KEY).then_some(key)
    }

    /// Returns the name of a whole condition.
    pub(in crate::lint) fn condition_key(&self, condition: &Condition) -> Option<String> {
        let (word, parts) = match condition {
            Condition::Expr(expr) => return self.key(&*self.tree(&expr.text)?),
            Condition::All(parts) => ("all", parts),
            Condition::Any(parts) => ("any", parts),
            Condition::None(parts) => ("none", parts),
        };
        let parts = parts.iter().map(|part| self.condition_key(part));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let key = format!("{word}[{}]", parts.join("\u{1}"));
        (key.len() <= MAX_KEY).then_some(key)
    }

    fn write(&self, expr: &Expr, facts: &Facts, key: &mut String) {
        if key.len() > MAX_KEY || !self.burn() {
            key.push_str(&"?".repeat(MAX_KEY));
            return;
        }
        if let Some(inner) = self.variable(expr, facts) {
            return self.write(&inner, facts, key);
        }
        if let Some(path) = Path::of(expr, facts) {
            let _ = write!(key, "{:?}", path.keys());
            return;
        }
        match &expr.kind {
            ExprKind::Literal(literal) => {
                let _ = write!(key, "{literal:?}");
            }
            ExprKind::Unary(op, inner) => {
                let _ = write!(key, "{}(", op.name());
                self.write(inner, facts, key);
                key.push(')');
            }
            ExprKind::Binary(BinaryOp::Eq, left, right) => {
                let mut sides = [left, right].map(|side| {
                    let mut key = String::new();
                    self.write(side, facts, &mut key);
                    key
                });
                sides.sort();
                let _ = write!(key, "==({})", sides.join(","));
            }
            ExprKind::Binary(op, left, right) => {
                let _ = write!(key, "{}(", op.text());
                self.write(left, facts, key);
                key.push(',');
                self.write(right, facts, key);
                key.push(')');
            }
            ExprKind::Has { operand, field } => {
                key.push_str("has(");
                self.write(operand, facts, key);
                let _ = write!(key, ",{field:?})");
            }
            ExprKind::Call { target, function, args } => {
                let _ = write!(key, "{function}{}(", if target.is_some() { "." } else { "" });
                for part in target.iter().map(AsRef::as_ref).chain(args) {
                    self.write(part, facts, key);
                    key.push(',');
                }
                key.push(')');
            }
            ExprKind::List(elements) if elements.iter().all(|element| !element.optional) => {
                key.push('[');
                for element in elements {
                    self.write(&element.value, facts, key);
                    key.push(',');
                }
                key.push(']');
            }
            // With its spans: the same only if it is the same text.
            other => {
                let _ = write!(key, "{other:?}");
            }
        }
    }
}

/// Bytes of the longest name.
const MAX_KEY: usize = 4_000;
