//! Resolves every name and infers every type, in place, and reports every certain error.
//!
//! The rules and the wording are those of the reference implementation: an expression of unknown
//! type agrees with everything, so an expression that the checker accepts may still fail in
//! evaluation.

mod bindings;
mod calls;
mod format;
mod literals;
mod misuse;
mod names;
#[cfg(test)]
mod tests;

use super::ast::{CelError, Expr, ExprKind, Span};
use super::env::Env;
use super::types::{Type, Unifier};
use super::validate;
use crate::limits::MAX_EXPRESSION_ERRORS;
use literals::literal_type;

/// An expression whose names are resolved and whose types agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The tree, with variables and types of the environment as nodes of their own.
    pub expr: Expr,
    /// The type of its value.
    pub result: Type,
    /// The text it came from, for messages; empty unless set by the caller.
    pub source: String,
    /// True if its variables are those of a policy condition.
    pub is_cerbos: bool,
}

impl Checked {
    /// Returns the same with the text it came from.
    #[must_use]
    pub fn with_source(mut self, source: &str) -> Self {
        source.clone_into(&mut self.source);
        self
    }
}

/// Resolves the names and infers the types of `expr`.
///
/// # Errors
///
/// Everything that is wrong, in source order; never an empty list.
pub fn check(expr: &Expr, env: &Env) -> Result<Checked, Vec<CelError>> {
    let mut checker = Checker {
        env,
        scopes: Vec::new(),
        types: Unifier::default(),
        elements: Vec::new(),
        formats: Vec::new(),
        errors: Vec::new(),
    };
    let mut expr = expr.clone();
    let result = checker.visit(&mut expr);
    let result = checker.types.substitute(&result, true);
    let mut errors = std::mem::take(&mut checker.errors);
    if env.checks_types() && errors.is_empty() {
        validate::literals(&expr, &mut errors);
        let Checker { formats, types, .. } = &mut checker;
        errors.extend(formats.iter().filter_map(|call| call.fault(types)));
    }
    if env.checks_types() && !errors.is_empty() {
        wardgate_engine::order::sort_by(&mut errors, |a, b| a.span.start.cmp(&b.span.start));
        errors.truncate(MAX_EXPRESSION_ERRORS);
        return Err(errors);
    }
    Ok(Checked { expr, result, source: String::new(), is_cerbos: env.is_cerbos() })
}

struct Checker<'e> {
    env: &'e Env,
    /// The names that macros declare, innermost last.
    scopes: Vec<(String, Type)>,
    types: Unifier,
    /// The types in the literal list that was visited last.
    elements: Vec<Type>,
    formats: Vec<format::Call>,
    errors: Vec<CelError>,
}

impl Checker<'_> {
    fn visit(&mut self, expr: &mut Expr) -> Type {
        let span = expr.span;
        match &mut expr.kind {
            ExprKind::Literal(literal) => literal_type(literal),
            ExprKind::Ident(_) | ExprKind::Global(_) | ExprKind::TypeName(_) => self.ident(expr),
            ExprKind::Select { .. } => self.select(expr),
            ExprKind::Has { operand, field } => {
                self.field(operand, field, false, span);
                Type::Bool
            }
            ExprKind::Index { operand, index, optional } => {
                let args = [self.visit(operand), self.visit(index)];
                self.resolve(if *optional { "_[?_]" } else { "_[_]" }, &args, false, span)
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand, span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            ExprKind::Conditional(condition, then, otherwise) => {
                let args = [self.visit(condition), self.visit(then), self.visit(otherwise)];
                self.resolve("_?_:_", &args, false, span)
            }
            ExprKind::Call { .. } => self.call(expr),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Message { name, fields } => self.message(name, fields, span),
            ExprKind::Comprehension(node) => self.comprehension(node, span),
            ExprKind::Bind { name, value, body } => {
                let value = self.visit(value);
                self.within(vec![(name.clone(), value)], body)
            }
            ExprKind::OptMap { target, name, body, flat } => {
                let target = self.visit(target);
                self.opt_map(target, name, body, *flat, span)
            }
            ExprKind::Block { slots, body } => self.block(slots, body),
        }
    }

    fn expect(&mut self, expected: &Type, found: &Type, span: Span) {
        if !self.types.assignable(std::slice::from_ref(found), std::slice::from_ref(expected)) {
            let found = self.types.substitute(found, true);
            let expected = self.types.substitute(expected, true);
            self.report(WRONG_TYPE, span, &found, &format!("`{expected}`"));
        }
    }

    fn report(&mut self, message: impl Into<String>, span: Span, found: &Type, expected: &str) {
        let error = CelError::new(message, span);
        self.errors.push(error.found(format!("`{found}`")).expected(expected));
    }
}

const WRONG_TYPE: &str = "the value has the wrong type";
