//! Decisions in the JSON of Cerbos.

use wardgate_engine::decision::{Decision, Effect, Output, ValidationError, ValidationSource};
use wardgate_engine::request::Resource;
use wardgate_engine::wire::Json;

use crate::limits::MAX_ANSWER_BYTES;

/// Writes the answer about one resource. Outputs end with the one that makes it longer than an answer may be: whoever
/// joins it to others refuses it.
pub(in crate::http) fn entry(
    json: &mut Json,
    resource: &Resource,
    decision: &Decision,
    with_meta: bool,
) {
    json.open('{');
    json.key("resource");
    json.open('{');
    json.field("id", &resource.id);
    json.field("kind", &resource.kind);
    optional(json, "policyVersion", &resource.policy_version);
    optional(json, "scope", &resource.scope);
    json.close('}');
    effects(json, decision);
    validation_errors(json, decision);
    if with_meta {
        json.key("meta");
        meta(json, decision);
    }
    outputs(json, decision);
    json.close('}');
}

/// Writes the effect on each action.
pub(super) fn effects(json: &mut Json, decision: &Decision) {
    json.key("actions");
    json.open('{');
    for action in &decision.actions {
        json.field(&action.action, effect(action.effect));
    }
    json.close('}');
}

/// Writes where attributes do not fit their schema, if there is such a place.
pub(super) fn validation_errors(json: &mut Json, decision: &Decision) {
    if decision.validation_errors.is_empty() {
        return;
    }
    json.key("validationErrors");
    json.open('[');
    for ValidationError { path, message, source } in &decision.validation_errors {
        json.open('{');
        json.field("path", path);
        json.field("message", message);
        let source = match source {
            ValidationSource::Principal => "SOURCE_PRINCIPAL",
            ValidationSource::Resource => "SOURCE_RESOURCE",
        };
        json.field("source", source);
        json.close('}');
    }
    json.close(']');
}

/// Writes which policies decided, and the derived roles in effect.
pub(super) fn meta(json: &mut Json, decision: &Decision) {
    json.open('{');
    json.key("actions");
    json.open('{');
    for action in &decision.actions {
        json.key(&action.action);
        json.open('{');
        json.field("matchedPolicy", &action.policy);
        optional(json, "matchedScope", &action.scope);
        json.close('}');
    }
    json.close('}');
    if !decision.effective_derived_roles.is_empty() {
        json.key("effectiveDerivedRoles");
        json.open('[');
        decision.effective_derived_roles.iter().for_each(|role| json.string(role));
        json.close(']');
    }
    json.close('}');
}

fn outputs(json: &mut Json, decision: &Decision) {
    if decision.outputs.is_empty() {
        return;
    }
    json.key("outputs");
    json.open('[');
    for Output { source, action, value } in &decision.outputs {
        if json.length() > MAX_ANSWER_BYTES {
            break;
        }
        json.open('{');
        json.field("src", source);
        json.field("action", action);
        match value {
            Ok(value) => {
                json.key("val");
                json.attr(value);
            }
            Err(error) => json.field("error", error),
        }
        json.close('}');
    }
    json.close(']');
}

/// Writes text that is not empty.
pub(super) fn optional(json: &mut Json, name: &str, text: &str) {
    if !text.is_empty() {
        json.field(name, text);
    }
}

pub(super) const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "EFFECT_ALLOW",
        Effect::Deny => "EFFECT_DENY",
    }
}
