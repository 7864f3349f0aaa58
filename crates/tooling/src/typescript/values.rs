//! The shapes of values that expressions compute, and those that functions take.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, Literal, UnaryOp};
use wardgate_compiler::cel::{Expr, Signature, Type, functions};
use wardgate_engine::attr::Attr;

use super::places::{Locals, Named, Names};
use super::shape::{Scalar, Shape};

/// Returns the shape of the value of `expr`, with what is known of it for sure. `depth` bounds the
/// variables that are followed.
pub(super) fn value(expr: &Expr, names: &Names<'_>, locals: &Locals<'_>, depth: u32) -> Shape {
    if depth > MAX_DEPTH {
        return Shape::default();
    }
    let below = |expr: &Expr| value(expr, names, locals, depth.saturating_add(1));
    match &expr.kind {
        ExprKind::Literal(literal) => of_literal(literal),
        ExprKind::List(elements) => {
            let mut element = Shape::default();
            elements.iter().for_each(|part| element.add(&below(&part.value)));
            Shape::list(element)
        }
        ExprKind::Unary(UnaryOp::Neg, _) => Shape::of(Scalar::Number),
        ExprKind::Unary(UnaryOp::Not, _) | ExprKind::Has { .. } => Shape::of(Scalar::Bool),
        ExprKind::Binary(op, left, _) => match op {
            BinaryOp::Add => scalars(below(left)),
            BinaryOp::Sub => Shape::default(),
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => Shape::of(Scalar::Number),
            _ => Shape::of(Scalar::Bool),
        },
        ExprKind::Call { function, args, target } => {
            let is_member = target.is_some();
            let count = args.len().saturating_add(usize::from(is_member));
            agreed(signatures(function, is_member, count).map(|found| &found.result))
        }
        _ => match names.named(expr, locals) {
            Some(Named::Constant(attr)) => of_attr(&attr),
            Some(Named::Field("roles")) => Shape::list(Shape::of(Scalar::Text)),
            Some(Named::Field(_)) => Shape::of(Scalar::Text),
            Some(Named::Variable(_, tree)) => {
                value(&tree, names, &Vec::new(), depth.saturating_add(1))
            }
            Some(Named::Place(_)) | None => Shape::default(),
        },
    }
}

/// Returns the shape that argument `at` of a call has, the receiver being the first; unknown if
/// functions of this name take values of several shapes.
pub(super) fn argument(function: &str, is_member: bool, count: usize, at: usize) -> Shape {
    if function == "timestamp" {
        return Shape::of(Scalar::Time);
    }
    agreed(signatures(function, is_member, count).filter_map(|found| found.params.get(at)))
}

fn signatures(
    function: &str,
    is_member: bool,
    count: usize,
) -> impl Iterator<Item = &'static Signature> {
    static FUNCTIONS: OnceLock<BTreeMap<&'static str, Vec<Signature>>> = OnceLock::new();
    let all = FUNCTIONS.get_or_init(functions).get(function).into_iter().flatten();
    all.filter(move |found| found.member == is_member && found.params.len() == count)
}

/// Returns the shape that all types have; unknown if they differ, or one of them is unknown.
fn agreed<'t>(types: impl Iterator<Item = &'t Type>) -> Shape {
    let mut found = Shape::default();
    for one in types {
        let shape = of_type(one);
        if shape.is_unknown() || !found.is_unknown() && found != shape {
            return Shape::default();
        }
        found = shape;
    }
    found
}

fn of_type(found: &Type) -> Shape {
    match found {
        Type::Bool => Shape::of(Scalar::Bool),
        Type::Int | Type::Uint | Type::Double => Shape::of(Scalar::Number),
        Type::String => Shape::of(Scalar::Text),
        Type::List(element) => Shape::list(of_type(element)),
        _ => Shape::default(),
    }
}

fn of_literal(literal: &Literal) -> Shape {
    match literal {
        Literal::Null => Shape::of(Scalar::Null),
        Literal::Bool(_) => Shape::of(Scalar::Bool),
        Literal::Int(_) | Literal::Uint(_) | Literal::Double(_) => Shape::of(Scalar::Number),
        Literal::String(_) => Shape::of(Scalar::Text),
        Literal::Bytes(_) => Shape::default(),
    }
}

fn of_attr(attr: &Attr) -> Shape {
    match attr {
        Attr::Null => Shape::of(Scalar::Null),
        Attr::Bool(_) => Shape::of(Scalar::Bool),
        Attr::Number(_) => Shape::of(Scalar::Number),
        Attr::String(_) => Shape::of(Scalar::Text),
        Attr::List(items) => {
            let mut element = Shape::default();
            items.iter().for_each(|item| element.add(&of_attr(item)));
            Shape::list(element)
        }
        Attr::Map(_) => Shape::default(),
    }
}

/// Returns the shape if it is of values without parts.
pub(super) fn scalars(shape: Shape) -> Shape {
    if shape.element.is_some() || shape.members.is_some() { Shape::default() } else { shape }
}

/// Of variables that name each other.
const MAX_DEPTH: u32 = 64;
