//! Optional values.

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::Value;

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    match (function, args) {
        (Function::OptionalNone, []) => Ok(Value::none()),
        (Function::OptionalOf, [value]) => Ok(Value::some(value.clone())),
        (Function::OptionalOfNonZeroValue, [value]) if is_zero(value) => Ok(Value::none()),
        (Function::OptionalOfNonZeroValue, [value]) => Ok(Value::some(value.clone())),
        (Function::OptionalHasValue, [Value::Optional(inner)]) => Ok(inner.is_some().into()),
        (Function::OptionalValue, [Value::Optional(inner)]) => {
            inner.as_deref().cloned().ok_or(Error::EMPTY_OPTIONAL)
        }
        (Function::OptionalOr, [first @ Value::Optional(inner), second]) => {
            Ok(if inner.is_some() { first.clone() } else { second.clone() })
        }
        (Function::OptionalOrValue, [Value::Optional(inner), fallback]) => {
            Ok(inner.as_deref().unwrap_or(fallback).clone())
        }
        (Function::OptionalUnwrap, [Value::List(list)]) => {
            context.charge_list(list.len())?;
            let mut values = alloc::vec::Vec::new();
            for item in list.iter() {
                let Value::Optional(inner) = item else { return Err(Error::NoSuchOverload) };
                values.extend(inner.as_deref().cloned());
            }
            Ok(Value::list(values))
        }
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns true if a value is the default of a protobuf field.
fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::Optional(None) => true,
        Value::Bool(value) => !value,
        Value::Int(value) | Value::Duration(value) => *value == 0,
        Value::Uint(value) => *value == 0,
        Value::Double(value) => value.abs().to_bits() == 0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(list) => list.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}
