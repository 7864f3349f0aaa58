//! The meaning of names and of fields of values.
//!
//! A name that a macro declares hides one of the environment, and a dotted name is the longest one
//! that is known.

use super::super::ast::{CelError, Expr, ExprKind, Span, qualified_name};
use super::super::env;
use super::super::types::Type;
use super::Checker;
use crate::nearest::nearest;

impl Checker<'_> {
    pub(super) fn ident(&mut self, expr: &mut Expr) -> Type {
        let ExprKind::Ident(name) = &expr.kind else { return Type::Dyn };
        if let Some((_, local)) = self.scopes.iter().rev().find(|(local, _)| local == name) {
            return local.clone();
        }
        if let Some((kind, found)) = self.global(name) {
            expr.kind = kind;
            return found;
        }
        let name = name.clone();
        self.unknown_name(&name, expr.span);
        expr.kind = ExprKind::Global(name.trim_start_matches('.').to_owned());
        Type::Error
    }

    fn global(&self, name: &str) -> Option<(ExprKind, Type)> {
        self.env.candidates(name).into_iter().find_map(|candidate| {
            if let Some(found) = self.env.variable(&candidate) {
                return Some((ExprKind::Global(candidate), found.clone()));
            }
            let found = env::type_named(&candidate)?;
            Some((ExprKind::TypeName(candidate), Type::type_of(found)))
        })
    }

    pub(super) fn select(&mut self, expr: &mut Expr) -> Type {
        if let Some(name) = qualified_name(expr)
            && !self.starts_with_local(&name)
            && let Some((kind, found)) = self.global(&name)
        {
            expr.kind = kind;
            return found;
        }
        let span = expr.span;
        match &mut expr.kind {
            ExprKind::Select { operand, field, optional } => {
                self.field(operand, field, *optional, span)
            }
            _ => Type::Error,
        }
    }

    fn starts_with_local(&self, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or_default();
        self.scopes.iter().any(|(local, _)| local == first)
    }

    pub(super) fn field(
        &mut self,
        operand: &mut Expr,
        field: &str,
        optional: bool,
        span: Span,
    ) -> Type {
        let operand = self.visit(operand);
        let (target, was_optional) = self.types.substitute(&operand, false).unwrap_optional();
        let found = match target {
            Type::Map(_, value) => *value,
            Type::Message(message) => env::field_type(&message, field).unwrap_or_else(|| {
                let error = CelError::new(format!("there is no field `{field}`"), span);
                self.errors
                    .push(CelError { expected: env::field_suggestion(&message, field), ..error });
                Type::Error
            }),
            Type::Var(_) => {
                self.types.assignable(&[Type::Dyn], &[target]);
                Type::Dyn
            }
            Type::Dyn | Type::Error => Type::Dyn,
            other => {
                self.report(
                    format!("`{field}` cannot be read from a value without fields"),
                    span,
                    &other,
                    MAP,
                );
                Type::Dyn
            }
        };
        let found = if was_optional || optional { Type::optional(found) } else { found };
        self.types.substitute(&found, false)
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        let error = CelError::new(format!("there is no name `{name}`"), span);
        let locals = self.scopes.iter().map(|(local, _)| local.as_str());
        let expected = self.env.intended(name).map(str::to_owned).or_else(|| {
            let names = locals.chain(self.env.names());
            nearest(name, names).map(|name| format!("`{name}`"))
        });
        self.errors.push(CelError { expected, ..error });
    }
}

const MAP: &str = "a map or a message";
