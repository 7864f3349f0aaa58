//! Resolves every name and infers every type, in place, and reports what cannot be right.
//!
//! The rules and the wording are those of the reference implementation: an expression of unknown type
//! agrees with everything, so whatever the checker accepts may still fail when it is evaluated.

use super::ast::{BinaryOp, UnaryOp};
use super::ast::{
    CelError, Comprehension, Element, Entry, Expr, ExprKind, Field, Literal, Loop, Span, block_slot,
};
use super::env::{self, Env};
use super::parser::qualified_name;
use super::types::{Type, Unifier, more_general};
use super::{MAX_ERRORS, macros, validate};
use crate::nearest::nearest;

/// An expression whose names are resolved and whose types agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The tree, with variables and types of the environment as nodes of their own.
    pub expr: Expr,
    /// The type of its value.
    pub result: Type,
    /// The text it came from, for messages; empty unless set by the caller.
    pub source: String,
    /// Whether its variables are those of a policy condition.
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
        errors.sort_by_key(|error| error.span.start);
        errors.truncate(MAX_ERRORS);
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

    fn ident(&mut self, expr: &mut Expr) -> Type {
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

    fn select(&mut self, expr: &mut Expr) -> Type {
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

    fn field(&mut self, operand: &mut Expr, field: &str, optional: bool, span: Span) -> Type {
        let operand = self.visit(operand);
        let (target, was_optional) = self.types.substitute(&operand, false).unwrap_optional();
        let found = match target {
            Type::Map(_, value) => *value,
            Type::Message(message) => env::field_type(&message, field).unwrap_or_else(|| {
                let error = CelError::new(format!("there is no field `{field}`"), span);
                self.errors
                    .push(CelError { expected: env::field_instead(&message, field), ..error });
                Type::Error
            }),
            Type::Var(_) => {
                self.types.assignable(&[Type::Dyn], &[target]);
                Type::Dyn
            }
            Type::Dyn | Type::Error => Type::Dyn,
            other => {
                self.report(
                    format!("`{field}` is asked of a value without fields"),
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

    fn unary(&mut self, op: UnaryOp, operand: &mut Expr, span: Span) -> Type {
        let operand = self.visit(operand);
        self.resolve(op.name(), &[operand], false, span)
    }

    fn binary(&mut self, op: BinaryOp, left: &mut Expr, right: &mut Expr, span: Span) -> Type {
        let spans = [left.span, right.span];
        let args = [self.visit(left), self.visit(right)];
        if !matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.resolve(op.name(), &args, false, span);
        }
        for (arg, span) in args.iter().zip(spans) {
            self.expect(&Type::Bool, arg, span);
        }
        Type::Bool
    }

    fn call(&mut self, expr: &mut Expr) -> Type {
        let span = expr.span;
        let ExprKind::Call { target, function, args } = &mut expr.kind else { return Type::Error };
        if let Some(form) = macros::form(function).filter(|_| self.function(function).is_none()) {
            let message = format!("`{function}` is called with the wrong number of arguments");
            self.errors.push(CelError::new(message, span).expected(form));
            return Type::Error;
        }
        let mut types: Vec<_> = args.iter_mut().map(|arg| self.visit(arg)).collect();
        let qualified = match target {
            None => Some(function.clone()),
            Some(target) => qualified_name(target).map(|prefix| format!("{prefix}.{function}")),
        };
        if let Some(name) = qualified.and_then(|name| self.function(&name)) {
            let result = self.resolve(&name, &types, false, span);
            *target = None;
            *function = name;
            return result;
        }
        let Some(target) = target else {
            let error = CelError::new(format!("there is no function `{function}`"), span);
            let expected = env::function_meant_by(function).map(str::to_owned).or_else(|| {
                nearest(function, self.env.functions()).map(|name| format!("`{name}`"))
            });
            self.errors.push(CelError { expected, ..error });
            return Type::Error;
        };
        types.insert(0, self.visit(target));
        let Some(name) = self.function(function) else {
            let error = CelError::new(format!("there is no function `{function}`"), span);
            let expected = env::function_meant_by(function).map(str::to_owned).or_else(|| {
                nearest(function, self.env.functions()).map(|name| format!("`{name}`"))
            });
            self.errors.push(CelError { expected, ..error });
            return Type::Error;
        };
        let result = self.resolve(&name, &types, true, span);
        if name == "format" {
            self.formats.extend(format::Call::of(target, args, &self.elements));
        }
        *function = name;
        result
    }

    /// Returns the full name of the function that `name` stands for.
    fn function(&self, name: &str) -> Option<String> {
        let declared = |candidate: &String| !self.env.signatures(candidate).is_empty();
        self.env.candidates(name).into_iter().find(declared)
    }

    /// Returns what function `name` gives for these types; reports it if it takes no such types.
    fn resolve(&mut self, name: &str, args: &[Type], member: bool, span: Span) -> Type {
        let mut result: Option<Type> = None;
        for signature in self.env.signatures(name) {
            if signature.member != member || signature.params.len() != args.len() {
                continue;
            }
            let (params, given) = self.instantiate(&signature.params, &signature.result);
            if !self.types.assignable(args, &params) {
                continue;
            }
            let given = self.types.substitute(&given, false);
            result = Some(match result {
                None => given,
                Some(before) if before == given || before == Type::Dyn => before,
                Some(_) => Type::Dyn,
            });
        }
        result.unwrap_or_else(|| {
            let args: Vec<_> = args.iter().map(|arg| self.types.substitute(arg, true)).collect();
            self.errors.push(misuse::error(self.env, name, member, &args, span));
            Type::Error
        })
    }

    /// Replaces the type parameters of a signature by fresh variables.
    fn instantiate(&mut self, params: &[Type], result: &Type) -> (Vec<Type>, Type) {
        let mut names = Vec::new();
        let params = params.iter().map(|param| self.open(param, &mut names)).collect();
        (params, self.open(result, &mut names))
    }

    fn open(&mut self, of: &Type, names: &mut Vec<(String, Type)>) -> Type {
        match of {
            Type::Param(name) => {
                if let Some((_, variable)) = names.iter().find(|(known, _)| known == name) {
                    return variable.clone();
                }
                let variable = self.types.fresh();
                names.push((name.clone(), variable.clone()));
                variable
            }
            Type::List(element) => Type::list(self.open(element, names)),
            Type::Map(key, value) => Type::map(self.open(key, names), self.open(value, names)),
            Type::Type(Some(inner)) => Type::type_of(self.open(inner, names)),
            Type::Opaque(name, params) => {
                let params = params.iter().map(|param| self.open(param, names)).collect();
                Type::Opaque(name.clone(), params)
            }
            _ => of.clone(),
        }
    }

    fn list(&mut self, elements: &mut [Element]) -> Type {
        let mut joined = None;
        let mut types = Vec::with_capacity(elements.len());
        for element in elements {
            let found = self.visit(&mut element.value);
            let found = self.unwrap(found, element.optional, element.value.span);
            types.push(found.clone());
            joined = Some(self.join(joined, found));
        }
        self.elements = types;
        let element = joined.unwrap_or_else(|| self.types.fresh());
        Type::list(element)
    }

    fn map(&mut self, entries: &mut [Entry]) -> Type {
        let mut joined: (Option<Type>, Option<Type>) = (None, None);
        for entry in entries {
            let key = self.visit(&mut entry.key);
            joined.0 = Some(self.join(joined.0, key));
            let value = self.visit(&mut entry.value);
            let value = self.unwrap(value, entry.optional, entry.value.span);
            joined.1 = Some(self.join(joined.1, value));
        }
        let key = joined.0.unwrap_or_else(|| self.types.fresh());
        let value = joined.1.unwrap_or_else(|| self.types.fresh());
        Type::map(key, value)
    }

    /// Returns the type of what an element marked with `?` adds.
    fn unwrap(&mut self, found: Type, optional: bool, span: Span) -> Type {
        if !optional {
            return found;
        }
        let (inner, was_optional) = self.types.substitute(&found, false).unwrap_optional();
        if !was_optional && !inner.is_dyn_or_error() {
            let message = "`?` stands before a value that is always there";
            self.report(message, span, &inner, "an optional value");
        }
        inner
    }

    /// Elements of different types make a list of `dyn`.
    fn join(&mut self, before: Option<Type>, next: Type) -> Type {
        let Some(before) = before else { return next };
        if !self.types.assignable(std::slice::from_ref(&before), std::slice::from_ref(&next)) {
            return Type::Dyn;
        }
        let (before, next) =
            (self.types.substitute(&before, false), self.types.substitute(&next, false));
        more_general(before, next)
    }

    fn message(&mut self, name: &mut String, fields: &mut [Field], span: Span) -> Type {
        let values: Vec<_> = fields.iter_mut().map(|field| self.visit(&mut field.value)).collect();
        let known = self.env.candidates(name).into_iter();
        let Some((full, inner)) =
            known.filter_map(|name| Some((name.clone(), env::wrapper_named(&name)?))).next()
        else {
            let error =
                CelError::new(format!("there is no type `{name}` that can be made so"), span);
            self.errors.push(error.expected(WRAPPERS));
            return Type::Error;
        };
        *name = full;
        for (field, value) in fields.iter().zip(values) {
            let value = self.unwrap(value, field.optional, field.value.span);
            if field.name != "value" {
                let message = format!("there is no field `{}`", field.name);
                self.errors.push(CelError::new(message, field.span).expected("`value`"));
            } else if !self
                .types
                .assignable(std::slice::from_ref(&inner), std::slice::from_ref(&value))
            {
                let expected = format!("`{inner}`");
                self.report(WRONG_TYPE, field.span, &value, &expected);
            }
        }
        Type::Wrapper(Box::new(inner))
    }

    fn comprehension(&mut self, node: &mut Comprehension, span: Span) -> Type {
        let range = self.visit(&mut node.range);
        let range = self.types.substitute(&range, false);
        let (key, value) = self.range_types(&range, node.range.span);
        let element = if matches!(range, Type::Map(..)) { key.clone() } else { value.clone() };
        let types =
            if node.names.len() == 2 { vec![key.clone(), value] } else { vec![element.clone()] };
        let depth = self.scopes.len();
        self.scopes.extend(node.names.iter().cloned().zip(types));
        if let Some(filter) = &mut node.filter {
            let filter_type = self.visit(filter);
            self.expect(&Type::Bool, &filter_type, filter.span);
        }
        let body_span = node.body.span;
        let body = self.visit(&mut node.body);
        self.scopes.truncate(depth);
        let result = match node.kind {
            Loop::All | Loop::Exists | Loop::ExistsOne => {
                self.expect(&Type::Bool, &body, body_span);
                Type::Bool
            }
            Loop::Filter => {
                self.expect(&Type::Bool, &body, body_span);
                Type::list(element)
            }
            Loop::List => Type::list(body),
            Loop::Map => Type::map(key, body),
            Loop::MapEntry => self.merged(body, body_span),
            Loop::SortBy => {
                self.resolve("@sortByAssociatedKeys", &[range, Type::list(body)], true, span)
            }
        };
        self.types.substitute(&result, false)
    }

    /// Returns the types of the index or key, and of the value, of what a macro runs over.
    fn range_types(&mut self, range: &Type, span: Span) -> (Type, Type) {
        match range {
            Type::List(element) => (Type::Int, (**element).clone()),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.types.assignable(&[Type::Dyn], std::slice::from_ref(range));
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.report("this cannot be gone through", span, other, "a list or a map");
                (Type::Error, Type::Error)
            }
        }
    }

    fn merged(&mut self, body: Type, span: Span) -> Type {
        let expected = Type::map(self.types.fresh(), self.types.fresh());
        self.expect(&expected, &body, span);
        expected
    }

    fn opt_map(
        &mut self,
        target: Type,
        name: &str,
        body: &mut Expr,
        flat: bool,
        span: Span,
    ) -> Type {
        let value = self.resolve("value", &[target], true, span);
        let result = self.within(vec![(name.to_owned(), value)], body);
        if !flat {
            return Type::optional(result);
        }
        let none = Type::optional(self.types.fresh());
        self.resolve("_?_:_", &[Type::Bool, result, none], false, span)
    }

    fn block(&mut self, slots: &mut [Expr], body: &mut Expr) -> Type {
        let depth = self.scopes.len();
        for (index, slot) in slots.iter_mut().enumerate() {
            let found = self.visit(slot);
            self.scopes.push((block_slot(index), found));
        }
        let result = self.visit(body);
        self.scopes.truncate(depth);
        result
    }

    fn within(&mut self, names: Vec<(String, Type)>, body: &mut Expr) -> Type {
        let depth = self.scopes.len();
        self.scopes.extend(names);
        let result = self.visit(body);
        self.scopes.truncate(depth);
        result
    }

    fn expect(&mut self, expected: &Type, found: &Type, span: Span) {
        if !self.types.assignable(std::slice::from_ref(found), std::slice::from_ref(expected)) {
            let found = self.types.substitute(found, true);
            let expected = self.types.substitute(expected, true);
            self.report(WRONG_TYPE, span, &found, &format!("`{expected}`"));
        }
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        let error = CelError::new(format!("there is no name `{name}`"), span);
        let locals = self.scopes.iter().map(|(local, _)| local.as_str());
        let expected = self.env.meant_by(name).map(str::to_owned).or_else(|| {
            let names = locals.chain(self.env.names());
            nearest(name, names).map(|name| format!("`{name}`"))
        });
        self.errors.push(CelError { expected, ..error });
    }

    fn report(&mut self, message: impl Into<String>, span: Span, found: &Type, expected: &str) {
        let error = CelError::new(message, span);
        self.errors.push(error.found(format!("`{found}`")).expected(expected));
    }
}

const fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

const WRONG_TYPE: &str = "the value has the wrong type";
const MAP: &str = "a map or a message";
const WRAPPERS: &str = "a wrapper of protobuf, such as `google.protobuf.StringValue`";

mod format;
mod misuse;
#[cfg(test)]
mod tests;
