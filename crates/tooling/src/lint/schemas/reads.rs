//! The attributes that an expression reads, and the constants that it compares them with.

use crate::lint::logic::Facts;
use crate::lint::logic::path::Path;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, Literal};
use wardgate_compiler::cel::{Expr, Span};

/// One place where an attribute is read.
#[derive(Debug)]
pub(super) struct AttributeRead {
    /// `P` or `R`, and the keys below `attr`.
    pub(super) keys: Vec<String>,
    pub(super) span: Span,
    /// The constants that it is compared with.
    pub(super) compared: Vec<Value>,
    /// True if the expression only tests its presence.
    pub(super) is_presence_test: bool,
}

/// A constant that can be compared with the values of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Number(f64),
    Text(String),
}

impl Value {
    fn of(expr: &Expr) -> Option<Self> {
        let ExprKind::Literal(literal) = &expr.kind else { return None };
        Some(match literal {
            Literal::Bool(value) => Self::Bool(*value),
            Literal::Int(value) => Self::Number(i32::try_from(*value).ok()?.into()),
            Literal::Uint(value) => Self::Number(u32::try_from(*value).ok()?.into()),
            Literal::Double(value) => Self::Number(*value),
            Literal::String(text) => Self::Text(text.clone()),
            Literal::Null | Literal::Bytes(_) => return None,
        })
    }

    /// Returns the value as an author would write it.
    pub(super) fn display(&self) -> String {
        match self {
            Self::Bool(value) => format!("`{value}`"),
            Self::Number(value) => format!("`{value}`"),
            Self::Text(text) => format!("`\"{text}\"`"),
        }
    }

    /// Returns the name of its type in JSON Schema.
    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
        }
    }
}

/// Returns the attributes that `expr` reads, in source order.
pub(super) fn reads(expr: &Expr) -> Vec<AttributeRead> {
    let mut found = Vec::new();
    visit(expr, &Facts::default(), &mut found);
    found
}

fn visit(expr: &Expr, facts: &Facts, found: &mut Vec<AttributeRead>) {
    match &expr.kind {
        ExprKind::Has { operand, field } | ExprKind::Select { operand, field, optional: true } => {
            if let Some(mut read) = read_of(operand, facts, expr.span) {
                read.keys.push(field.clone());
                read.is_presence_test = true;
                found.push(read);
                return;
            }
        }
        ExprKind::Binary(op, left, right) if is_equality(*op) => {
            let sides = [(left, values(right)), (right, values(left))];
            let sides = if *op == BinaryOp::In { &sides[..1] } else { &sides[..] };
            for (side, values) in sides {
                if let (Some(mut read), false) =
                    (read_of(side, facts, side.span), values.is_empty())
                    && read.keys.len() > 1
                {
                    read.compared.clone_from(values);
                    found.push(read);
                    return;
                }
            }
        }
        _ => {
            if let Some(read) = read_of(expr, facts, expr.span).filter(|read| read.keys.len() > 1) {
                found.push(read);
                return;
            }
        }
    }
    let inner = facts.hiding(&expr.kind.declared());
    for child in expr.kind.children() {
        visit(child, &inner, found);
    }
}

const fn is_equality(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::In)
}

/// Returns the attribute that `expr` is, or `attr` itself with no keys.
fn read_of(expr: &Expr, facts: &Facts, span: Span) -> Option<AttributeRead> {
    let path = Path::of(expr, facts)?;
    let [of @ ("P" | "R"), "attr", keys @ ..] = path.keys() else { return None };
    let keys = [of].into_iter().chain(keys).map(|key| (*key).to_owned()).collect();
    Some(AttributeRead { keys, span, compared: Vec::new(), is_presence_test: false })
}

/// Returns the constants that a side of a comparison is, or lists.
fn values(expr: &Expr) -> Vec<Value> {
    match &expr.kind {
        ExprKind::List(elements) => {
            elements.iter().filter_map(|element| Value::of(&element.value)).collect()
        }
        _ => Value::of(expr).into_iter().collect(),
    }
}
