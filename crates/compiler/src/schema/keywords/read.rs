//! The values of keywords, read as a type or reported with the expected one.

use super::super::{Fault, text};
use super::Answer;
use crate::yaml::{Entry, Kind, Node};

pub(super) fn list(node: &Node) -> Answer<&[Node]> {
    match &node.kind {
        Kind::Seq(items) => Ok(items),
        _ => Err(wrong(node, "a list")),
    }
}

pub(super) fn entries(node: &Node) -> Answer<&[Entry]> {
    match &node.kind {
        Kind::Map(entries) => Ok(entries),
        _ => Err(wrong(node, "an object")),
    }
}

pub(super) fn word(node: &Node) -> Answer<&str> {
    text(node).ok_or_else(|| wrong(node, "a string"))
}

pub(super) fn flag(node: &Node) -> Answer<bool> {
    match node.kind {
        Kind::Bool(value) => Ok(value),
        _ => Err(wrong(node, "`true` or `false`")),
    }
}

pub(super) const fn is_flag(node: &Node) -> bool {
    matches!(node.kind, Kind::Bool(_))
}

pub(super) fn count(node: &Node) -> Answer<u32> {
    let number = match node.kind {
        Kind::Integer(value) => u32::try_from(value).ok(),
        // `2.0` is a whole number to JSON Schema.
        Kind::Float(value) => value.to_string().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| wrong(node, "a number from 0"))
}

#[expect(
    clippy::as_conversions,
    reason = "there is no other way from an integer to its nearest double"
)]
pub(super) fn double(node: &Node) -> Answer<Vec<u32>> {
    let value = match node.kind {
        Kind::Integer(value) => value as f64,
        Kind::Float(value) => value,
        _ => return Err(wrong(node, "a number")),
    };
    let bits = value.to_bits();
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    Ok(vec![half(bits), half(bits >> 32)])
}

pub(super) fn wrong(node: &Node, expected: &str) -> Fault {
    let found = match &node.kind {
        Kind::Null => "`null`".to_owned(),
        Kind::Bool(value) => format!("`{value}`"),
        Kind::Integer(value) => format!("`{value}`"),
        Kind::Float(value) => format!("`{value}`"),
        Kind::String(text, _) => format!("the text `{text}`"),
        Kind::Seq(_) => "a list".to_owned(),
        Kind::Map(_) => "an object".to_owned(),
    };
    Fault::new(node.position, "").because(found, expected)
}

pub(super) fn unsupported(node: &Node, name: &str) -> Fault {
    Fault::new(
        node.position,
        format!("`{name}` is not supported, and to ignore it would change what is valid"),
    )
}
