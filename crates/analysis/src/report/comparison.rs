//! A comparison as JSON.

use serde_json::{Number, Value as Json, json};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;

use super::{FileName, present};
use crate::compare::{Change, Comparison, Decided, Group, UnknownGroup};

/// Returns the whole comparison; the files of both sides have names of their own.
#[must_use]
pub fn comparison(found: &Comparison, old: FileName<'_>, new: FileName<'_>) -> Json {
    let groups = found.groups();
    let counts = &found.counts;
    json!({
        "differences": groups.iter().map(|one| difference(one, old, new)).collect::<Vec<_>>(),
        "unknown": found.unknown_groups().iter().map(unknown).collect::<Vec<_>>(),
        "counts": {
            "targets": counts.targets,
            "sameTargets": counts.same_targets,
            "questions": counts.questions,
            "sameRules": counts.same_rules,
            "proved": counts.proved,
        },
    })
}

fn difference(group: &Group<'_>, old: FileName<'_>, new: FileName<'_>) -> Json {
    present(json!({
        "change": word(group.change),
        "kind": group.kind,
        "version": group.version,
        "scopes": group.scopes,
        "principal": group.principal,
        "roles": group.roles,
        "actions": group.actions,
        "old": decided(&group.witness.old, old),
        "new": decided(&group.witness.new, new),
        "request": request(&group.witness.request),
    }))
}

fn unknown(group: &UnknownGroup<'_>) -> Json {
    let place = group.place;
    present(json!({
        "why": group.why.words(),
        "may": group.may.map(word),
        "kind": place.kind,
        "version": place.version,
        "scopes": group.scopes,
        "principal": place.principal,
        "roles": place.roles,
        "actions": group.actions,
    }))
}

/// Returns a decision, with the place of its rule.
#[must_use]
pub fn decided(decided: &Decided, name: FileName<'_>) -> Json {
    let rule = decided.rule.as_ref();
    // A bundle without explanations names no files.
    let file = rule.filter(|rule| !rule.file.is_empty()).map(|rule| name(&rule.file));
    present(json!({
        "allowed": decided.is_allowed,
        "reason": decided.reason,
        "rule": rule.map(|rule| format!("{}#{}", rule.policy, rule.name)),
        "line": file.is_some().then(|| rule.map(|rule| rule.line)),
        "file": file,
    }))
}

/// Returns a request as `wardgate check` takes it.
#[must_use]
pub fn request(request: &Request) -> Json {
    let Request { principal, resource, .. } = request;
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let attributes =
        |attributes: &AttrMap| (!attributes.entries().is_empty()).then(|| map(attributes));
    let aux = &request.aux_data;
    let aux = present(json!({ "jwt": attributes(&aux.jwt), "jwts": attributes(&aux.jwts) }));
    let has_aux = aux.as_object().is_some_and(|aux| !aux.is_empty());
    present(json!({
        "principal": present(json!({
            "id": principal.id,
            "roles": principal.roles,
            "attr": attributes(&principal.attr),
            "policyVersion": text(&principal.policy_version),
            "scope": text(&principal.scope),
        })),
        "resource": present(json!({
            "kind": resource.kind,
            "id": resource.id,
            "attr": attributes(&resource.attr),
            "policyVersion": text(&resource.policy_version),
            "scope": text(&resource.scope),
        })),
        "actions": request.actions,
        "auxData": has_aux.then_some(aux),
    }))
}

/// Returns a word for the direction of a change.
#[must_use]
pub const fn word(change: Change) -> &'static str {
    match change {
        Change::More => "more",
        Change::Less => "less",
    }
}

fn map(map: &AttrMap) -> Json {
    let member = |(name, value): &(Box<str>, Attr)| (name.to_string(), attribute(value));
    Json::Object(map.entries().iter().map(member).collect())
}

fn attribute(value: &Attr) -> Json {
    match value {
        Attr::Null => Json::Null,
        Attr::Bool(value) => Json::Bool(*value),
        Attr::Number(number) => Number::from_f64(*number).map_or(Json::Null, whole),
        Attr::String(text) => Json::String(text.to_string()),
        Attr::List(items) => items.iter().map(attribute).collect(),
        Attr::Map(members) => map(members),
    }
}

/// Returns a number, without a fraction if it has none.
fn whole(number: Number) -> Json {
    let text = number.to_string();
    let digits = text.strip_suffix(".0").and_then(|digits| digits.parse::<i64>().ok());
    digits.map_or(Json::Number(number), Json::from)
}
