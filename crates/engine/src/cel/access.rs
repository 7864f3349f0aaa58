//! Fields, indexes and membership: `b.field`, `has(b.field)`, `b[c]`, `b in c`.
//!
//! As in cel-go, a value without fields gives the error "no such key" for a selection and `false`
//! for `has`. On an optional every access is an optional one, so a chain continues behind a missing
//! member.

use super::context::{Context, spend_key};
use super::error::{Answer, Error};
use super::pool::Root;
use super::value::{List, Map, Str, Value, is_present};
use crate::number;

/// Returns `value.field`.
pub(crate) fn select<'a>(value: &Value<'a>, field: &'a str) -> Answer<'a> {
    match value {
        Value::Map(map) => map.field(field).ok_or(Error::NoSuchKey(Str::Borrowed(field))),
        Value::Message(message) => message.field(field),
        Value::Optional(_) => opt_select(value, field),
        Value::List(_) => Err(list_index_type(&Value::string(field))),
        Value::Error(error) => Err(error.clone()),
        _ => Err(Error::NoSuchKey(Str::Borrowed(field))),
    }
}

/// Returns `value.?field`.
pub(crate) fn opt_select<'a>(value: &Value<'a>, field: &'a str) -> Answer<'a> {
    match value {
        Value::Optional(None) => Ok(Value::none()),
        Value::Optional(Some(inner)) => opt_select_from(inner, field),
        other => opt_select_from(other, field),
    }
}

/// Reads an optional field. Unlike `has`, it accepts only values that can have fields: the
/// specification has no optional field of a number.
fn opt_select_from<'a>(value: &Value<'a>, field: &'a str) -> Answer<'a> {
    if !matches!(value, Value::Map(_) | Value::Message(_) | Value::Optional(_)) {
        return select(value, field);
    }
    if has(value, field)? { select(value, field).map(Value::some) } else { Ok(Value::none()) }
}

/// Returns `has(value.field)`.
pub(crate) fn has<'a>(value: &Value<'a>, field: &'a str) -> Result<bool, Error<'a>> {
    match value {
        Value::Map(map) => Ok(map.field(field).is_some()),
        Value::Message(message) => message.has(field),
        Value::Optional(Some(inner)) if !matches!(**inner, Value::Optional(_)) => has(inner, field),
        Value::List(_) => Err(list_index_type(&Value::string(field))),
        Value::Error(error) => Err(error.clone()),
        _ => Ok(false),
    }
}

/// Returns `value[key]`.
pub(crate) fn index<'a>(
    value: &Value<'a>,
    key: &Value<'a>,
    context: &Context<'a, '_>,
) -> Answer<'a> {
    match value {
        Value::Optional(_) => opt_index(value, key, context),
        Value::List(list) => element(list, key)?.ok_or_else(|| out_of_bounds(key)),
        Value::Hierarchy(segments) => {
            let Value::Int(at) = key else { return Err(index_type(key, "")) };
            let segment = usize::try_from(*at).ok().and_then(|at| segments.get(at));
            segment.cloned().map(Value::String).ok_or(Error::Fixed("index out of range"))
        }
        _ => entry(value, key, context)?.ok_or_else(|| no_such_key(key)),
    }
}

/// Returns `value[?key]`.
pub(crate) fn opt_index<'a>(
    value: &Value<'a>,
    key: &Value<'a>,
    context: &Context<'a, '_>,
) -> Answer<'a> {
    let inner = match value {
        Value::Optional(None) => return Ok(Value::none()),
        Value::Optional(Some(inner)) => inner,
        other => other,
    };
    let found = match inner {
        Value::List(list) => element(list, key)?,
        _ => entry(inner, key, context)?,
    };
    Ok(Value::Optional(found.map(Into::into)))
}

/// Returns `item in range`.
pub(crate) fn contains<'a>(
    item: &Value<'a>,
    range: &Value<'a>,
    context: &Context<'a, '_>,
) -> Result<bool, Error<'a>> {
    let list = match range {
        Value::Map(_) => return Ok(entry(range, item, context)?.is_some()),
        Value::List(list) => list,
        _ => return Err(Error::NoSuchOverload),
    };
    for element in list.iter() {
        context.charge(1)?;
        if context.equal(item, &element)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the value at the end of the path of slot `id`.
pub(crate) fn slot<'a>(id: u32, context: &Context<'a, '_>) -> Answer<'a> {
    let path = slot_path(id, context)?;
    if let Some(answer) = context.activation.slot(id) {
        return answer;
    }
    let (root, path) = slot_root(path, context)?;
    path.iter().try_fold(root, |value, id| select(&value, name(*id, context)?))
}

/// Returns true if the last step of the path of slot `id` leads to a value.
pub(crate) fn has_slot<'a>(id: u32, context: &Context<'a, '_>) -> Result<bool, Error<'a>> {
    let path = slot_path(id, context)?;
    if let Some(answer) = context.activation.has_slot(id) {
        return answer;
    }
    let (root, path) = slot_root(path, context)?;
    let Some((last, path)) = path.split_last() else {
        return Ok(is_present(&root) || is_roles(id, context));
    };
    let value = path.iter().try_fold(root, |value, id| select(&value, name(*id, context)?))?;
    has(&value, name(*last, context)?)
}

/// Returns true for the derived roles: Cerbos reports them as set even when there are none.
fn is_roles(id: u32, context: &Context<'_, '_>) -> bool {
    let at = usize::try_from(id).unwrap_or(usize::MAX);
    context.pool.slots.get(at) == Some(&Root::EffectiveDerivedRoles.code())
}

/// Returns the root of a slot and the string ids of its path.
fn slot_path<'a>(id: u32, context: &Context<'a, '_>) -> Result<(Root, &'a [u32]), Error<'a>> {
    let slots = context.pool.slots;
    let words = usize::try_from(id).ok().and_then(|at| slots.get(at..)).unwrap_or_default();
    let [root, count, rest @ ..] = words else { return Err(Error::Malformed) };
    let count = usize::try_from(*count).map_err(|_| Error::Malformed)?;
    let path = rest.get(..count).ok_or(Error::Malformed)?;
    context.charge(count)?;
    Ok((Root::from_code(*root).ok_or(Error::Malformed)?, path))
}

/// Returns the value of a slot's root, and the rest of the path.
fn slot_root<'a>(
    (root, path): (Root, &'a [u32]),
    context: &Context<'a, '_>,
) -> Result<(Value<'a>, &'a [u32]), Error<'a>> {
    let (variable, path) = match root {
        Root::Free => {
            let (variable, path) = path.split_first().ok_or(Error::Malformed)?;
            (context.activation.root(Root::Free, name(*variable, context)?), path)
        }
        root => (context.activation.root(root, ""), path),
    };
    Ok((variable.into_answer()?, path))
}

fn name<'a>(id: u32, context: &Context<'a, '_>) -> Result<&'a str, Error<'a>> {
    context.pool.string(id).ok_or(Error::Malformed)
}

/// Returns the value under `key` of a map or message; `None` for any other value.
fn entry<'a>(
    value: &Value<'a>,
    key: &Value<'a>,
    context: &Context<'a, '_>,
) -> Result<Option<Value<'a>>, Error<'a>> {
    spend_key(context.steps, key)?;
    match value {
        Value::Map(map) => {
            if let Map::Constant(map) = map {
                context.charge(map.len())?;
            }
            Ok(map.get(key))
        }
        Value::Message(message) => match key {
            Value::String(name) => message.field(name).map(Some),
            _ => Err(no_such_key(key)),
        },
        _ => Ok(None),
    }
}

fn element<'a>(list: &List<'a>, key: &Value<'a>) -> Result<Option<Value<'a>>, Error<'a>> {
    let at = match key {
        Value::Int(at) => Some(*at),
        Value::Uint(at) => i64::try_from(*at).ok(),
        Value::Double(at) => number::exact_int(*at),
        _ => return Err(list_index_type(key)),
    };
    let Some(at) = at else {
        let shown = show(key);
        return Err(Error::text(format_args!("unsupported index value {shown} in list")));
    };
    Ok(usize::try_from(at).ok().and_then(|at| list.get(at)))
}

fn list_index_type<'a>(key: &Value<'a>) -> Error<'a> {
    index_type(key, " in list")
}

fn index_type<'a>(key: &Value<'a>, position: &str) -> Error<'a> {
    let found = key.type_name();
    Error::text(format_args!("unsupported index type '{found}'{position}"))
}

fn out_of_bounds<'a>(key: &Value<'a>) -> Error<'a> {
    match key {
        Value::Int(at) => Error::IndexOutOfBounds(*at),
        other => Error::text(format_args!("index out of bounds: {}", show(other))),
    }
}

fn no_such_key<'a>(key: &Value<'a>) -> Error<'a> {
    match key {
        Value::String(name) => Error::NoSuchKey(name.clone()),
        other => Error::NoSuchKey(Str::from(show(other))),
    }
}

/// Returns a key as Go prints it.
pub(crate) fn show(key: &Value<'_>) -> alloc::string::String {
    use alloc::string::ToString;
    match key {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => number::double_text(*value),
        Value::String(text) => text.to_string(),
        other => other.type_name().to_string(),
    }
}
