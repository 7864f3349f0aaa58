//! Calls of functions and operators: the overloads that take the arguments, and their results.

use super::super::ast::{BinaryOp, CelError, Expr, ExprKind, Span, UnaryOp, qualified_name};
use super::super::types::Type;
use super::super::{env, macros};
use super::{Checker, format, misuse};
use crate::nearest::nearest;

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &mut Expr, span: Span) -> Type {
        let operand = self.visit(operand);
        self.resolve(op.name(), &[operand], false, span)
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &mut Expr,
        right: &mut Expr,
        span: Span,
    ) -> Type {
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

    pub(super) fn call(&mut self, expr: &mut Expr) -> Type {
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
        let Some(target) = target else { return self.unknown_function(function, span) };
        types.insert(0, self.visit(target));
        let Some(name) = self.function(function) else {
            return self.unknown_function(function, span);
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

    fn unknown_function(&mut self, name: &str, span: Span) -> Type {
        let error = CelError::new(format!("there is no function `{name}`"), span);
        let expected = env::intended_function(name)
            .map(str::to_owned)
            .or_else(|| nearest(name, self.env.functions()).map(|name| format!("`{name}`")));
        self.errors.push(CelError { expected, ..error });
        Type::Error
    }

    /// Returns the result type of function `name` for these types; reports a call that no overload
    /// takes.
    pub(super) fn resolve(&mut self, name: &str, args: &[Type], member: bool, span: Span) -> Type {
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
}
