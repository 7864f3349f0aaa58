//! Literals: the types of lists, maps and messages, inferred from their elements.

use super::super::ast::{CelError, Element, Entry, Field, Literal, Span};
use super::super::env;
use super::super::types::{Type, more_general};
use super::{Checker, WRONG_TYPE};

impl Checker<'_> {
    pub(super) fn list(&mut self, elements: &mut [Element]) -> Type {
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

    pub(super) fn map(&mut self, entries: &mut [Entry]) -> Type {
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

    pub(super) fn message(&mut self, name: &mut String, fields: &mut [Field], span: Span) -> Type {
        let values: Vec<_> = fields.iter_mut().map(|field| self.visit(&mut field.value)).collect();
        let known = self.env.candidates(name).into_iter();
        let Some((full, inner)) =
            known.filter_map(|name| Some((name.clone(), env::wrapper_named(&name)?))).next()
        else {
            let error =
                CelError::new(format!("there is no type `{name}` with such a literal"), span);
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

    /// Returns the type that an element marked with `?` adds.
    fn unwrap(&mut self, found: Type, optional: bool, span: Span) -> Type {
        if !optional {
            return found;
        }
        let (inner, was_optional) = self.types.substitute(&found, false).unwrap_optional();
        if !was_optional && !inner.is_dyn_or_error() {
            let message = "`?` marks a value that is not optional";
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
}

pub(super) const fn literal_type(literal: &Literal) -> Type {
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

const WRAPPERS: &str = "a wrapper of protobuf, such as `google.protobuf.StringValue`";
