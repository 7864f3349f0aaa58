//! Decisions as canonical JSON: the bytes that are equal on every host.
//!
//! Fields are in a fixed order, absent ones are left out, maps are sorted, and there is no white
//! space, so equal decisions have equal bytes.

mod fast_paths;
mod reads;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::attr::Attr;
use crate::decide::{Explanation, Outcome, Step};
use crate::decision::{
    ActionDecision, Decision, Effect, Output, Reason, ValidationError, ValidationSource,
};
use crate::number::decimal;
use crate::text::push_digits;
pub use fast_paths::{
    actions_json, coverage_json, fast_path_json, fast_path_kinds_json, fast_path_list_json,
    granted_json, outputs_json, principals_json, untested_fast_path_json, verdict_json,
};
pub use reads::read_names_json;

/// Returns `decision` as JSON.
#[must_use]
pub fn decision_json(decision: &Decision) -> String {
    let mut json = Json::default();
    json.decision(decision);
    json.text
}

/// Returns the outputs and errors of `decision` as JSON; the empty text if there are none.
#[must_use]
pub fn details_json(decision: &Decision) -> String {
    let Decision { outputs, validation_errors, evaluation_errors, .. } = decision;
    if outputs.is_empty() && validation_errors.is_empty() && evaluation_errors.is_empty() {
        return String::new();
    }
    let mut json = Json::default();
    json.open('{');
    json.details(decision);
    json.close('}');
    json.text
}

/// Returns `explanation` as JSON: `{"decision": ..., "steps": [...]}`.
#[must_use]
pub fn explanation_json(explanation: &Explanation) -> String {
    let mut json = Json::default();
    json.open('{');
    json.key("decision");
    json.decision(&explanation.decision);
    json.list("steps", &explanation.steps, Json::step);
    json.close('}');
    json.text
}

/// Returns `attr` as JSON. Numbers that JSON cannot write become strings, as in protobuf's JSON.
#[must_use]
pub fn attr_json(attr: &Attr) -> String {
    let mut json = Json::default();
    json.attr(attr);
    json.text
}

/// Returns the name of `effect` in JSON.
#[must_use]
pub const fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    }
}

/// JSON under construction.
///
/// Commas are written automatically; the caller matches the brackets.
#[derive(Debug, Default)]
pub struct Json {
    text: String,
}

impl Json {
    /// Opens a list or an object.
    pub fn open(&mut self, bracket: char) {
        self.separate();
        self.text.push(bracket);
    }

    /// Closes a list or an object.
    pub fn close(&mut self, bracket: char) {
        self.text.push(bracket);
    }

    /// Returns the text.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// Returns the number of bytes written.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.text.len()
    }

    /// Writes a comma, except behind an opening bracket or a name.
    fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(['{', '[', ':']) {
            self.text.push(',');
        }
    }

    /// Writes the name of a member; its value follows.
    pub fn key(&mut self, name: &str) {
        self.separate();
        self.quoted(name);
        self.text.push(':');
    }

    /// Writes a value that is JSON already.
    pub fn element(&mut self, json: &str) {
        self.separate();
        self.text.push_str(json);
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        self.separate();
        self.quoted(text);
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        let mut rest = text;
        while let Some((before, c, after)) = escaped(rest) {
            self.text.push_str(before);
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                c => {
                    self.text.push_str("\\u");
                    push_digits(&mut self.text, u64::from(c), 16, 4);
                }
            }
            rest = after;
        }
        self.text.push_str(rest);
        self.text.push('"');
    }

    /// Writes a number; one that JSON cannot write becomes a string.
    pub fn number(&mut self, number: f64) {
        self.separate();
        let _ = if number.is_nan() {
            self.text.write_str("\"NaN\"")
        } else if number.is_infinite() {
            write!(self.text, "\"{}Infinity\"", if number < 0.0 { "-" } else { "" })
        } else if number.abs() >= 1e21 {
            let (mantissa, exponent) = decimal::scientific(number);
            write!(self.text, "{mantissa}e{exponent}")
        } else {
            self.text.write_str(&decimal::text(number))
        };
    }

    /// Writes a member whose value is a string.
    pub fn field(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }

    /// Writes a list unless it is empty.
    fn list<T>(&mut self, name: &str, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        if items.is_empty() {
            return;
        }
        self.key(name);
        self.open('[');
        for item in items {
            write(self, item);
        }
        self.close(']');
    }

    /// Writes an attribute.
    pub fn attr(&mut self, attr: &Attr) {
        match attr {
            Attr::Null => self.null(),
            Attr::Bool(value) => self.boolean(*value),
            Attr::Number(number) => self.number(*number),
            Attr::String(text) => self.string(text),
            Attr::List(items) => {
                self.open('[');
                items.iter().for_each(|item| self.attr(item));
                self.close(']');
            }
            Attr::Map(map) => {
                self.open('{');
                for (key, value) in map.entries() {
                    self.key(key);
                    self.attr(value);
                }
                self.close('}');
            }
        }
    }

    /// Writes `null`.
    fn null(&mut self) {
        self.literal("null");
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.literal(if value { "true" } else { "false" });
    }

    fn literal(&mut self, text: &str) {
        self.separate();
        self.text.push_str(text);
    }

    fn decision(&mut self, decision: &Decision) {
        self.open('{');
        self.field("requestId", &decision.request_id);
        self.field("resourceId", &decision.resource_id);
        self.key("actions");
        self.open('{');
        for action in &decision.actions {
            self.action(action);
        }
        self.close('}');
        let roles: &Vec<String> = &decision.effective_derived_roles;
        self.list("effectiveDerivedRoles", roles, |json, role| json.string(role));
        self.details(decision);
        self.close('}');
    }

    /// Writes the outputs and errors of a decision.
    fn details(&mut self, decision: &Decision) {
        self.list("outputs", &decision.outputs, Self::output);
        self.list("validationErrors", &decision.validation_errors, Self::validation_error);
        self.list("evaluationErrors", &decision.evaluation_errors, |json, error| {
            json.open('{');
            json.field("expression", &error.expression);
            json.field("message", &error.message);
            json.close('}');
        });
    }

    fn action(&mut self, action: &ActionDecision) {
        self.key(&action.action);
        self.action_decision(action);
    }

    /// Writes the decision on an action without its name.
    fn action_decision(&mut self, action: &ActionDecision) {
        self.open('{');
        self.field("effect", effect_name(action.effect));
        self.field("policy", &action.policy);
        self.field("scope", &action.scope);
        let (kind, rule) = reason_parts(&action.reason);
        self.key("reason");
        self.open('{');
        self.field("kind", kind);
        if let Some(rule) = rule {
            self.field(source_name(&action.reason), rule);
        }
        self.close('}');
        self.close('}');
    }

    /// Writes one output: `{"src", "action", "val"}`, or `error` instead of `val`.
    pub fn output(&mut self, output: &Output) {
        self.open('{');
        self.field("src", &output.source);
        self.field("action", &output.action);
        match &output.value {
            Ok(value) => {
                self.key("val");
                self.attr(value);
            }
            Err(error) => self.field("error", error),
        }
        self.close('}');
    }

    fn validation_error(&mut self, error: &ValidationError) {
        self.open('{');
        self.field("path", &error.path);
        self.field("message", &error.message);
        self.field(
            "source",
            match error.source {
                ValidationSource::Principal => "SOURCE_PRINCIPAL",
                ValidationSource::Resource => "SOURCE_RESOURCE",
            },
        );
        self.close('}');
    }

    fn step(&mut self, step: &Step) {
        self.open('{');
        self.field("action", &step.action);
        self.field("role", &step.role);
        self.field("scope", &step.scope);
        self.field("policy", &step.policy);
        self.field("rule", &step.rule);
        if let Some(role) = &step.derived_role {
            self.field("derivedRole", role);
        }
        if let Some(effect) = step.effect {
            self.field("effect", effect_name(effect));
        }
        if step.narrows {
            self.key("narrows");
            self.boolean(true);
        }
        self.field("file", &step.file);
        self.key("line");
        self.number(f64::from(step.line));
        self.field("outcome", outcome_name(&step.outcome));
        self.list("conditions", &step.leaves, |json, leaf| {
            json.open('{');
            json.field("expression", &leaf.expression);
            json.field("value", &leaf.value);
            json.close('}');
        });
        self.close('}');
    }
}

/// Splits a text at the first character that needs an escape in JSON; `None` if there is none.
fn escaped(text: &str) -> Option<(&str, char, &str)> {
    let must_be = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    let (before, rest) = text.split_at_checked(text.bytes().position(must_be)?)?;
    let mut chars = rest.chars();
    Some((before, chars.next()?, chars.as_str()))
}

/// Returns the name of the member that holds the second part of a reason.
const fn source_name(reason: &Reason) -> &'static str {
    match reason {
        #[cfg(feature = "ratelimit")]
        Reason::Limited(_) | Reason::LimitError(_) | Reason::StoreAway(_) => "limit",
        _ => "rule",
    }
}

/// Returns the kind of `reason`, and the rule or the limit if there is one.
#[must_use]
pub fn reason_parts(reason: &Reason) -> (&'static str, Option<&str>) {
    match reason {
        Reason::Rule(rule) => ("rule", Some(rule)),
        Reason::NotInRolePolicy => ("not-in-role-policy", None),
        Reason::NoRuleApplied => ("no-rule-applied", None),
        Reason::NoPolicy => ("no-policy", None),
        Reason::ConditionError(rule) => ("condition-error", Some(rule)),
        Reason::LimitReached(rule) => ("limit-reached", Some(rule)),
        Reason::RequestLimitReached => ("limit-reached", None),
        Reason::SchemaViolation => ("schema-violation", None),
        Reason::Expired => ("expired", None),
        #[cfg(feature = "ratelimit")]
        Reason::Limited(limit) => ("limited", Some(limit)),
        #[cfg(feature = "ratelimit")]
        Reason::LimitError(limit) => ("limit-error", Some(limit)),
        #[cfg(feature = "ratelimit")]
        Reason::StoreAway(limit) => ("store-away", Some(limit)),
    }
}

/// Returns the name of `outcome` in JSON.
#[must_use]
pub const fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Applied => "applied",
        Outcome::ConditionNotMet => "condition-not-met",
        Outcome::DerivedRoleNotMet => "derived-role-not-met",
        Outcome::PartlyMet => "partly-met",
        Outcome::Failed => "failed",
        Outcome::OtherAction => "other-action",
        Outcome::OtherRole => "other-role",
        Outcome::OtherResource => "other-resource",
    }
}
