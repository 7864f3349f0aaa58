//! The reads of an expression, in one spelling for all spellings of authors.

use super::Facts;
use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{ExprKind, Literal};

/// The keys from a name of the environment down to a value: `R`, `attr`, `owner`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lint) struct Path<'e> {
    keys: Vec<&'e str>,
}

impl<'e> Path<'e> {
    /// Returns the path that `expr` reads, if it only follows literal keys.
    pub(in crate::lint) fn of(expr: &'e Expr, facts: &Facts) -> Option<Self> {
        let mut keys = Vec::new();
        let mut at = expr;
        let root = loop {
            match &at.kind {
                ExprKind::Ident(name) => break name.as_str(),
                ExprKind::Select { operand, field, optional: false } => {
                    keys.push(field.as_str());
                    at = operand;
                }
                ExprKind::Index { operand, index, optional: false } => {
                    let ExprKind::Literal(Literal::String(key)) = &index.kind else { return None };
                    keys.push(key);
                    at = operand;
                }
                _ => return None,
            }
        };
        if facts.hides(root) {
            return None;
        }
        let root = root.trim_start_matches('.');
        keys.push(ROOTS.iter().find(|(name, _)| *name == root).map(|(_, short)| *short)?);
        keys.reverse();
        Some(Self { keys: normal(keys) })
    }

    pub(in crate::lint) fn keys(&self) -> &[&'e str] {
        &self.keys
    }

    /// Returns true if every request has it, and if it is equal to itself.
    pub(super) fn is_certain(&self) -> bool {
        matches!(self.keys.as_slice(), ["P" | "R", field] if *field != "attr")
    }

    /// Returns the path as an author would write it.
    pub(in crate::lint) fn shown(&self) -> String {
        self.keys.join(".")
    }
}

fn normal(keys: Vec<&str>) -> Vec<&str> {
    let mut keys = match keys.as_slice() {
        ["request", "principal", rest @ ..] => [&["P"], rest].concat(),
        ["request", "resource", rest @ ..] => [&["R"], rest].concat(),
        _ => keys,
    };
    let spelled = |key: &str| match key {
        "aux_data" => Some("auxData"),
        "policy_version" => Some("policyVersion"),
        "effective_derived_roles" => Some("effectiveDerivedRoles"),
        _ => None,
    };
    if let Some(key) = keys.get_mut(1)
        && let Some(other) = spelled(key)
    {
        *key = other;
    }
    keys
}

const ROOTS: [(&str, &str); 10] = [
    ("P", "P"),
    ("R", "R"),
    ("request", "request"),
    ("V", "V"),
    ("variables", "V"),
    ("C", "C"),
    ("constants", "C"),
    ("G", "G"),
    ("globals", "G"),
    ("runtime", "runtime"),
];
