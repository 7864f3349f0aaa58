//! Failures of an expression, and their causes.

use super::path::Path;
use super::{Facts, Fails, Logic};
use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind};

impl Logic<'_> {
    /// Returns why `expr` can fail where the `facts` hold.
    pub(super) fn fails(&self, expr: &Expr, facts: &Facts) -> Fails {
        if !self.burn() {
            return Fails::MISSING.or(Fails::BROKEN);
        }
        if let Some(path) = Path::of(expr, facts) {
            return self.fails_to_read(expr, &path, facts);
        }
        if !matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Ident(_))
            && let Some(known) = self.constant(expr, facts)
        {
            return if known.is_some() { Fails::NONE } else { Fails::BROKEN };
        }
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Global(_) | ExprKind::TypeName(_) => {
                Fails::NONE
            }
            ExprKind::Has { operand, .. } => match Path::of(operand, facts) {
                Some(path) if is_map(&path) => Fails::NONE,
                _ => self.fails(operand, facts).or(Fails::BROKEN),
            },
            ExprKind::Unary(super::UnaryOp::Not, _)
            | ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..)
            // A choice may well be between values that are no booleans.
            | ExprKind::Conditional(..) => self.outcomes(expr, facts).fails,
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, ..) => self.parts_fail(expr, facts),
            ExprKind::Binary(BinaryOp::In, _, range) => {
                let parts = self.parts_fail(expr, facts);
                let is_range = matches!(range.kind, ExprKind::List(_))
                    || Path::of(range, facts).is_some_and(|path| is_range(&path));
                if is_range { parts } else { parts.or(Fails::BROKEN) }
            }
            ExprKind::List(_) => self.parts_fail(expr, facts),
            ExprKind::Comprehension(node) => {
                let inner = facts.hiding(&expr.kind.declared());
                let parts = node.filter.iter().chain([&node.body]);
                let parts = parts.map(|part| self.fails(part, &inner));
                parts.fold(self.fails(&node.range, facts).or(Fails::BROKEN), Fails::or)
            }
            ExprKind::Bind { value: outer, body, .. } | ExprKind::OptMap { target: outer, body, .. } => {
                let inner = facts.hiding(&expr.kind.declared());
                self.fails(outer, facts).or(self.fails(body, &inner)).or(Fails::BROKEN)
            }
            _ => self.parts_fail(expr, facts).or(Fails::BROKEN),
        }
    }

    fn parts_fail(&self, expr: &Expr, facts: &Facts) -> Fails {
        let children = expr.kind.children();
        children.into_iter().map(|child| self.fails(child, facts)).fold(Fails::NONE, Fails::or)
    }

    fn fails_to_read(&self, expr: &Expr, path: &Path<'_>, facts: &Facts) -> Fails {
        match path.keys() {
            ["P" | "R"] | ["P" | "R", _] | ["request", ..] if path.keys().len() <= 3 => Fails::NONE,
            ["V", _, ..] if facts.has(path.keys()) => Fails::NONE,
            ["V", name, rest @ ..] => match self.variables.get(name) {
                Some(inner) if rest.is_empty() => self.fails(inner, facts),
                Some(inner) => self.fails(inner, facts).or(Fails::MISSING),
                None => Fails::BROKEN,
            },
            ["C", ..] => match self.constant(expr, facts) {
                Some(Some(_)) => Fails::NONE,
                _ => Fails::BROKEN,
            },
            ["G", name] if self.globals.contains_key(*name) => Fails::NONE,
            ["G" | "V" | "runtime", ..] => Fails::BROKEN,
            keys if facts.has(keys) => Fails::NONE,
            _ => Fails::MISSING,
        }
    }

    /// Returns the first attribute that `expr` reads and that no fact proves present.
    pub(in crate::lint) fn unguarded<'e>(
        &self,
        expr: &'e Expr,
        facts: &Facts,
    ) -> Option<(&'e Expr, Path<'e>)> {
        let mut known = facts.clone();
        self.learn_guards(&mut known, expr);
        self.first_missing(expr, &known)
    }

    /// Returns the part of `expr` that reads such an attribute, and its name: the one that a
    /// variable reads, where it is behind one.
    pub(in crate::lint) fn missing_read(
        &self,
        expr: &Expr,
        facts: &Facts,
    ) -> Option<(usize, String)> {
        if !self.burn() {
            return None;
        }
        let (at, path) = self.unguarded(expr, facts)?;
        let inner = match path.keys() {
            ["V", name] => self.variables.get(name),
            _ => None,
        };
        let inner = inner.and_then(|inner| self.missing_read(inner, facts));
        let name = inner.map_or_else(|| path.shown(), |(_, name)| name);
        Some((at.span.start, name))
    }

    pub(in crate::lint) fn learn_guards(&self, facts: &mut Facts, expr: &Expr) {
        if matches!(expr.kind, ExprKind::Has { .. }) {
            *facts = self.with(facts, expr, true);
        }
        expr.kind.children().into_iter().for_each(|child| self.learn_guards(facts, child));
    }

    fn first_missing<'e>(&self, expr: &'e Expr, facts: &Facts) -> Option<(&'e Expr, Path<'e>)> {
        if let Some(path) = Path::of(expr, facts) {
            let missing = self.fails_to_read(expr, &path, facts).missing;
            return missing.then_some((expr, path));
        }
        let inner = facts.hiding(&expr.kind.declared());
        expr.kind.children().into_iter().find_map(|child| self.first_missing(child, &inner))
    }
}

/// Returns true if a part of the request is a map by its type, so that `has` cannot fail on it.
fn is_map(path: &Path<'_>) -> bool {
    matches!(
        path.keys(),
        ["P" | "R" | "C" | "V" | "G"] | ["P" | "R", "attr"] | ["request", "auxData", "jwt"]
    )
}

/// Returns true if `in` cannot fail on a part of the request.
fn is_range(path: &Path<'_>) -> bool {
    is_map(path) || matches!(path.keys(), ["P", "roles"])
}
