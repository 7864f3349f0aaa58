//! Answers: the JSON of Cerbos's CheckResources response, and words for people.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;
use wardgate_engine::decision::{
    ActionDecision, Decision, Effect, Output as RuleOutput, Reason, ValidationError,
    ValidationSource,
};
use wardgate_engine::request::Request;
use wardgate_engine::wire;

/// The answer to one call.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) request_id: String,
    pub(crate) results: Vec<ResultEntry>,
}

/// The answer about one resource.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultEntry {
    resource: ResourceName,
    actions: InOrder<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    validation_errors: Vec<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Json>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceName {
    id: String,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    policy_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    scope: String,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    actions: InOrder<ActionMeta>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    effective_derived_roles: Vec<String>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct ActionMeta {
    matched_policy: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    matched_scope: String,
}

/// An object whose members stand in the order of the request.
struct InOrder<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for InOrder<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl ResultEntry {
    pub(crate) fn new(request: &Request, decision: &Decision, with_meta: bool) -> Self {
        let resource = &request.resource;
        let effect = |action: &ActionDecision| (action.action.clone(), effect_name(action.effect));
        Self {
            resource: ResourceName {
                id: resource.id.clone(),
                kind: resource.kind.clone(),
                policy_version: resource.policy_version.clone(),
                scope: resource.scope.clone(),
            },
            actions: InOrder(decision.actions.iter().map(effect).collect()),
            validation_errors: decision.validation_errors.iter().map(validation_error).collect(),
            meta: with_meta.then(|| Meta::new(decision)),
            outputs: decision.outputs.iter().map(output).collect(),
        }
    }
}

impl Meta {
    fn new(decision: &Decision) -> Self {
        let of = |action: &ActionDecision| {
            let meta = ActionMeta {
                matched_policy: action.policy.clone(),
                matched_scope: action.scope.clone(),
            };
            (action.action.clone(), meta)
        };
        Self {
            actions: InOrder(decision.actions.iter().map(of).collect()),
            effective_derived_roles: decision.effective_derived_roles.clone(),
        }
    }
}

/// Returns an answer as JSON on one line.
pub(crate) fn line(value: &impl Serialize) -> String {
    // Nothing here can fail to become JSON: names are text, and there are no maps with other keys.
    serde_json::to_string(value).unwrap_or_default()
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

const fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "EFFECT_ALLOW",
        Effect::Deny => "EFFECT_DENY",
    }
}

fn validation_error(error: &ValidationError) -> Json {
    let source = match error.source {
        ValidationSource::Principal => "SOURCE_PRINCIPAL",
        ValidationSource::Resource => "SOURCE_RESOURCE",
    };
    serde_json::json!({ "path": error.path, "message": error.message, "source": source })
}

fn output(output: &RuleOutput) -> Json {
    let (source, action) = (&output.source, &output.action);
    match &output.value {
        Ok(value) => {
            let value: Json = serde_json::from_str(&wire::attr_json(value)).unwrap_or(Json::Null);
            serde_json::json!({ "src": source, "action": action, "val": value })
        }
        Err(error) => serde_json::json!({ "src": source, "action": action, "error": error }),
    }
}
