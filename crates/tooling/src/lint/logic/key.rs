//! The key of an expression, the same at every position and with every spacing.

use std::fmt::Write as _;

use super::path::Path;
use super::{Facts, Logic};
use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind};
use wardgate_compiler::policy::model::Condition;

impl Logic<'_> {
    /// Returns the name of an expression, its variables written out; nothing if that is too long.
    pub(in crate::lint) fn key(&self, expr: &Expr) -> Option<String> {
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
        if key.len() > MAX_KEY {
            return;
        }
        if !self.burn() {
            // A name of this length is never written by an author, so the key is too long.
            return key.push_str(&"?".repeat(MAX_KEY.saturating_add(1)));
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
            ExprKind::Unary(op, inner) => self.call(op.name(), [&**inner], facts, key),
            ExprKind::Binary(BinaryOp::Eq, left, right) => {
                let mut sides = [left, right].map(|side| {
                    let mut key = String::new();
                    self.write(side, facts, &mut key);
                    key
                });
                if let [left, right] = &mut sides
                    && right < left
                {
                    core::mem::swap(left, right);
                }
                let _ = write!(key, "==({})", sides.join(","));
            }
            ExprKind::Binary(op, left, right) => {
                self.call(op.text(), [&**left, &**right], facts, key);
            }
            ExprKind::Has { operand, field } => {
                self.call("has", [&**operand], facts, key);
                let _ = write!(key, ".{field:?}");
            }
            ExprKind::Call { target, function, args } => {
                let dot = if target.is_some() { "." } else { "" };
                let parts = target.iter().map(AsRef::as_ref).chain(args);
                self.call(&format!("{function}{dot}"), parts, facts, key);
            }
            ExprKind::List(elements) if elements.iter().all(|element| !element.optional) => {
                self.call("[]", elements.iter().map(|element| &element.value), facts, key);
            }
            // With its spans: the same only if it is the same text.
            other => {
                let _ = write!(key, "{other:?}");
            }
        }
    }

    fn call<'e>(
        &self,
        name: &str,
        parts: impl IntoIterator<Item = &'e Expr>,
        facts: &Facts,
        key: &mut String,
    ) {
        key.push_str(name);
        key.push('(');
        for part in parts {
            self.write(part, facts, key);
            key.push(',');
        }
        key.push(')');
    }
}

/// Bytes of the longest name.
const MAX_KEY: usize = 4_000;
