//! Cerbos's functions over file paths, of Unix and of Windows.

mod cross;
mod slash;

use self::cross::{CrossPath, Unsupported};
use super::hierarchy::strings;
use super::strings::quoted;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Str, Value};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    use Value as V;
    for arg in args {
        // A path is cleaned, and then read element by element.
        context.charge_bytes(arg.as_str().map_or(0, str::len).saturating_mul(8))?;
    }
    match (function, args) {
        (F::BasePath, [V::String(path)]) => Ok(string(parse(path, "path")?.base())),
        (F::DirPath, [V::String(path)]) => directory(path),
        (F::ExtPath, [V::String(path)]) => Ok(string(parse(path, "path")?.ext())),
        (F::JoinPath, [V::List(paths)]) => join(paths, context),
        (F::PathHasPrefix, [V::String(path), V::String(prefix)]) => has_prefix(path, prefix),
        (F::PathMatch, [V::String(path), V::String(pattern)]) => {
            matches(path, pattern, context).map(V::Bool)
        }
        (F::PathMatchAnyOf, [V::String(path), V::List(patterns)]) => {
            matches_any(path, patterns, context)
        }
        (F::RelPath, [V::String(from), V::String(to)]) => relate(from, to).map(V::string),
        (F::VolumeName, [V::String(path)]) => {
            let length = cross::volume(path).len();
            path.part(0..length).map(V::String).ok_or(Error::NoSuchOverload)
        }
        _ => Err(Error::NoSuchOverload),
    }
}

fn parse<'a>(path: &str, role: &str) -> Result<CrossPath, Error<'a>> {
    CrossPath::parse(path).map_err(|Unsupported| {
        Error::text(format_args!("failed to encode {role} {path}: unsupported Win32 path"))
    })
}

fn string<'a>(text: &str) -> Value<'a> {
    Value::string(alloc::string::String::from(text))
}

fn directory<'a>(path: &str) -> Answer<'a> {
    parse(path, "path")?
        .dir()
        .map(Value::string)
        .ok_or(Error::Fixed("a path of one element has no directory"))
}

fn join<'a>(paths: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    let paths = strings(paths, context)?;
    let Some((first, others)) = paths.split_first() else { return Ok(string("")) };
    if others.is_empty() {
        return Ok(Value::String(first.clone()));
    }
    let mut joined = parse(first, "first path")?;
    for path in others {
        // Each step cleans the whole path again.
        context.charge_string(joined.value().len().saturating_add(path.len()))?;
        joined.push(&parse(path, "path")?);
    }
    Ok(Value::string(joined.text()))
}

fn has_prefix<'a>(path: &Str<'a>, prefix: &Str<'a>) -> Answer<'a> {
    if path == prefix {
        return Ok(Value::Bool(true));
    }
    let way = relate(prefix, path)?;
    Ok(Value::Bool(!way.is_empty() && !way.starts_with(['.', '/'])))
}

fn relate<'a>(from: &str, to: &str) -> Result<alloc::string::String, Error<'a>> {
    let base = parse(from, "base path")?;
    let target = parse(to, "target path")?;
    base.relate(&target).ok_or_else(|| {
        Error::text(format_args!(
            "failed to determine relative path of {to}: Rel: can't make {} relative to {}",
            target.value(),
            base.value(),
        ))
    })
}

fn matches_any<'a>(path: &str, patterns: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    for pattern in strings(patterns, context)? {
        if matches(path, &pattern, context)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn matches<'a>(path: &str, pattern: &str, context: &Context<'a, '_>) -> Result<bool, Error<'a>> {
    // Each part of the pattern may be tried at each position of the path.
    context.charge_bytes(path.len().saturating_add(1).saturating_mul(pattern.len()))?;
    let name = parse(path, "path")?;
    let shape = parse(pattern, "pattern")?;
    slash::matches(shape.value(), name.value()).map_err(|slash::BadPattern| {
        Error::text(format_args!(
            "failed to match pattern {} on path {}: syntax error in pattern",
            quoted(pattern),
            quoted(path),
        ))
    })
}

#[cfg(test)]
mod tests;
