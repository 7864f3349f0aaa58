//! `wardgate log export`: records as lines of JSON, for programs that read no decision logs.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};
use wardgate_decision_log::record::{Body, Decision, Effect, Evidence, Identity, Target};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;
use wardgate_engine::wire::attr_json;
use wardgate_native::decision_log::{Evidence as Bytes, request};
use wardgate_server::decision_log::Unsealer;

use super::each::{LoggedRecord, Names, each};
use super::evidence::Revealed;
use super::records;
use super::{refused, time};
use crate::answer::{line, present, with};
use crate::arguments::{Export, ExportForm};
use crate::failure::Result;
use crate::output::Output;

pub(super) fn run(export: &Export, out: &mut Output) -> Result<()> {
    let mut values = Unsealer::open(&export.folder).map_err(refused)?;
    each(&export.folder, |found| {
        if found.number >= export.from {
            let mut record = found.record.clone();
            if let Body::Decision(decision) = &mut record.body {
                *decision = Revealed::open(found.number, decision, &mut values)?.decision;
            }
            let found = LoggedRecord { record: &record, ..found };
            let exported = match export.form {
                ExportForm::Ndjson => ndjson(&found),
                ExportForm::Cerbos => cerbos(&found),
            };
            exported.map_or(Ok(()), |exported| out.line(line(&exported)))?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Returns a record with the names of its targets; definitions of targets are left out.
fn ndjson(found: &LoggedRecord<'_>) -> Option<Value> {
    let shown = records::json(found.number, found.record, found.names);
    match &found.record.body {
        Body::Target(_) => None,
        Body::Decision(decision) => Some(match asked(decision) {
            Some(request) => with(shown, "request", request_json(&request)),
            None => shown,
        }),
        _ => Some(shown),
    }
}

/// Returns a decision as the `file` backend of the audit log of Cerbos writes it.
fn cerbos(found: &LoggedRecord<'_>) -> Option<Value> {
    let Body::Decision(decision) = &found.record.body else { return None };
    let request_id = decision.request.as_ref().map(|id| id.as_str());
    let outcomes = decision.outcomes.iter();
    let effects: Map<String, Value> = outcomes
        .filter_map(|outcome| {
            let allowed = outcome.effect == Effect::Allowed;
            let effect = if allowed { "EFFECT_ALLOW" } else { "EFFECT_DENY" };
            let action = found.names.target(decision, outcome)?.action.as_str();
            Some((action.to_owned(), json!({ "effect": effect })))
        })
        .collect();
    let input = input(decision, found.names, effects.keys().cloned().collect());
    let output = present(json!({
        "requestId": request_id, "resourceId": id(&decision.resource), "actions": effects,
    }));
    Some(json!({
        "log.logger": "cerbos.audit", "log.kind": "decision", "callId": found.number.to_string(),
        "timestamp": time(decision.micros),
        "checkResources": { "inputs": [with_request_id(input, request_id)], "outputs": [output] },
    }))
}

/// Returns what was asked: all of it if the record has the request, or else what its fields tell.
fn input(decision: &Decision, names: &Names, actions: Vec<String>) -> Value {
    if let Some(request) = asked(decision) {
        return request_json(&request);
    }
    let target = decision.outcomes.first().and_then(|outcome| names.target(decision, outcome));
    let name = |of: fn(&Target) -> &str| target.map(of).filter(|name| !name.is_empty());
    json!({
        "principal": present(json!({ "id": id(&decision.principal) })),
        "resource": present(json!({
            "kind": name(|target| target.kind.as_str()),
            "policyVersion": name(|target| target.version.as_str()),
            "scope": name(|target| target.scope.as_str()),
            "id": id(&decision.resource),
        })),
        "actions": actions,
    })
}

fn with_request_id(input: Value, id: Option<&str>) -> Value {
    id.map_or_else(|| input.clone(), |id| with(input.clone(), "requestId", id))
}

fn asked(decision: &Decision) -> Option<Request> {
    match &decision.evidence {
        Evidence::Request(bytes) => request(Bytes::Request(bytes)),
        _ => None,
    }
}

/// Returns a request as the JSON of CheckResources has it, with its claims.
fn request_json(request: &Request) -> Value {
    let Request { principal, resource, actions, aux_data, .. } = request;
    let text = |text: &String| (!text.is_empty()).then(|| text.clone());
    let claims = |claims: &AttrMap| (!claims.entries().is_empty()).then(|| attributes(claims));
    let aux_data = present(json!({ "jwt": claims(&aux_data.jwt), "jwts": claims(&aux_data.jwts) }));
    let has_claims = aux_data.as_object().is_some_and(|claims| !claims.is_empty());
    present(json!({
        "principal": present(json!({
            "id": principal.id, "roles": principal.roles, "attr": attributes(&principal.attr),
            "policyVersion": text(&principal.policy_version), "scope": text(&principal.scope),
        })),
        "resource": present(json!({
            "kind": resource.kind, "id": resource.id, "attr": attributes(&resource.attr),
            "policyVersion": text(&resource.policy_version), "scope": text(&resource.scope),
        })),
        "actions": actions,
        "auxData": has_claims.then_some(aux_data),
    }))
}

fn attributes(attributes: &AttrMap) -> Value {
    // The engine writes JSON, so it can be read.
    serde_json::from_str(&attr_json(&Attr::Map(attributes.clone()))).unwrap_or_default()
}

/// Returns an id, or what stands for it.
fn id(identity: &Identity) -> Option<String> {
    match identity {
        Identity::Absent => None,
        Identity::Clear(id) => Some(id.as_str().to_owned()),
        hidden => Some(records::identity(hidden)),
    }
}
