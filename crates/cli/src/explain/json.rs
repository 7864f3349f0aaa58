//! An explanation as JSON: the decision and its steps as every host writes them, and the answers.

use serde_json::{Map, Value as Json, json};
use wardgate_engine::decide::Explanation;
use wardgate_engine::decide::observe::{Read, Sight, Truth};
use wardgate_engine::wire;

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
    let mut json = Map::new();
    json.insert("action".to_owned(), action.into());
    json.insert("answer".to_owned(), name(&verdict.answer).into());
    if let Answer::NotListed(policy) = &verdict.answer {
        json.insert("policy".to_owned(), policy.as_str().into());
    }
    if let Some(rule) = &verdict.rule {
        json.insert("rule".to_owned(), rule_json(rule));
    }
    if !verdict.could.is_empty() {
        let could = verdict.could.iter().map(|(rule, needs)| {
            let mut json = rule_json(rule);
            if let Json::Object(json) = &mut json {
                json.insert("needs".to_owned(), needs_json(needs));
            }
            json
        });
        json.insert("could".to_owned(), could.collect());
    }
    if let Some(hint) = &verdict.hint {
        json.insert("hint".to_owned(), hint.as_str().into());
    }
    Json::Object(json)
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
    let mut json = Map::new();
    let mut add = |key: &str, value: Json| json.insert(key.to_owned(), value);
    add("rule", rule.source.as_str().into());
    add("scope", rule.scope.as_str().into());
    add("file", rule.location.0.as_str().into());
    add("line", rule.location.1.into());
    if let Some(role) = &rule.derived_role {
        add("derivedRole", role.as_str().into());
    }
    if !rule.expressions.is_empty() {
        add("conditions", rule.expressions.iter().map(expression_json).collect());
    }
    Json::Object(json)
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
        Need::Expression(leaf) => {
            let mut json = expression_json(leaf);
            if let Json::Object(json) = &mut json {
                json.insert("wanted".to_owned(), leaf.wanted.into());
            }
            json
        }
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
