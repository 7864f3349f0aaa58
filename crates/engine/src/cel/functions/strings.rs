//! The strings extension.
//!
//! Positions count characters, not bytes. A position outside of the text is an error, except where
//! a search may start past the end and finds no match.

mod format;
mod quote;

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::lists;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Str, Value};
use crate::limits::MAX_ELEMENTS;
use crate::text;

pub(super) use format::text_of;
pub(super) use quote::quoted;

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    use Value as V;
    if let Some(V::String(text)) = args.first() {
        context.charge_bytes(text.len())?;
    }
    match (function, args) {
        (F::CharAt, [V::String(text), V::Int(at)]) => char_at(text, *at),
        (F::Format, [V::String(text), V::List(list)]) => format::format(text, list, context),
        (F::IndexOf, [V::String(text), V::String(part)]) => index_of(text, part, 0),
        (F::IndexOf, [V::String(text), V::String(part), V::Int(from)]) => {
            index_of(text, part, *from)
        }
        (F::Join, [V::List(list)]) => join(list, "", context),
        (F::Join, [V::List(list), V::String(separator)]) => join(list, separator, context),
        (F::LastIndexOf, [V::String(text), V::String(part)]) => last_index_of(text, part),
        (F::LastIndexOf, [V::String(text), V::String(part), V::Int(from)]) => {
            last_index_of_from(text, part, *from)
        }
        (F::LowerAscii, [V::String(text)]) => Ok(V::string(text.to_ascii_lowercase())),
        (F::UpperAscii, [V::String(text)]) => Ok(V::string(text.to_ascii_uppercase())),
        (F::Quote, [V::String(text)]) => quote::quote(text, context),
        (F::Replace, [V::String(text), V::String(old), V::String(new)]) => {
            replace(text, old, new, -1, context)
        }
        (F::Replace, [V::String(text), V::String(old), V::String(new), V::Int(most)]) => {
            replace(text, old, new, *most, context)
        }
        (F::Reverse, [V::String(text)]) => Ok(V::string(text.chars().rev().collect::<String>())),
        (F::Reverse, [V::List(list)]) => lists::reverse(list, context),
        (F::Split, [V::String(text), V::String(separator)]) => split(text, separator, -1, context),
        (F::Split, [V::String(text), V::String(separator), V::Int(most)]) => {
            split(text, separator, *most, context)
        }
        (F::Substring, [V::String(text), V::Int(start)]) => {
            part(text, offset(text, *start)?..text.len())
        }
        (F::Substring, [V::String(text), V::Int(start), V::Int(end)]) => {
            substring(text, *start, *end)
        }
        (F::Trim, [V::String(text)]) => trim(text),
        _ => Err(Error::NoSuchOverload),
    }
}

fn char_at<'a>(text: &Str<'a>, at: i64) -> Answer<'a> {
    let start = offset(text, at)?;
    let length = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    part(text, start..start.saturating_add(length))
}

fn substring<'a>(text: &Str<'a>, start: i64, end: i64) -> Answer<'a> {
    if start > end {
        return Err(Error::text(format_args!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    part(text, offset(text, start)?..offset(text, end)?)
}

fn trim<'a>(text: &Str<'a>) -> Answer<'a> {
    let kept = text.trim_start();
    let start = text.len().saturating_sub(kept.len());
    part(text, start..start.saturating_add(kept.trim_end().len()))
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Answer<'a> {
    if from < 0 {
        return Err(out_of_range(from));
    }
    if part.is_empty() {
        return Ok(Value::Int(from.min(count(text))));
    }
    let start = offset(text, from).unwrap_or(text.len());
    let found = text.get(start..).and_then(|rest| text::find(rest, part));
    Ok(position(text, found.map(|at| at.saturating_add(start))))
}

fn last_index_of<'a>(text: &str, part: &str) -> Answer<'a> {
    Ok(position(text, text::rfind(text, part)))
}

/// Finds the last occurrence that starts at `from` or before.
fn last_index_of_from<'a>(text: &str, part: &str, from: i64) -> Answer<'a> {
    if from < 0 {
        return Err(out_of_range(from));
    }
    if part.is_empty() {
        return Ok(Value::Int(from.min(count(text))));
    }
    let found = match offset(text, from) {
        Ok(start) if start < text.len() => {
            let end = text.floor_char_boundary(start.saturating_add(part.len()));
            text.get(..end).and_then(|head| text::rfind(head, part))
        }
        _ => None,
    };
    Ok(position(text, found))
}

fn replace<'a>(
    text: &Str<'a>,
    old: &str,
    new: &str,
    most: i64,
    context: &Context<'a, '_>,
) -> Answer<'a> {
    let most = at_most(most);
    let count = text::positions(text, old).take(most).count();
    // Each one is found twice.
    context.charge(count / 2)?;
    let kept = text.len().saturating_sub(old.len().saturating_mul(count));
    context.charge_string(kept.saturating_add(new.len().saturating_mul(count)))?;
    let mut replaced = String::new();
    let mut start = 0;
    for at in text::positions(text, old).take(count) {
        replaced.push_str(text.get(start..at).unwrap_or_default());
        replaced.push_str(new);
        start = at.saturating_add(old.len());
    }
    replaced.push_str(text.get(start..).unwrap_or_default());
    Ok(Value::string(replaced))
}

fn split<'a>(text: &Str<'a>, separator: &str, most: i64, context: &Context<'a, '_>) -> Answer<'a> {
    let most = at_most(most);
    if most == 0 || (text.is_empty() && separator.is_empty()) {
        return Ok(Value::list(Vec::new()));
    }
    // As many cuts as the largest list has elements give one part too many.
    let cuts = most.saturating_sub(1).min(MAX_ELEMENTS);
    // Without a separator every character is a part: the cuts are between them.
    let bounds: Vec<Range<usize>> = if separator.is_empty() {
        text.char_indices().skip(1).take(cuts).map(|(at, _)| at..at).collect()
    } else {
        text::positions(text, separator).take(cuts).map(|at| at..at + separator.len()).collect()
    };
    context.charge_list(bounds.len().saturating_add(1))?;
    let mut parts = Vec::with_capacity(bounds.len().saturating_add(1));
    let mut start = 0;
    for cut in bounds {
        parts.push(part(text, start..cut.start)?);
        start = cut.end;
    }
    parts.push(part(text, start..text.len())?);
    Ok(Value::list(parts))
}

fn join<'a>(list: &List<'a>, separator: &str, context: &Context<'a, '_>) -> Answer<'a> {
    context.charge(list.len().saturating_mul(3))?;
    let mut joined = String::new();
    for (at, element) in list.iter().enumerate() {
        let Value::String(text) = &element else {
            let shown = text_of(&element, context).unwrap_or_else(|_| element.type_name().into());
            return Err(Error::text(format_args!("join: invalid input: {shown}")));
        };
        let separator = if at == 0 { "" } else { separator };
        let length = joined.len().saturating_add(separator.len()).saturating_add(text.len());
        if length > crate::limits::MAX_STRING_BYTES {
            return Err(Error::Limit);
        }
        context.charge_bytes(separator.len().saturating_add(text.len()))?;
        joined.push_str(separator);
        joined.push_str(text);
    }
    Ok(Value::string(joined))
}

/// Converts a limit on the number of results into a count; a negative one means no limit.
fn at_most(most: i64) -> usize {
    usize::try_from(most).unwrap_or(usize::MAX)
}

fn part<'a>(text: &Str<'a>, range: Range<usize>) -> Answer<'a> {
    text.part(range).map(Value::String).ok_or(Error::NoSuchOverload)
}

fn count(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

/// Returns the offset in bytes of the character at `index`. The end of the text has an index too.
fn offset<'a>(text: &str, index: i64) -> Result<usize, Error<'a>> {
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    usize::try_from(index).ok().and_then(|at| starts.into_iter().nth(at)).ok_or(out_of_range(index))
}

/// Converts an offset in bytes into a count of characters; `None` becomes -1.
fn position<'a>(text: &str, at: Option<usize>) -> Value<'a> {
    at.and_then(|at| text.get(..at)).map_or(Value::Int(-1), |before| Value::Int(count(before)))
}

fn out_of_range<'a>(index: i64) -> Error<'a> {
    Error::text(format_args!("index out of range: {index}"))
}

#[cfg(test)]
mod tests;
