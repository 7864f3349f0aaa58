//! Topics of MQTT: whether patterns match a topic, or all topics of a filter.
//!
//! A text is one topic. A map whose only entry is `filter` stands for all topics that the filter
//! matches: the result is then true or false where it is so for each of them, and otherwise the error
//! [`Error::Partly`], which CEL's logic carries to the end of the condition.

use alloc::string::String;
use alloc::vec::Vec;

use wardgate_mqtt::{Cover, Filter, Limits, Name, TopicError, cover};

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Map, Value};

pub(super) fn call<'a>(_: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    match args {
        [topic, Value::String(pattern)] => matches(topic, &[pattern], context),
        [topic, Value::List(patterns)] => {
            context.charge_list(patterns.len())?;
            let patterns: Vec<_> = patterns.iter().collect();
            let patterns: Option<Vec<_>> = patterns.iter().map(Value::as_str).collect();
            matches(topic, &patterns.ok_or(Error::NoSuchOverload)?, context)
        }
        [topic, Value::String(pattern), Value::List(words)] => {
            matches(topic, &[&filled(pattern, words, context)?], context)
        }
        _ => Err(Error::NoSuchOverload),
    }
}

fn matches<'a>(topic: &Value<'a>, patterns: &[&str], context: &Context<'a, '_>) -> Answer<'a> {
    match topic {
        Value::String(name) => {
            let name = checked(Name::within(name, &Limits::WIDEST), name, context)?;
            let mut is_matched = false;
            for pattern in patterns {
                is_matched |= pattern_of(pattern, context)?.matches(name);
            }
            Ok(Value::Bool(is_matched))
        }
        Value::Map(asked) => {
            let text = filter_of(asked).ok_or(Error::NoSuchOverload)?;
            let text = text.as_str().ok_or(Error::NoSuchOverload)?;
            let asked = pattern_of(text, context)?;
            let mut filters = Vec::with_capacity(patterns.len());
            for pattern in patterns {
                // The filter is compared with each pattern.
                context.charge_bytes(text.len())?;
                filters.push(pattern_of(pattern, context)?);
            }
            match cover(asked, &filters) {
                Cover::All => Ok(Value::Bool(true)),
                Cover::None => Ok(Value::Bool(false)),
                Cover::Part { witness } => Err(Error::partly(witness, false)),
            }
        }
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns the value of `filter` in a map that has no other entry.
fn filter_of<'a>(map: &Map<'a>) -> Option<Value<'a>> {
    let (key, value) = map.entry(0).filter(|_| map.len() == 1)?;
    (key.as_str() == Some("filter")).then_some(value)
}

/// Reads a filter. `$share/` is a word like any other: the host takes a subscription apart, once.
fn pattern_of<'a, 't>(text: &'t str, context: &Context<'a, '_>) -> Result<Filter<'t>, Error<'a>> {
    checked(Filter::unshared_within(text, &Limits::WIDEST), text, context)
}

fn checked<'a, T>(
    topic: Result<T, TopicError>,
    text: &str,
    context: &Context<'a, '_>,
) -> Result<T, Error<'a>> {
    context.charge(1)?;
    context.charge_bytes(text.len())?;
    topic.map_err(|error| Error::text(format_args!("invalid topic: {error}")))
}

/// Puts the words in the place of the levels `{}`, one for each.
fn filled<'a>(
    pattern: &str,
    words: &List<'a>,
    context: &Context<'a, '_>,
) -> Result<String, Error<'a>> {
    let mut words = words.iter();
    let mut text = String::new();
    for (number, level) in pattern.split('/').enumerate() {
        if number > 0 {
            text.push('/');
        }
        if level != "{}" {
            context.charge_string(text.len().saturating_add(level.len()))?;
            text.push_str(level);
            continue;
        }
        let word = words.next().ok_or(WRONG_COUNT)?;
        let word = word.as_str().ok_or(Error::NoSuchOverload)?;
        context.charge_string(text.len().saturating_add(word.len()))?;
        // A word from outside must not become a wildcard, more levels, or an internal topic.
        if word.is_empty() || word.contains(['/', '+', '#', '\0']) {
            return Err(Error::Fixed("a value for `{}` is not one level of a topic"));
        }
        if number == 0 && word.starts_with('$') {
            return Err(Error::Fixed("a value for `{}` at the front begins with `$`"));
        }
        text.push_str(word);
    }
    if words.next().is_some() { Err(WRONG_COUNT) } else { Ok(text) }
}

const WRONG_COUNT: Error<'static> = Error::Fixed("there is not one value for each `{}`");
