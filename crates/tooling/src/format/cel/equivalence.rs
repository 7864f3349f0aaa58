//! Compares two parsed expressions without their positions.

use wardgate_compiler::cel::ast::{Expr, ExprKind};

/// Compares two trees without their places.
pub(super) fn equivalent(one: &Expr, other: &Expr) -> bool {
    let (ours, theirs) = (one.kind.children(), other.kind.children());
    same_head(&one.kind, &other.kind)
        && ours.len() == theirs.len()
        && ours.into_iter().zip(theirs).all(|(one, other)| equivalent(one, other))
}

/// Compares two nodes without the nodes below them.
fn same_head(one: &ExprKind, other: &ExprKind) -> bool {
    use ExprKind as E;
    match (one, other) {
        (E::Literal(a), E::Literal(b)) => a == b,
        (E::Ident(a), E::Ident(b))
        | (E::Global(a), E::Global(b))
        | (E::TypeName(a), E::TypeName(b))
        | (E::Has { field: a, .. }, E::Has { field: b, .. })
        | (E::Bind { name: a, .. }, E::Bind { name: b, .. }) => a == b,
        (
            E::Select { field: a, optional: marked, .. },
            E::Select { field: b, optional: too, .. },
        ) => a == b && marked == too,
        (E::Index { optional: a, .. }, E::Index { optional: b, .. }) => a == b,
        (E::Unary(a, _), E::Unary(b, _)) => a == b,
        (E::Binary(a, ..), E::Binary(b, ..)) => a == b,
        (E::Conditional(..), E::Conditional(..)) => true,
        (E::Call { target: a, function: f, .. }, E::Call { target: b, function: g, .. }) => {
            a.is_some() == b.is_some() && f == g
        }
        (E::List(a), E::List(b)) => {
            a.iter().map(|it| it.optional).eq(b.iter().map(|it| it.optional))
        }
        (E::Map(a), E::Map(b)) => a.iter().map(|it| it.optional).eq(b.iter().map(|it| it.optional)),
        (E::Message { name: a, fields: f }, E::Message { name: b, fields: g }) => {
            let heads = |it: &wardgate_compiler::cel::ast::Field| (it.name.clone(), it.optional);
            a == b && f.iter().map(heads).eq(g.iter().map(heads))
        }
        (E::Comprehension(a), E::Comprehension(b)) => {
            (a.kind, &a.names, a.filter.is_some()) == (b.kind, &b.names, b.filter.is_some())
        }
        (E::OptMap { name: a, flat, .. }, E::OptMap { name: b, flat: other, .. }) => {
            a == b && flat == other
        }
        (E::Block { slots: a, .. }, E::Block { slots: b, .. }) => a.len() == b.len(),
        _ => false,
    }
}
