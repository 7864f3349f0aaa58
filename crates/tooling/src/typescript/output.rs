//! The values of outputs, as far as their expressions show them.

use wardgate_compiler::cel::ast::{Element, ExprKind, Literal};
use wardgate_compiler::cel::{Env, Expr, Type, check};

use super::shape::{Member, Members, Scalar, Shape};
use super::text::quoted;

/// Returns the shape of the value that an output has in a decision.
pub(super) fn value(expr: &Expr) -> Shape {
    let known = match &expr.kind {
        ExprKind::Map(_) => members(expr).map(Shape::object),
        ExprKind::List(elements) => elements_of(elements),
        ExprKind::Literal(literal) => of_literal(literal).map(Shape::of),
        _ => None,
    };
    if let Some(known) = known {
        return known;
    }
    match check(expr, &Env::cerbos()) {
        Ok(checked) => of_type(&checked.result),
        Err(_) => Shape::any(),
    }
}

/// Returns the members of a literal object, if all its keys are literal texts.
fn members(expr: &Expr) -> Option<Members> {
    let ExprKind::Map(entries) = &expr.kind else { return None };
    let mut members = Members { is_closed: true, ..Members::default() };
    for entry in entries {
        let ExprKind::Literal(Literal::String(key)) = &entry.key.kind else { return None };
        let member = Member { shape: value(&entry.value), is_required: !entry.optional };
        members.named.insert(key.clone(), member);
    }
    Some(members)
}

/// Returns the shape of a literal list whose elements are all there.
fn elements_of(elements: &[Element]) -> Option<Shape> {
    let mut element = Shape::default();
    for part in elements {
        element.add(&value(&part.value));
    }
    Some(Shape::list(element))
}

/// Returns the type that has this value alone. A number that JSON cannot hold exactly is any number.
fn of_literal(literal: &Literal) -> Option<Scalar> {
    Some(match literal {
        Literal::String(text) => Scalar::Literal(quoted(text)),
        Literal::Bool(value) => Scalar::Literal(value.to_string()),
        Literal::Int(value) if value.unsigned_abs() <= MAX_EXACT => {
            Scalar::Literal(value.to_string())
        }
        Literal::Uint(value) if *value <= MAX_EXACT => Scalar::Literal(value.to_string()),
        _ => return None,
    })
}

fn of_type(found: &Type) -> Shape {
    match found {
        Type::Null => Shape::of(Scalar::Null),
        Type::Bool => Shape::of(Scalar::Bool),
        Type::Int | Type::Uint | Type::Double => Shape::of(Scalar::Number),
        Type::String => Shape::of(Scalar::Text),
        Type::List(element) => Shape::list(of_type(element)),
        _ => Shape::any(),
    }
}

/// Up to here each whole number is a double.
const MAX_EXACT: u64 = 1 << 53;
