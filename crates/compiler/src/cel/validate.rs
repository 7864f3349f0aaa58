//! Literal arguments whose format can be checked before anything is evaluated.

use wardgate_mqtt::{Filter, Limits, TopicError};

use wardgate_engine::cel::Timestamp;
use wardgate_engine::cel::time::{parse_duration, parse_timestamp};

use super::ast::{CelError, Expr, ExprKind, Literal, Span};
use super::parser::quoted;
use crate::regex;

/// Reports literal durations, timestamps and patterns that can never be read.
pub(super) fn literals(expr: &Expr, errors: &mut Vec<CelError>) {
    if let ExprKind::Call { target, function, args } = &expr.kind
        && let Some(arg) = judged(function, target.is_some(), args)
    {
        let elements =
            if let ExprKind::List(elements) = &arg.kind { elements.as_slice() } else { &[] };
        for arg in elements.iter().map(|element| &element.value).chain([arg]) {
            if let ExprKind::Literal(literal) = &arg.kind {
                errors.extend(fault(function, literal, arg.span));
            }
        }
    }
    for child in expr.kind.children() {
        literals(child, errors);
    }
}

fn judged<'e>(function: &str, member: bool, args: &'e [Expr]) -> Option<&'e Expr> {
    match (function, member) {
        ("duration" | "timestamp", false) | ("matches" | "matchesTopic", true) => args.first(),
        ("matches", false) => args.get(1),
        _ => None,
    }
}

/// Returns the error of a function's argument, if there is one.
fn fault(function: &str, literal: &Literal, span: Span) -> Option<CelError> {
    let expected = match (function, literal) {
        ("duration", Literal::String(text)) if parse_duration(text).is_none() => {
            "numbers with units, such as `1h30m` or `250ms`"
        }
        ("timestamp", Literal::String(text)) if parse_timestamp(text).is_err() => {
            "a time of RFC 3339, such as `2024-05-06T07:08:09Z`"
        }
        ("timestamp", Literal::Int(seconds)) if Timestamp::new(*seconds, 0).is_none() => {
            "seconds since 1970, in the years 1 to 9999"
        }
        ("matches", Literal::String(text)) => return pattern(text, span),
        ("matchesTopic", Literal::String(text)) => return filter(text, span),
        _ => return None,
    };
    Some(CelError::new(format!("this is not a {function}"), span).expected(expected))
}

/// Returns the reason why `text` is no pattern of topics, if it is none.
#[must_use]
pub fn not_a_filter(text: &str) -> Option<TopicError> {
    Filter::unshared_within(text, &Limits::WIDEST).err()
}

fn filter(text: &str, span: Span) -> Option<CelError> {
    let error = not_a_filter(text)?;
    Some(CelError::new(format!("this is not a topic filter: {error}"), span).found(quoted(text)))
}

fn pattern(text: &str, span: Span) -> Option<CelError> {
    let error = regex::compile(text).err()?;
    let message = format!("this is not a regular expression: {}", error.kind.text());
    let found = text.get(error.quoted).filter(|part| !part.is_empty()).map(quoted);
    Some(CelError { found, ..CelError::new(message, span) })
}
