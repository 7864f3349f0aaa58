//! Helpers for the tests of the functions: a call without a program, and results as text.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;

use crate::cel::context::Context;
use crate::cel::function::Function;
use crate::cel::pool::Root;
use crate::cel::time::Timestamp;
use crate::cel::value::{List, Value};
use crate::cel::{Activation, Pool};
use crate::limits::MAX_STEPS;

/// An activation without values; its clock is at the thousandth second.
struct Empty;

impl<'a> Activation<'a> for Empty {
    fn root(&self, _: Root, _: &'a str) -> Value<'a> {
        Value::Null
    }

    fn variable(&self, _: u32) -> Value<'a> {
        Value::Null
    }

    fn now(&self) -> Timestamp {
        Timestamp::new(1000, 0).unwrap()
    }
}

/// Calls `function` and returns its result as text.
pub(super) fn show(function: Function, args: &[Value<'static>]) -> String {
    text(&call(function, args))
}

/// Calls `function` with a full budget.
pub(super) fn call(function: Function, args: &[Value<'static>]) -> Value<'static> {
    let context = Context {
        pool: Box::leak(Box::new(Pool::default())),
        activation: &Empty,
        steps: &Cell::new(MAX_STEPS),
    };
    super::call(function, args, &context)
}

/// Returns a value much as an expression would write it.
pub(super) fn text(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => format!("'{text}'"),
        Value::Uint(value) => format!("{value}u"),
        Value::Double(value) => format!("{value:?}"),
        Value::List(list) => format!("[{}]", items(list).join(", ")),
        Value::Optional(None) => "none".into(),
        Value::Optional(Some(inner)) => format!("some({})", text(inner)),
        Value::Ip(address) => address.to_string(),
        Value::Cidr(address, length) => format!("{address}/{length}"),
        Value::Bytes(bytes) => format!("b{:?}", String::from_utf8_lossy(bytes)),
        Value::Hierarchy(segments) => {
            segments.iter().map(|segment| &**segment).collect::<Vec<_>>().join(".")
        }
        Value::SpiffeId(name) | Value::SpiffeTrustDomain(name) => name.to_string(),
        Value::Error(error) => format!("error: {error}"),
        Value::Int(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        other => format!("{other:?}"),
    }
}

fn items(list: &List<'_>) -> Vec<String> {
    list.iter().map(|item| text(&item)).collect()
}

pub(super) fn s(text: &'static str) -> Value<'static> {
    Value::string(text)
}

pub(super) fn i(value: i64) -> Value<'static> {
    Value::Int(value)
}

pub(super) fn d(value: f64) -> Value<'static> {
    Value::Double(value)
}

pub(super) fn l<const N: usize>(items: [Value<'static>; N]) -> Value<'static> {
    Value::list(items.into())
}

pub(super) fn strings(items: &[&'static str]) -> Value<'static> {
    Value::list(items.iter().map(|item| s(item)).collect())
}
