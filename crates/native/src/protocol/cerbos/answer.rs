//! Decisions in the JSON of Cerbos: the one writer of each part of its messages.

use wardgate_engine::decision::{Decision, Effect, Output, ValidationSource};
use wardgate_engine::request::Resource;
use wardgate_engine::wire::Json;

use crate::protocol::json::{document, list, member, object};

/// The beginning of a CheckResources response; results follow, and then `]}`.
#[must_use]
pub fn begin_response(request_id: &str) -> String {
    let mut json = Json::default();
    json.open('{');
    optional(&mut json, "requestId", request_id);
    json.key("results");
    json.open('[');
    json.finish()
}

/// The result for one resource.
#[derive(Clone, Copy, Debug)]
pub struct ResultEntry<'a> {
    /// The resource of the request.
    pub resource: &'a Resource,
    /// The decision on its actions.
    pub decision: &'a Decision,
    /// The outputs of the decision, as [`outputs`] returned them.
    pub outputs: &'a [String],
    /// True if the result names the policies that decided.
    pub with_meta: bool,
}

impl ResultEntry<'_> {
    /// Writes the result.
    pub fn write(&self, json: &mut Json) {
        let Self { resource, decision, outputs, with_meta } = *self;
        object(json, |json| {
            member(json, "resource", |json| {
                json.field("id", &resource.id);
                json.field("kind", &resource.kind);
                optional(json, "policyVersion", &resource.policy_version);
                optional(json, "scope", &resource.scope);
            });
            effects(json, decision);
            validation_errors(json, decision);
            if with_meta {
                json.key("meta");
                meta(json, decision);
            }
            if !outputs.is_empty() {
                list(json, "outputs", outputs, |json, output| json.element(output));
            }
        });
    }
}

/// Returns each output as JSON. The list ends with the output that makes it longer than `most` bytes;
/// a caller with that bound refuses the answer.
#[must_use]
pub fn outputs(decision: &Decision, most: usize) -> Vec<String> {
    let (mut outputs, mut length) = (Vec::new(), 0_usize);
    for output in &decision.outputs {
        if length > most {
            break;
        }
        let text = output_json(output);
        length = length.saturating_add(text.len());
        outputs.push(text);
    }
    outputs
}

fn output_json(Output { source, action, value }: &Output) -> String {
    document(|json| {
        json.field("src", source);
        json.field("action", action);
        match value {
            Ok(value) => {
                json.key("val");
                json.attr(value);
            }
            Err(error) => json.field("error", error),
        }
    })
}

/// Writes the effect on each action.
pub fn effects(json: &mut Json, decision: &Decision) {
    member(json, "actions", |json| {
        for action in &decision.actions {
            json.field(&action.action, effect(action.effect));
        }
    });
}

/// Writes where attributes do not fit their schema, if there is such a place.
pub fn validation_errors(json: &mut Json, decision: &Decision) {
    if decision.validation_errors.is_empty() {
        return;
    }
    list(json, "validationErrors", &decision.validation_errors, |json, error| {
        object(json, |json| {
            json.field("path", &error.path);
            json.field("message", &error.message);
            let source = match error.source {
                ValidationSource::Principal => "SOURCE_PRINCIPAL",
                ValidationSource::Resource => "SOURCE_RESOURCE",
            };
            json.field("source", source);
        });
    });
}

/// Writes which policies decided, and the derived roles in effect.
pub fn meta(json: &mut Json, decision: &Decision) {
    object(json, |json| {
        member(json, "actions", |json| {
            for action in &decision.actions {
                member(json, &action.action, |json| {
                    json.field("matchedPolicy", &action.policy);
                    optional(json, "matchedScope", &action.scope);
                });
            }
        });
        let roles = &decision.effective_derived_roles;
        if !roles.is_empty() {
            list(json, "effectiveDerivedRoles", roles, |json, role| json.string(role));
        }
    });
}

/// Writes text that is not empty.
pub fn optional(json: &mut Json, name: &str, text: &str) {
    if !text.is_empty() {
        json.field(name, text);
    }
}

/// Returns the name of an effect.
#[must_use]
pub const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "EFFECT_ALLOW",
        Effect::Deny => "EFFECT_DENY",
    }
}
