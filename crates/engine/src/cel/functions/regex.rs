//! The regex extension.
//!
//! A literal pattern was compiled with the policy; any other is compiled at each call.

use alloc::string::String;
use alloc::vec::Vec;

use super::pattern::{metered, with_program};
use super::strings::quoted;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{Str, Value};
use crate::limits::MAX_STRING_BYTES;
use crate::regex::{Captures, Program};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    use Value as V;
    let [V::String(text), pattern, rest @ ..] = args else { return Err(Error::NoSuchOverload) };
    context.charge_bytes(text.len())?;
    match (function, rest) {
        (F::RegexExtract, []) => with_program(pattern, context, |program| {
            check_groups(program, pattern)?;
            extract(program, text, context)
        }),
        (F::RegexExtractAll, []) => with_program(pattern, context, |program| {
            check_groups(program, pattern)?;
            extract_all(program, text, context)
        }),
        (F::RegexReplace, [V::String(_), V::Int(0)])
            if matches!(pattern, V::String(_) | V::Regex(_)) =>
        {
            Ok(V::String(text.clone()))
        }
        (F::RegexReplace, [V::String(new), V::Int(most)]) => {
            let most = usize::try_from(*most).unwrap_or(usize::MAX);
            with_program(pattern, context, |program| replace(program, text, new, most, context))
        }
        (F::RegexReplace, [V::String(new)]) => with_program(pattern, context, |program| {
            replace(program, text, new, usize::MAX, context)
        }),
        _ => Err(Error::NoSuchOverload),
    }
}

fn check_groups<'a>(program: Program<'_>, pattern: &Value<'a>) -> Result<(), Error<'a>> {
    if program.groups() <= 2 {
        return Ok(());
    }
    let pattern = match pattern {
        Value::Regex(constant) => constant.name().unwrap_or_default(),
        other => other.as_str().unwrap_or_default(),
    };
    Err(Error::text(format_args!(
        "regular expression has more than one capturing group: {}",
        quoted(pattern)
    )))
}

/// Returns the text of the group, if the pattern has one and it took part; else of the whole match.
fn extracted<'a>(program: Program<'_>, text: &Str<'a>, found: &Captures) -> Option<Value<'a>> {
    if program.groups() > 1 {
        let group = found.group(1).filter(|range| !range.is_empty())?;
        return text.part(group).map(Value::String);
    }
    text.part(found.whole()).map(Value::String)
}

fn extract<'a>(program: Program<'_>, text: &Str<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    let found = metered(context, |steps| program.captures(text, steps))?;
    let part = found.and_then(|found| extracted(program, text, &found));
    Ok(part.map_or(Value::none(), Value::some))
}

fn extract_all<'a>(program: Program<'_>, text: &Str<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    let mut parts = Vec::new();
    let mut matches = program.matches(text);
    while let Some(found) = metered(context, |steps| matches.next(steps))? {
        context.charge_list(parts.len().saturating_add(1)).and(context.charge(1))?;
        parts.extend(extracted(program, text, &found));
    }
    Ok(Value::list(parts))
}

fn replace<'a>(
    program: Program<'_>,
    text: &str,
    new: &str,
    most: usize,
    context: &Context<'a, '_>,
) -> Answer<'a> {
    let mut replaced = String::new();
    let mut kept_from = 0;
    let mut matches = program.matches(text);
    let mut count = 0_usize;
    while count < most {
        let Some(found) = metered(context, |steps| matches.next(steps))? else { break };
        let whole = found.whole();
        replaced.push_str(text.get(kept_from..whole.start).unwrap_or_default());
        expand(new, text, &found, program.groups(), &mut replaced)?;
        context.charge_bytes(new.len())?;
        if replaced.len() > MAX_STRING_BYTES {
            return Err(Error::Limit);
        }
        kept_from = whole.end;
        count = count.saturating_add(1);
    }
    replaced.push_str(text.get(kept_from..).unwrap_or_default());
    context.charge_string(replaced.len())?;
    Ok(Value::string(replaced))
}

/// Appends the replacement; in it `\1` means the text of group 1, and `\\` a backslash.
fn expand<'a>(
    new: &str,
    text: &str,
    found: &Captures,
    groups: usize,
    out: &mut String,
) -> Result<(), Error<'a>> {
    let mut chars = new.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\\') => out.push('\\'),
            Some(digit @ '0'..='9') => {
                let group = digit.to_digit(10).and_then(|d| usize::try_from(d).ok()).unwrap_or(0);
                if group >= groups {
                    return Err(Error::text(format_args!(
                        "replacement string references group {group} but regex has only {} group(s)",
                        groups.saturating_sub(1)
                    )));
                }
                out.push_str(found.group(group).and_then(|at| text.get(at)).unwrap_or_default());
                if out.len() > MAX_STRING_BYTES {
                    return Err(Error::Limit);
                }
            }
            None => return Err(bad_replacement(new, "\\ not allowed at end")),
            Some(_) => {
                return Err(bad_replacement(new, "\\ must be followed by a digit or \\"));
            }
        }
    }
    Ok(())
}

fn bad_replacement<'a>(new: &str, why: &str) -> Error<'a> {
    Error::text(format_args!("invalid replacement string: '{new}' {why}"))
}

#[cfg(test)]
mod tests;
