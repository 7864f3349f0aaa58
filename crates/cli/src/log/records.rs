//! Records for people and for programs.

use serde_json::{Value, json as object};
use wardgate_bundle::hexadecimal;
use wardgate_decision_log::record::{
    Body, Decision, Effect, Evidence, Identity, Outcome, ProcessEvent, Record, Target,
};

use super::each::Names;
use super::time;
use crate::answer::{present, with};

/// Returns a record in words.
pub(super) fn words(record: &Record, names: &Names) -> String {
    match &record.body {
        Body::Decision(decision) => decided(decision, names),
        Body::Policies(one) => format!(
            "{}  policies {}: {}revision {}, content {}",
            time(one.micros),
            one.number,
            of(one.name.as_str()),
            one.revision,
            hexadecimal(&one.root)
        ),
        Body::Target(one) => {
            format!("target {} under policies {}: {}", one.number, one.policies, named(one))
        }
        Body::Lost(one) => format!(
            "{}  lost: {} decisions of stream {} ({})",
            time(one.micros),
            one.count,
            one.stream,
            one.reason.as_str()
        ),
        Body::Clock(one) => {
            format!("{}  the clock went back from {}", time(one.now), time(one.before))
        }
        Body::Process(one) => format!(
            "{}  process {}: version {}",
            time(one.micros),
            event(one.event),
            one.version.as_str()
        ),
        Body::Erasure(one) => {
            format!("{}  erased the keys of {} subjects", time(one.micros), one.keys)
        }
        Body::Settings(one) => format!("{}  settings: {}", time(one.micros), one.text.as_str()),
        Body::Search(one) => {
            format!("{}  search: {} of {} allowed", time(one.micros), one.allowed, one.asked)
        }
        Body::Loss(one) => format!(
            "{}  accepted the loss of {} frames from {} on: {}",
            time(one.micros),
            one.frames.saturating_sub(one.found),
            one.found,
            one.reason.as_str()
        ),
    }
}

fn decided(decision: &Decision, names: &Names) -> String {
    let action = |outcome: &Outcome| match names.target(decision, outcome) {
        Some(target) => format!("{} {}", target.action.as_str(), effect(outcome.effect)),
        None => format!("action {} {}", outcome.target, effect(outcome.effect)),
    };
    let actions: Vec<String> = decision.outcomes.iter().map(action).collect();
    let kind = decision.outcomes.first().and_then(|outcome| names.target(decision, outcome));
    let kind = kind.map_or("resource", |target| target.kind.as_str());
    format!(
        "{}  {} on {kind} {}: {}",
        time(decision.micros),
        identity(&decision.principal),
        identity(&decision.resource),
        actions.join(", ")
    )
}

/// Returns the name of a bundle, if it has one, before what follows.
fn of(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("`{name}`, ") }
}

pub(super) fn named(target: &Target) -> String {
    let mut text = format!("{} on {}", target.action.as_str(), target.kind.as_str());
    for (what, value) in [("version", &target.version), ("scope", &target.scope)] {
        if !value.as_str().is_empty() {
            text.push_str(&format!(", {what} {}", value.as_str()));
        }
    }
    text
}

const fn event(event: ProcessEvent) -> &'static str {
    match event {
        ProcessEvent::Started => "started",
        ProcessEvent::Stopped => "stopped",
    }
}

const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Denied => "denied",
        Effect::Allowed => "allowed",
        Effect::Limited => "limited",
    }
}

pub(super) fn identity(identity: &Identity) -> String {
    match identity {
        Identity::Absent => "-".to_owned(),
        Identity::Clear(text) => format!("`{}`", text.as_str()),
        Identity::Pseudonym(digest) => format!("pseudonym:{}", hexadecimal(digest)),
        Identity::Commitment(digest) => format!("commitment:{}", hexadecimal(digest)),
    }
}

/// Returns a record as JSON.
pub(super) fn json(number: u64, record: &Record, names: &Names) -> Value {
    let body = match &record.body {
        Body::Decision(one) => decision_json(one, names),
        Body::Policies(one) => object!({
            "kind": "policies", "time": time(one.micros), "policies": one.number, "revision": one.revision,
            "content": hexadecimal(&one.root), "name": one.name.as_str(),
        }),
        Body::Target(one) => with(target_json(one), "kind", "target"),
        Body::Lost(one) => object!({
            "kind": "lost", "time": time(one.micros), "ofStream": one.stream, "first": one.first,
            "count": one.count, "reason": one.reason.as_str(),
        }),
        Body::Clock(one) => {
            object!({ "kind": "clock", "time": time(one.now), "before": time(one.before) })
        }
        Body::Process(one) => object!({
            "kind": "process", "time": time(one.micros), "event": event(one.event),
            "instance": hexadecimal(&one.instance), "version": one.version.as_str(),
        }),
        Body::Erasure(one) => {
            object!({ "kind": "erasure", "time": time(one.micros), "keys": one.keys })
        }
        Body::Settings(one) => {
            object!({ "kind": "settings", "time": time(one.micros), "text": one.text.as_str() })
        }
        Body::Search(one) => object!({
            "kind": "search", "time": time(one.micros), "policies": one.policies, "target": one.target,
            "asked": one.asked, "allowed": one.allowed,
        }),
        Body::Loss(one) => object!({
            "kind": "loss", "time": time(one.micros), "frames": one.frames, "found": one.found,
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
        "time": time(decision.micros),
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
    }
}
