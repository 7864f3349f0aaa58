//! `wardgate log export`: records as lines of JSON, for programs that read no decision logs.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};
use wardgate_decision_log::record::{Body, Decision, Effect, Identity, Target};
use wardgate_server::decision_log::{
    Names, Unsealer, exported_json, identity_words, record_time, recorded_request, request_json,
};

use super::each::{LoggedRecord, each};
use super::evidence::Revealed;
use super::refused;
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
                ExportForm::Ndjson => exported_json(found.number, found.record, found.names),
                ExportForm::Cerbos => cerbos(&found),
            };
            exported.map_or(Ok(()), |exported| out.line(line(&exported)))?;
        }
        Ok(ControlFlow::Continue(()))
    })
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
        "timestamp": record_time(decision.micros),
        "checkResources": { "inputs": [with_request_id(input, request_id)], "outputs": [output] },
    }))
}

/// Returns what was asked: all of it if the record has the request, or else what its fields tell.
fn input(decision: &Decision, names: &Names, actions: Vec<String>) -> Value {
    if let Some(request) = recorded_request(decision) {
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

/// Returns an id, or what stands for it.
fn id(identity: &Identity) -> Option<String> {
    match identity {
        Identity::Absent => None,
        Identity::Clear(id) => Some(id.as_str().to_owned()),
        hidden => Some(identity_words(hidden)),
    }
}
