//! Answers in words for people, and reports as JSON on one line.

use serde::Serialize;
use serde_json::Value as Json;
use wardgate_engine::decision::{Decision, Reason, ValidationSource};
use wardgate_engine::wire;

/// Returns an answer as JSON on one line.
pub(crate) fn line(value: &impl Serialize) -> String {
    // Nothing here can fail to become JSON: names are text, and there are no maps with other keys.
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns an object without its members that are null.
pub(crate) fn present(mut object: Json) -> Json {
    if let Json::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Returns an object with one member more.
pub(crate) fn with(mut object: Json, name: &str, value: impl Into<Json>) -> Json {
    if let Json::Object(members) = &mut object {
        members.insert(name.to_owned(), value.into());
    }
    object
}

/// Returns why an action was decided as it was, in words.
pub(crate) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Rule(rule) => rule.clone(),
        Reason::NotInRolePolicy => "a role policy does not list the action".to_owned(),
        Reason::NoRuleApplied => "no rule applied".to_owned(),
        Reason::NoPolicy => "there is no policy for this request".to_owned(),
        Reason::ConditionError(rule) => format!("a condition failed in {rule}"),
        Reason::LimitReached(rule) => format!("a limit was reached in {rule}"),
        Reason::RequestLimitReached => "the request reached a limit".to_owned(),
        Reason::SchemaViolation => "the attributes do not fit the schema".to_owned(),
        Reason::Expired => "the policies have expired".to_owned(),
        Reason::Limited(limit) => format!("the rate limit `{limit}` refuses"),
        Reason::LimitError(limit) => format!("the rate limit `{limit}` failed"),
        Reason::StoreAway(limit) => format!("the store of the rate limit `{limit}` is away"),
    }
}

/// Returns what came with a decision, one line each.
pub(crate) fn extras(decision: &Decision) -> Vec<String> {
    let mut lines = Vec::new();
    for output in &decision.outputs {
        let value = match &output.value {
            Ok(value) => wire::attr_json(value),
            Err(error) => format!("failed: {error}"),
        };
        lines.push(format!("output of {} for {}: {value}", output.source, output.action));
    }
    for error in &decision.validation_errors {
        let whose = match error.source {
            ValidationSource::Principal => "principal",
            ValidationSource::Resource => "resource",
        };
        let path = if error.path.is_empty() { "/" } else { &error.path };
        lines.push(format!("the {whose} does not fit its schema at {path}: {}", error.message));
    }
    for error in &decision.evaluation_errors {
        lines.push(format!("failed: `{}`: {}", error.expression, error.message));
    }
    lines
}
