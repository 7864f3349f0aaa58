//! A comparison as JSON.

use serde_json::{Number, Value as Json, json};
use wardgate_analysis::compare::{Comparison, Decided, Group, UnknownGroup};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;

use super::{Sides, path, word};
use crate::answer::present;

/// Returns the whole comparison.
pub(super) fn report(found: &Comparison, sides: Sides<'_>) -> Json {
    let groups = found.groups();
    let counts = &found.counts;
    json!({
        "differences": groups.iter().map(|one| difference(one, sides)).collect::<Vec<_>>(),
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

fn difference(group: &Group<'_>, sides: Sides<'_>) -> Json {
    present(json!({
        "change": word(group.change),
        "kind": group.kind,
        "version": group.version,
        "scopes": group.scopes,
        "principal": group.principal,
        "roles": group.roles,
        "actions": group.actions,
        "old": decided(&group.witness.old, sides.old),
        "new": decided(&group.witness.new, sides.new),
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

/// Returns a decision, with the place of its rule in this folder or bundle.
pub(crate) fn decided(decided: &Decided, side: &std::path::Path) -> Json {
    let rule = decided.rule.as_ref();
    let file = rule.map(|rule| path(side, &rule.file)).filter(|file| !file.is_empty());
    present(json!({
        "allowed": decided.is_allowed,
        "reason": decided.reason,
        "rule": rule.map(|rule| format!("{}#{}", rule.policy, rule.name)),
        "line": file.is_some().then(|| rule.map(|rule| rule.line)),
        "file": file,
    }))
}

/// Returns a request as `wardgate check` takes it.
pub(crate) fn request(request: &Request) -> Json {
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
