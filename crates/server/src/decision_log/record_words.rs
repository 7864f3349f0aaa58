//! Records for people.

use wardgate_bundle::hexadecimal;
use wardgate_decision_log::record::{
    Body, Decision, Effect, Identity, Outcome, ProcessEvent, Record, Target,
};

use wardgate_engine::cel::Timestamp;

use super::names::Names;

/// Returns a record in words.
#[must_use]
pub fn record_words(record: &Record, names: &Names) -> String {
    match &record.body {
        Body::Decision(decision) => decided(decision, names),
        Body::Policies(one) => format!(
            "{}  policies {}: {}revision {}, content {}",
            record_time(one.micros),
            one.number,
            of(one.name.as_str()),
            one.revision,
            hexadecimal(&one.root)
        ),
        Body::Target(one) => {
            format!("target {} under policies {}: {}", one.number, one.policies, target_words(one))
        }
        Body::Lost(one) if one.count == 0 => {
            let reason = one.reason.as_str();
            format!("{}  from here on records may be lost ({reason})", record_time(one.micros))
        }
        Body::Lost(one) => format!(
            "{}  lost: {} decisions of stream {} ({})",
            record_time(one.micros),
            one.count,
            one.stream,
            one.reason.as_str()
        ),
        Body::Clock(one) => {
            format!(
                "{}  the clock went back from {}",
                record_time(one.now),
                record_time(one.before)
            )
        }
        Body::Process(one) => format!(
            "{}  process {}: version {}",
            record_time(one.micros),
            event(one.event),
            one.version.as_str()
        ),
        Body::Erasure(one) => {
            format!("{}  erased the keys of {} subjects", record_time(one.micros), one.keys)
        }
        Body::Settings(one) => {
            format!("{}  settings: {}", record_time(one.micros), one.text.as_str())
        }
        Body::Search(one) => {
            format!("{}  search: {} of {} allowed", record_time(one.micros), one.allowed, one.asked)
        }
        Body::Loss(one) => format!(
            "{}  accepted the loss of {} frames from {} on: {}",
            record_time(one.micros),
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
        record_time(decision.micros),
        identity_words(&decision.principal),
        identity_words(&decision.resource),
        actions.join(", ")
    )
}

/// Returns the name of a bundle, if it has one, before what follows.
fn of(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("`{name}`, ") }
}

/// Returns a target in words.
#[must_use]
pub fn target_words(target: &Target) -> String {
    let mut text = format!("{} on {}", target.action.as_str(), target.kind.as_str());
    for (what, value) in [("version", &target.version), ("scope", &target.scope)] {
        if !value.as_str().is_empty() {
            text.push_str(&format!(", {what} {}", value.as_str()));
        }
    }
    text
}

pub(super) const fn event(event: ProcessEvent) -> &'static str {
    match event {
        ProcessEvent::Started => "started",
        ProcessEvent::Stopped => "stopped",
    }
}

pub(super) const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Denied => "denied",
        Effect::Allowed => "allowed",
        Effect::Limited => "limited",
    }
}

/// Returns an id, or what stands for it, in words.
#[must_use]
pub fn identity_words(identity: &Identity) -> String {
    match identity {
        Identity::Absent => "-".to_owned(),
        Identity::Clear(text) => format!("`{}`", text.as_str()),
        Identity::Pseudonym(digest) => format!("pseudonym:{}", hexadecimal(digest)),
        Identity::Commitment(digest) => format!("commitment:{}", hexadecimal(digest)),
    }
}

/// Returns microseconds since 1970 as a time.
#[must_use]
pub fn record_time(micros: i64) -> String {
    let (seconds, rest) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let nanos = u32::try_from(rest * 1000).unwrap_or(0);
    Timestamp::new(seconds, nanos)
        .map_or_else(|| format!("{micros} microseconds after 1970"), |time| time.to_string())
}
