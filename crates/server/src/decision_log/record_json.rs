//! Records for programs.

use serde_json::{Value, json as object};
use wardgate_bundle::hexadecimal;
use wardgate_decision_log::record::{Body, Decision, Evidence, Identity, Outcome, Record, Target};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;
use wardgate_engine::wire::attr_json;
use wardgate_native::decision_log::{Evidence as Bytes, request};

use super::names::Names;
use super::record_words::{effect, event, record_time};

/// Returns a record with the names of its targets; definitions of targets are left out.
#[must_use]
pub fn exported_json(number: u64, record: &Record, names: &Names) -> Option<Value> {
    let shown = record_json(number, record, names);
    match &record.body {
        Body::Target(_) => None,
        Body::Decision(decision) => Some(match recorded_request(decision) {
            Some(request) => with(shown, "request", request_json(&request)),
            None => shown,
        }),
        _ => Some(shown),
    }
}

/// Returns a record as JSON.
#[must_use]
pub fn record_json(number: u64, record: &Record, names: &Names) -> Value {
    let body = match &record.body {
        Body::Decision(one) => decision_json(one, names),
        Body::Policies(one) => object!({
            "kind": "policies", "time": record_time(one.micros), "policies": one.number, "revision": one.revision,
            "content": hexadecimal(&one.root), "name": one.name.as_str(),
        }),
        Body::Target(one) => with(target_json(one), "kind", "target"),
        Body::Lost(one) => object!({
            "kind": "lost", "time": record_time(one.micros), "ofStream": one.stream, "first": one.first,
            "count": one.count, "reason": one.reason.as_str(),
        }),
        Body::Clock(one) => {
            object!({ "kind": "clock", "time": record_time(one.now), "before": record_time(one.before) })
        }
        Body::Process(one) => object!({
            "kind": "process", "time": record_time(one.micros), "event": event(one.event),
            "instance": hexadecimal(&one.instance), "version": one.version.as_str(),
        }),
        Body::Erasure(one) => {
            object!({ "kind": "erasure", "time": record_time(one.micros), "keys": one.keys })
        }
        Body::Settings(one) => {
            object!({ "kind": "settings", "time": record_time(one.micros), "text": one.text.as_str() })
        }
        Body::Search(one) => object!({
            "kind": "search", "time": record_time(one.micros), "policies": one.policies, "target": one.target,
            "asked": one.asked, "allowed": one.allowed,
        }),
        Body::Loss(one) => object!({
            "kind": "loss", "time": record_time(one.micros), "frames": one.frames, "found": one.found,
            "reason": one.reason.as_str(),
        }),
    };
    let place = object!({ "record": number, "stream": record.stream, "sequence": record.sequence });
    merged(place, body)
}

fn merged(mut first: Value, second: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut first, second) {
        all.extend(more);
    }
    first
}

fn target_json(one: &Target) -> Value {
    object!({
        "policies": one.policies, "target": one.number, "resourceKind": one.kind.as_str(),
        "version": one.version.as_str(), "scope": one.scope.as_str(), "action": one.action.as_str(),
    })
}

fn decision_json(decision: &Decision, names: &Names) -> Value {
    let outcome = |outcome: &Outcome| {
        let target = names.target(decision, outcome);
        present(object!({
            "target": outcome.target,
            "action": target.map(|target| target.action.as_str()),
            "effect": effect(outcome.effect),
        }))
    };
    let outcomes: Vec<Value> = decision.outcomes.iter().map(outcome).collect();
    let target = decision.outcomes.first().and_then(|outcome| names.target(decision, outcome));
    present(object!({
        "kind": "decision",
        "time": record_time(decision.micros),
        "policies": decision.policies,
        "principal": identity_json(&decision.principal),
        "resource": identity_json(&decision.resource),
        "resourceKind": target.map(|target| target.kind.as_str()),
        "version": target.map(|target| target.version.as_str()),
        "scope": target.map(|target| target.scope.as_str()),
        "actions": outcomes,
        "trace": decision.trace.as_ref().map(|trace| hexadecimal(trace)),
        "requestId": decision.request.as_ref().map(|request| request.as_str()),
        "general": decision.is_general,
        "cut": decision.is_cut,
        "evidence": evidence_json(&decision.evidence),
    }))
}

fn identity_json(identity: &Identity) -> Value {
    match identity {
        Identity::Absent => Value::Null,
        Identity::Clear(text) => object!({ "id": text.as_str() }),
        Identity::Pseudonym(digest) => object!({ "pseudonym": hexadecimal(digest) }),
        Identity::Commitment(digest) => object!({ "commitment": hexadecimal(digest) }),
    }
}

fn evidence_json(evidence: &Evidence) -> Value {
    match evidence {
        Evidence::None => Value::Null,
        Evidence::Read(bytes) => object!({ "read": hexadecimal(bytes) }),
        Evidence::Request(bytes) => object!({ "request": hexadecimal(bytes) }),
        Evidence::Digest(digest) => object!({ "digest": hexadecimal(digest) }),
        Evidence::CommittedRead(digest) => object!({ "committedRead": hexadecimal(digest) }),
        Evidence::CommittedRequest(digest) => object!({ "committedRequest": hexadecimal(digest) }),
        Evidence::CommittedDigest(digest) => object!({ "committedDigest": hexadecimal(digest) }),
    }
}

/// Returns the request of a decision, if the record has it as it was.
#[must_use]
pub fn recorded_request(decision: &Decision) -> Option<Request> {
    match &decision.evidence {
        Evidence::Request(bytes) => request(Bytes::Request(bytes)),
        _ => None,
    }
}

/// Returns a request as the JSON of CheckResources has it, with its claims.
#[must_use]
pub fn request_json(request: &Request) -> Value {
    let Request { principal, resource, actions, aux_data, .. } = request;
    let text = |text: &String| (!text.is_empty()).then(|| text.clone());
    let claims = |claims: &AttrMap| (!claims.entries().is_empty()).then(|| attributes(claims));
    let aux_data =
        present(object!({ "jwt": claims(&aux_data.jwt), "jwts": claims(&aux_data.jwts) }));
    let has_claims = aux_data.as_object().is_some_and(|claims| !claims.is_empty());
    present(object!({
        "principal": present(object!({
            "id": principal.id, "roles": principal.roles, "attr": attributes(&principal.attr),
            "policyVersion": text(&principal.policy_version), "scope": text(&principal.scope),
        })),
        "resource": present(object!({
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

/// Returns an object without its members that are null.
fn present(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Returns an object with one member more.
fn with(mut object: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Value::Object(members) = &mut object {
        members.insert(name.to_owned(), value.into());
    }
    object
}
