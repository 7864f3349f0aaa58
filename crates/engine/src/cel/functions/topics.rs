//! Topics of MQTT: whether patterns match a topic, or all topics of a filter.
//!
//! A text is one topic. A map whose only entry is `filter` stands for all topics that the filter
//! matches: the result is then true or false where it is so for each of them, and otherwise the error
//! [`Error::Partly`], which CEL's logic carries to the end of the condition.

use alloc::string::String;
use alloc::vec::Vec;
use core::slice;

use wardgate_mqtt::{Cover, Filter, Level, Limits, Name, TopicError, cover};

#[cfg(feature = "observe")]
use crate::cel::activation::TOPICS;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Map, Value};

pub(super) fn call<'a>(_: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    match args {
        [topic, Value::List(patterns)] => {
            context.charge_list(patterns.len())?;
            let patterns: Vec<Value<'a>> = patterns.iter().collect();
            matches(topic, &patterns, context)
        }
        [topic, pattern] => matches(topic, slice::from_ref(pattern), context),
        [topic, Value::String(pattern), Value::List(words)] => {
            let pattern = Value::string(filled(pattern, words, context)?);
            matches(topic, &[pattern], context)
        }
        _ => Err(Error::NoSuchOverload),
    }
}

fn matches<'a>(topic: &Value<'a>, patterns: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    let entry = if let Value::Map(asked) = topic { filter_of(asked) } else { None };
    let text = entry.as_ref().unwrap_or(topic).as_str().ok_or(Error::NoSuchOverload)?;
    if entry.is_some() {
        return covers(text, patterns, context);
    }
    let name = checked(Name::within(text, &Limits::WIDEST), text, context)?;
    let mut is_matched = false;
    for pattern in patterns {
        is_matched |= pattern_of(pattern, context)?.matches(name);
    }
    Ok(Value::Bool(is_matched))
}

fn covers<'a>(text: &str, patterns: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    let asked = filter(text, context)?;
    let mut filters = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        // The filter is compared with each pattern.
        context.charge_bytes(text.len())?;
        filters.push(pattern_of(pattern, context)?);
    }
    match cover(asked, &filters) {
        Cover::All => Ok(Value::Bool(true)),
        Cover::None => Ok(Value::Bool(false)),
        Cover::Part { witness } => Err(Error::Partly(witness.into())),
    }
}

/// Returns the answer about the topics that the host describes, if the first argument stands for
/// them.
#[cfg(feature = "observe")]
pub(super) fn of_host<'a>(args: &[Value<'a>], context: &Context<'a, '_>) -> Option<Answer<'a>> {
    let topics = context.activation.topics()?;
    let [Value::Error(Error::Partly(text)), patterns @ ..] = args else { return None };
    (**text == *TOPICS).then(|| {
        let patterns = all_patterns(patterns, context)?;
        let filters: Result<Vec<_>, _> =
            patterns.iter().map(|pattern| pattern_of(pattern, context)).collect();
        match topics.matched_by(&filters?) {
            Cover::All => Ok(Value::Bool(true)),
            Cover::None => Ok(Value::Bool(false)),
            Cover::Part { witness } => Err(Error::Partly(witness.into())),
        }
    })
}

#[cfg(feature = "observe")]
fn all_patterns<'a>(
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Result<Vec<Value<'a>>, Error<'a>> {
    if let Some(error) = args.iter().find_map(Value::error) {
        return Err(error.clone().of_operand());
    }
    match args {
        [Value::List(patterns)] => {
            context.charge_list(patterns.len())?;
            Ok(patterns.iter().collect())
        }
        [pattern] => Ok(alloc::vec![pattern.clone()]),
        [Value::String(pattern), Value::List(words)] => {
            Ok(alloc::vec![Value::string(filled(pattern, words, context)?)])
        }
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns the value of `filter` in a map that has no other entry.
fn filter_of<'a>(map: &Map<'a>) -> Option<Value<'a>> {
    let (key, value) = map.entry(0).filter(|_| map.len() == 1)?;
    (key.as_str() == Some("filter")).then_some(value)
}

fn pattern_of<'a, 't>(
    pattern: &'t Value<'a>,
    context: &Context<'a, '_>,
) -> Result<Filter<'t>, Error<'a>> {
    filter(pattern.as_str().ok_or(Error::NoSuchOverload)?, context)
}

/// Reads a filter. `$share/` is a word like any other: the host takes a subscription apart, once.
fn filter<'a, 't>(text: &'t str, context: &Context<'a, '_>) -> Result<Filter<'t>, Error<'a>> {
    checked(Filter::unshared_within(text, &Limits::WIDEST), text, context)
}

fn checked<'a, T>(
    topic: Result<T, TopicError>,
    text: &str,
    context: &Context<'a, '_>,
) -> Result<T, Error<'a>> {
    context.charge(1)?;
    context.charge_bytes(text.len())?;
    topic.map_err(|error| Error::Fixed(error.reason()))
}

/// Puts the words in the place of the levels `{}`, one for each.
fn filled<'a>(
    pattern: &str,
    words: &List<'a>,
    context: &Context<'a, '_>,
) -> Result<String, Error<'a>> {
    let mut words = words.iter();
    let mut text = String::new();
    for (number, level) in filter(pattern, context)?.levels().enumerate() {
        let word =
            if level == Level::Word("{}") { Some(words.next().ok_or(WRONG_COUNT)?) } else { None };
        let level = match (&word, level) {
            (Some(word), _) => word.as_str().ok_or(Error::NoSuchOverload)?,
            (None, Level::Word(word)) => word,
            (None, Level::Any) => "+",
            (None, Level::Rest) => "#",
        };
        if word.is_some() && !Level::may_fill(level, number) {
            return Err(Error::Fixed("a value for `{}` is not one level of a topic"));
        }
        context.charge_string(text.len().saturating_add(level.len()))?;
        if number > 0 {
            text.push('/');
        }
        text.push_str(level);
    }
    if words.next().is_some() { Err(WRONG_COUNT) } else { Ok(text) }
}

const WRONG_COUNT: Error<'static> = Error::Fixed("there is not one value for each `{}`");
