//! Expressions that declare names: macros over a list or a map, bindings and blocks.

use super::super::ast::{Comprehension, Expr, Loop, Span, block_slot};
use super::super::types::Type;
use super::Checker;

impl Checker<'_> {
    pub(super) fn comprehension(&mut self, node: &mut Comprehension, span: Span) -> Type {
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

    /// Returns the type of the index or key, and the type of the value, in the range of a macro.
    fn range_types(&mut self, range: &Type, span: Span) -> (Type, Type) {
        match range {
            Type::List(element) => (Type::Int, (**element).clone()),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.types.assignable(&[Type::Dyn], std::slice::from_ref(range));
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.report("this value cannot be iterated", span, other, "a list or a map");
                (Type::Error, Type::Error)
            }
        }
    }

    fn merged(&mut self, body: Type, span: Span) -> Type {
        let expected = Type::map(self.types.fresh(), self.types.fresh());
        self.expect(&expected, &body, span);
        expected
    }

    pub(super) fn opt_map(
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

    pub(super) fn block(&mut self, slots: &mut [Expr], body: &mut Expr) -> Type {
        let depth = self.scopes.len();
        for (index, slot) in slots.iter_mut().enumerate() {
            let found = self.visit(slot);
            self.scopes.push((block_slot(index), found));
        }
        let result = self.visit(body);
        self.scopes.truncate(depth);
        result
    }

    pub(super) fn within(&mut self, names: Vec<(String, Type)>, body: &mut Expr) -> Type {
        let depth = self.scopes.len();
        self.scopes.extend(names);
        let result = self.visit(body);
        self.scopes.truncate(depth);
        result
    }
}
