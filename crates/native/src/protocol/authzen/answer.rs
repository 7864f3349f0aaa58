//! Answers, as the JSON of AuthZEN.

use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::wire::Json;

use super::AuthzenError;
use crate::protocol::json::{list, member, object};

/// Writes the response to a request about one action.
#[must_use]
pub fn response(decision: &Decision) -> String {
    let mut json = Json::default();
    write_answer(&mut json, decision);
    json.finish()
}

/// Writes the answer to one question, with the outputs of the rules. Returns true if it is allowed.
pub fn write_answer(json: &mut Json, decision: &Decision) -> bool {
    let mut effects = decision.actions.iter().map(|action| action.effect);
    let is_allowed = effects.next() == Some(Effect::Allow);
    object(json, |json| {
        json.key("decision");
        json.boolean(is_allowed);
        if !decision.outputs.is_empty() {
            member(json, "context", |json| list(json, "outputs", &decision.outputs, Json::output));
        }
    });
    is_allowed
}

/// Writes the answer to a question that could not be read, among others that could.
pub fn write_refusal(json: &mut Json, error: &AuthzenError) {
    object(json, |json| {
        json.key("decision");
        json.boolean(false);
        member(json, "context", |json| {
            member(json, "error", |json| {
                json.key("status");
                json.number(400.0);
                json.field("message", &error.to_string());
            });
        });
    });
}
