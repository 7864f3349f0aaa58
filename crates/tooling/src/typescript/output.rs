//! The values of outputs, as far as their expressions show them.

use wardgate_compiler::cel::ast::{ExprKind, Literal};
use wardgate_compiler::cel::{Env, Expr, Type, check};

use super::shape::{Member, Members, Scalar, Shape};

/// Returns the shape of the value that an output has in a decision.
pub(super) fn value(expr: &Expr) -> Shape {
    if let Some(members) = members(expr) {
        return Shape::object(members);
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

fn of_type(found: &Type) -> Shape {
    match found {
        Type::Null => Shape::of(Scalar::Null),
        Type::Bool => Shape::of(Scalar::Bool),
        Type::Int | Type::Uint | Type::Double => Shape::of(Scalar::Number),
        Type::String => Shape::of(Scalar::Text),
        _ => Shape::any(),
    }
}
