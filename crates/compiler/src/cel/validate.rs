//! Literal arguments whose format can be judged before anything is evaluated.

use wardgate_engine::cel::Timestamp;
use wardgate_engine::cel::time::{parse_duration, parse_timestamp};

use super::ast::{CelError, Expr, ExprKind, Literal};
use crate::regex;

/// Reports literal durations, timestamps and patterns that can never be read.
pub(super) fn literals(expr: &Expr, errors: &mut Vec<CelError>) {
    if let ExprKind::Call { target, function, args } = &expr.kind
        && let Some(arg) = judged(function, target.is_some(), args)
        && let ExprKind::Literal(literal) = &arg.kind
        && !is_valid(function, literal)
    {
        errors.push(CelError::new(format!("invalid {function} argument"), arg.span));
    }
    for child in expr.kind.children() {
        literals(child, errors);
    }
}

fn judged<'e>(function: &str, member: bool, args: &'e [Expr]) -> Option<&'e Expr> {
    match (function, member) {
        ("duration" | "timestamp", false) | ("matches", true) => args.first(),
        ("matches", false) => args.get(1),
        _ => None,
    }
}

fn is_valid(function: &str, literal: &Literal) -> bool {
    match (function, literal) {
        ("duration", Literal::String(text)) => parse_duration(text).is_some(),
        ("timestamp", Literal::String(text)) => parse_timestamp(text).is_ok(),
        ("timestamp", Literal::Int(seconds)) => Timestamp::new(*seconds, 0).is_some(),
        ("matches", Literal::String(text)) => regex::compile(text).is_ok(),
        _ => true,
    }
}
