//! Decisions with rate limits, as `tests/limits/decisions.json` has them for hosts in other languages.
//!
//! The file has policies and requests, which are written by hand, and a bundle and answers, which this
//! test compares: `WRITE_EXPECTED=1` writes them anew.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::wire::reason_parts;
use wardgate_native::limited::{LimitState, Limited, Memory, MetLimit, Settings, WhenFull};
use wardgate_native::{Effect, Timestamp, Trust};
use wardgate_tests::check;

#[test]
fn decisions_with_limits_are_those_of_the_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("limits/decisions.json");
    let written = std::fs::read_to_string(&path).unwrap();
    let mut file: Json = serde_json::from_str(&written).unwrap();
    let bundle = compiled(&file["files"]);
    let memory = Memory::new(1000, WhenFull::Deny);
    let pdp = Limited::open(&bundle, Trust::Unsigned, memory, Settings::default()).unwrap();
    file["bundle"] = json!(STANDARD.encode(&bundle));
    for case in file["cases"].as_array_mut().unwrap() {
        case["expected"] = answer(&pdp, &case["request"]);
    }
    let found = serde_json::to_string_pretty(&file).unwrap() + "\n";
    if std::env::var_os("WRITE_EXPECTED").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    assert!(found == written, "{} has other answers: write them anew", path.display());
}

fn compiled(files: &Json) -> Vec<u8> {
    let files = files.as_object().unwrap().iter();
    let files: Vec<(String, Vec<u8>)> = files
        .map(|(path, text)| (path.clone(), text.as_str().unwrap().as_bytes().to_vec()))
        .collect();
    pack(&compile_files(&files, &Options::default()).unwrap().parts)
}

fn answer(pdp: &Limited<Memory>, request: &Json) -> Json {
    let request = check::request(request).unwrap();
    let answer = block_on(pdp.check(&request, Timestamp::default()));
    let actions = answer.decision.actions.iter().zip(&answer.limits).map(|(action, limits)| {
        let (kind, source) = reason_parts(&action.reason);
        let limits: Vec<Json> = limits.iter().map(limit).collect();
        json!({
            "action": action.action,
            "effect": if action.effect == Effect::Allow { "allow" } else { "deny" },
            "reason": [kind, source],
            "limits": limits,
        })
    });
    Json::Array(actions.collect())
}

/// Returns the parts of a limit that do not depend on the time.
fn limit(met: &MetLimit) -> Json {
    let state = match &met.state {
        LimitState::Charged => "charged",
        LimitState::Spared => "spared",
        LimitState::Refused { .. } => "refused",
        LimitState::Never => "never",
        LimitState::Away { .. } => "away",
        LimitState::Failed { .. } => "failed",
    };
    let key = met.key.map(|key| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    json!({
        "name": &*met.name,
        "shadow": met.is_shadow,
        "key": key,
        "quota": met.quota,
        "window": met.window,
        "cost": met.cost,
        "remaining": met.remaining,
        "state": state,
    })
}

/// Runs a future that never waits.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("a store in memory does not wait"),
    }
}
