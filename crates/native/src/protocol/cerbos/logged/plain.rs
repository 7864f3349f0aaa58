//! The plain reader of entries, for those that are not usual.
//!
//! It also looks into the envelopes of collectors, once: an entry may be the value of a member such as `message`, as
//! an object or as text, and may follow the head that container runtimes write before a line.

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use super::{Line, Other, Unread, time};
use crate::error::RequestError;
use crate::fast::json::entry_document;
use crate::request::of_check;

/// An entry that was read as a whole.
#[derive(Debug)]
pub struct PlainEntry {
    /// The time of the entry.
    pub time: Timestamp,
    /// The inputs, in their order.
    pub inputs: Vec<PlainInput>,
}

/// One input.
#[derive(Debug)]
pub struct PlainInput {
    /// The request, or why it is none: masks remove parts of it.
    pub request: Result<Request, RequestError>,
    /// The effect that was logged for each action; `None` if there is none. Those of the output, if the
    /// request cannot be read.
    pub was_allowed: Vec<Option<bool>>,
}

/// Reads a line as a whole.
///
/// # Errors
/// As [`read`](super::read).
pub fn plain(line: &[u8]) -> Result<Line<'static>, Unread> {
    let document = entry_document(without_head(line))?;
    if let Some(line) = entry(&document)? {
        return Ok(line);
    }
    let Attr::Map(members) = &document else {
        return Err(Unread::Entry("it is no object".to_owned()));
    };
    let inner = ENVELOPES.iter().find_map(|name| members.get(name));
    let found = match inner {
        Some(Attr::String(text)) if text.trim_start().starts_with('{') => {
            entry(&entry_document(text.trim().as_bytes())?)?
        }
        Some(inner @ Attr::Map(_)) => entry(inner)?,
        _ => None,
    };
    Ok(found.unwrap_or(Line::Other(Other::Unknown)))
}

/// Returns the effect of a name; `None` for one that says nothing.
pub(super) fn effect(name: &str) -> Option<bool> {
    match name {
        "EFFECT_ALLOW" => Some(true),
        "EFFECT_DENY" | "EFFECT_NO_MATCH" => Some(false),
        _ => None,
    }
}

/// Returns a line without the time, the stream and the mark that container runtimes write before it.
fn without_head(line: &[u8]) -> &[u8] {
    let mut rest = line;
    for _ in 0..3 {
        let Some(space) = rest.iter().take(MAX_HEAD_WORD).position(|byte| *byte == b' ') else {
            return line;
        };
        rest = rest.get(space + 1..).unwrap_or(&[]);
    }
    if rest.starts_with(b"{") && line.first().is_some_and(u8::is_ascii_digit) { rest } else { line }
}

/// Reads an entry; `None` if the value is none.
fn entry(value: &Attr) -> Result<Option<Line<'static>>, Unread> {
    let Attr::Map(_) = value else { return Ok(None) };
    let checks = either(value, "checkResources", "check_resources").unwrap_or(value);
    let other = other(value);
    let (inputs, outputs) = (list(checks, "inputs"), list(checks, "outputs"));
    let has_failed = text(checks, "error").is_some_and(|error| !error.is_empty());
    let inputs = match (inputs, other) {
        (Some(inputs), _) if outputs.is_some() => inputs,
        (_, Some(other)) => return Ok(Some(Line::Other(other))),
        (_, None) if has_failed => return Ok(Some(Line::Other(Other::Failed))),
        (Some(inputs), None) => inputs,
        (None, None) => return Ok(None),
    };
    let outputs = outputs.unwrap_or(&[]);
    let mut read = Vec::new();
    for (at, value) in inputs.iter().enumerate() {
        read.push(input(value, outputs.get(at))?);
    }
    if outputs.len() > inputs.len() {
        return Err(Unread::Entry("it has more outputs than inputs".to_owned()));
    }
    let time = time(text(value, "timestamp"))?;
    Ok(Some(Line::Plain(PlainEntry { time, inputs: read })))
}

fn other(value: &Attr) -> Option<Other> {
    if either(value, "planResources", "plan_resources").is_some() {
        return Some(Other::Plan);
    }
    if text(value, "log.kind") == Some("access") || text(value, "method").is_some() {
        return Some(Other::Access);
    }
    matches!(member(value, "oversized"), Some(Attr::Bool(true))).then_some(Other::Oversized)
}

fn input(value: &Attr, output: Option<&Attr>) -> Result<PlainInput, Unread> {
    let effects = output.and_then(|output| member(output, "actions"));
    let effects = match effects {
        Some(Attr::Map(effects)) => effects.entries(),
        None => &[],
        Some(_) => return Err(Unread::Entry("the actions of an output are no object".to_owned())),
    };
    let effect_of = |value: &Attr| text(value, "effect").and_then(effect);
    let request = of_check(value.clone());
    let was_allowed = match &request {
        Err(_) => effects.iter().map(|(_, value)| effect_of(value)).collect(),
        Ok(request) => {
            let id = output.and_then(|output| text_of(output, "resourceId", "resource_id"));
            if id.is_some_and(|id| id != request.resource.id) {
                return Err(Unread::Entry("an output is about another resource".to_owned()));
            }
            if effects
                .iter()
                .any(|(name, _)| request.actions.iter().all(|action| **action != **name))
            {
                return Err(Unread::Entry("an output has an action that was not asked".to_owned()));
            }
            let of = |action: &String| {
                let found = effects.iter().find(|(name, _)| **name == **action);
                found.and_then(|(_, value)| effect_of(value))
            };
            request.actions.iter().map(of).collect()
        }
    };
    Ok(PlainInput { request, was_allowed })
}

fn member<'v>(value: &'v Attr, name: &str) -> Option<&'v Attr> {
    let Attr::Map(members) = value else { return None };
    members.get(name).filter(|value| **value != Attr::Null)
}

fn either<'v>(value: &'v Attr, camel: &str, snake: &str) -> Option<&'v Attr> {
    member(value, camel).or_else(|| member(value, snake))
}

fn text_of<'v>(value: &'v Attr, camel: &str, snake: &str) -> Option<&'v str> {
    match either(value, camel, snake) {
        Some(Attr::String(text)) => Some(text),
        _ => None,
    }
}

fn text<'v>(value: &'v Attr, name: &str) -> Option<&'v str> {
    text_of(value, name, name)
}

fn list<'v>(value: &'v Attr, name: &str) -> Option<&'v [Attr]> {
    match member(value, name) {
        Some(Attr::List(items)) => Some(items),
        _ => None,
    }
}

/// The members in which collectors put a line.
const ENVELOPES: [&str; 9] = [
    "log",
    "message",
    "msg",
    "MESSAGE",
    "body",
    "jsonPayload",
    "event",
    "_source",
    "decisionLogEntry",
];

/// The longest word of the head that container runtimes write before a line.
const MAX_HEAD_WORD: usize = 64;
