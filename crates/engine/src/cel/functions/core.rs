//! The standard library over strings, bytes, lists and maps.

use super::pattern::with_pattern;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::Value;
use crate::text;

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    match (function, args) {
        (Function::Size, [value]) => size(value, context),
        (Function::Type, [value]) => Ok(Value::Type(value.type_name())),
        (Function::Dyn, [value]) => Ok(value.clone()),
        (Function::Matches, [Value::String(text), pattern]) => {
            let found =
                with_pattern(pattern, context, |program, steps| program.is_match(text, steps));
            found.map(Value::Bool)
        }
        (_, [Value::String(text), Value::String(part)]) => {
            context.charge_bytes(text.len().saturating_add(part.len()))?;
            let (text, part) = (&**text, &**part);
            match function {
                Function::Contains => Ok(text::find(text, part).is_some().into()),
                Function::StartsWith => Ok(text.starts_with(part).into()),
                Function::EndsWith => Ok(text.ends_with(part).into()),
                _ => Err(Error::NoSuchOverload),
            }
        }
        _ => Err(Error::NoSuchOverload),
    }
}

/// Counts code points, bytes, elements or entries.
fn size<'a>(value: &Value<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    Ok(Value::length(match value {
        Value::String(text) => {
            context.charge_bytes(text.len())?;
            text.chars().count()
        }
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::Hierarchy(segments) => segments.len(),
        Value::Timestamp(_) | Value::Duration(_) => return Err(Error::NoSuchOverload),
        _ => return Err(Error::Fixed("no such overload: size")),
    }))
}
