//! Reads in one spelling for all spellings of authors.
//!
//! `P.attr.a`, `request.principal.attr.a` and `P.attr["a"]` are one read, as they are when policies
//! are compiled.

use wardgate_compiler::cel::ast::{Expr, ExprKind, Literal};

use super::constant::quoted;

/// The keys from a root down to a value.
pub(super) struct Read<'e> {
    /// The name at the root, without a leading dot.
    pub(super) root: &'e str,
    /// True if the name has a leading dot, which passes over the names of macros.
    pub(super) is_absolute: bool,
    steps: Vec<Step<'e>>,
}

struct Step<'e> {
    key: &'e str,
    /// True if it was written as an index.
    is_index: bool,
}

impl<'e> Read<'e> {
    /// Returns the read that `expr` is, if it only follows literal keys.
    pub(super) fn of(expr: &'e Expr) -> Option<Self> {
        let mut steps = Vec::new();
        let mut at = expr;
        loop {
            match &at.kind {
                ExprKind::Ident(name) => {
                    let root = name.trim_start_matches('.');
                    steps.reverse();
                    return Some(Self { root, is_absolute: root.len() < name.len(), steps });
                }
                ExprKind::Select { operand, field, optional: false } => {
                    steps.push(Step { key: field, is_index: false });
                    at = operand;
                }
                ExprKind::Index { operand, index, optional: false } => {
                    let ExprKind::Literal(Literal::String(key)) = &index.kind else { return None };
                    steps.push(Step { key, is_index: true });
                    at = operand;
                }
                _ => return None,
            }
        }
    }

    /// Returns the name of the member of `V`, `C` or `G` that this is: the only step.
    pub(super) fn only_field(&self) -> Option<&'e str> {
        match self.steps.as_slice() {
            [Step { key, is_index: false }] => Some(key),
            _ => None,
        }
    }

    /// Returns the shortest spelling of a read of the request; nothing if the root is another, or
    /// if a message is read in a way that has no spelling of its own.
    pub(super) fn spelled(&self) -> Option<String> {
        let (mut spelled, mut steps) = match self.root {
            "P" | "R" | "runtime" | "G" | "globals" => {
                (short(self.root).to_owned(), self.steps.as_slice())
            }
            "request" => match self.steps.as_slice() {
                [Step { key: "principal", is_index: false }, rest @ ..] => ("P".to_owned(), rest),
                [Step { key: "resource", is_index: false }, rest @ ..] => ("R".to_owned(), rest),
                [Step { key: "aux_data" | "auxData", is_index: false }, rest @ ..] => {
                    ("request.auxData".to_owned(), rest)
                }
                _ => return None,
            },
            _ => return None,
        };
        // The first key below a message is a field of it, and an index is none.
        if let [Step { key, is_index }, rest @ ..] = steps {
            if *is_index {
                return None;
            }
            spelled.push('.');
            spelled.push_str(field(key));
            steps = rest;
        }
        for Step { key, .. } in steps {
            if is_name(key) {
                spelled.push('.');
                spelled.push_str(key);
            } else {
                spelled.push_str(&format!("[{}]", quoted(key)));
            }
        }
        Some(spelled)
    }
}

fn short(root: &str) -> &str {
    if root == "globals" { "G" } else { root }
}

fn field(key: &str) -> &str {
    match key {
        "policy_version" => "policyVersion",
        "effective_derived_roles" => "effectiveDerivedRoles",
        _ => key,
    }
}

/// Returns true if a key can follow a dot in every expression.
pub(super) fn is_name(key: &str) -> bool {
    let mut chars = key.chars();
    let is_start = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    is_start && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && !RESERVED.contains(&key)
}

const RESERVED: [&str; 4] = ["in", "true", "false", "null"];
