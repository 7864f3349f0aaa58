//! An explanation as JSON: the decision and its steps as every host writes them, and the answers.

use serde_json::{Map, Value as Json, json};
use wardgate_engine::decide::Explanation;
use wardgate_engine::decide::observe::{Read, Sight, Truth};
use wardgate_engine::wire;

use super::limit::Shown;
use super::need::{Expression, Need};
use super::values::{MOST_JSON, cut};
use super::verdict::{Answer, Rule, Verdict};
use crate::answer;

/// Returns an explanation on one line.
pub(crate) fn line(explanation: &Explanation, verdicts: &[Verdict]) -> String {
    let mut text = wire::explanation_json(explanation);
    let answers: Vec<Json> = verdicts
        .iter()
        .zip(&explanation.decision.actions)
        .map(|(verdict, action)| answer_json(&action.action, verdict))
        .collect();
    if text.pop() == Some('}') {
        text.push_str(",\"answers\":");
        text.push_str(&answer::line(&answers));
        text.push('}');
    }
    text
}

fn answer_json(action: &str, verdict: &Verdict) -> Json {
    let policy = match &verdict.answer {
        Answer::NotListed(policy) => Some(policy),
        _ => None,
    };
    let could = verdict.could.iter();
    let could =
        could.map(|(rule, needs)| answer::with(rule_json(rule), "needs", needs_json(needs)));
    answer::present(json!({
        "action": action,
        "answer": name(&verdict.answer),
        "policy": policy,
        "rule": verdict.rule.as_ref().map(rule_json),
        "could": listed(could),
        "hint": verdict.hint,
        "limits": listed(verdict.limits.iter().map(Shown::json)),
    }))
}

/// Returns a list, and nothing if it is empty.
fn listed(items: impl Iterator<Item = Json>) -> Option<Vec<Json>> {
    Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty())
}

const fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Allowed => "allowed",
        Answer::Forbidden => "forbidden",
        Answer::Narrowed => "narrowed",
        Answer::NotListed(_) => "not-in-role-policy",
        Answer::NotPermitted => "not-permitted",
        Answer::NoPolicy => "no-policy",
        Answer::Failed => "condition-error",
        Answer::LimitReached => "limit-reached",
        Answer::SchemaViolation => "schema-violation",
        Answer::Expired => "expired",
    }
}

fn rule_json(rule: &Rule) -> Json {
    let (file, line) = &rule.location;
    answer::present(json!({
        "rule": rule.source,
        "scope": rule.scope,
        "file": file,
        "line": line,
        "derivedRole": rule.derived_role,
        "conditions": listed(rule.expressions.iter().map(expression_json)),
    }))
}

fn needs_json(needs: &[Need]) -> Json {
    needs.iter().map(need_json).collect()
}

fn need_json(need: &Need) -> Json {
    match need {
        Need::Role(roles) => json!({ "roles": roles }),
        Need::DerivedRole(name, needs) => {
            json!({ "derivedRole": name, "needs": needs_json(needs) })
        }
        Need::Expression(leaf) => answer::with(expression_json(leaf), "wanted", leaf.wanted),
        Need::AnyOf(needs) => json!({ "anyOf": needs_json(needs) }),
        Need::AllOf(needs) => json!({ "allOf": needs_json(needs) }),
        Need::Consent(scope) => json!({ "consentAbove": scope }),
        Need::Never => json!({ "never": true }),
    }
}

fn expression_json(leaf: &Expression) -> Json {
    let value = match (leaf.truth, &leaf.trouble) {
        (Truth::True, _) => "true".to_owned(),
        (Truth::False, None) => "false".to_owned(),
        (Truth::False, Some(_)) => "not a boolean".to_owned(),
        (Truth::Partly, trouble) => trouble.clone().unwrap_or_default(),
        (Truth::Error, trouble) => format!("error: {}", trouble.as_deref().unwrap_or_default()),
    };
    let reads: Vec<Json> = leaf.reads.iter().map(read_json).collect();
    json!({ "expression": leaf.text, "value": value, "reads": reads })
}

fn read_json(read: &Read) -> Json {
    let mut json = Map::new();
    let mut add = |key: &str, value: Json| json.insert(key.to_owned(), value);
    add("name", read.name.as_str().into());
    match &read.sight {
        Sight::Value(value) => {
            let text = wire::attr_json(value);
            match serde_json::from_str(&text) {
                Ok(value) if text.len() <= MOST_JSON => add("value", value),
                _ => add("cut", cut(&text, MOST_JSON).into()),
            }
        }
        Sight::Other(kind) => add("type", (*kind).into()),
        Sight::Missing => add("missing", true.into()),
        Sight::Failed(error) => add("error", cut(error, MOST_JSON).into()),
    };
    if let Some(definition) = &read.definition {
        add("definition", definition.as_str().into());
    }
    Json::Object(json)
}
