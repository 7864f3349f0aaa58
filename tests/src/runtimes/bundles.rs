//! Bundles that are signed, sealed, replayed or damaged: the ones that open, and their decisions.

use serde_json::{Value as Json, json};
use wardgate_bundle::{OpenError, Opened};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::wire::decision_json;

use super::{Entry, Put, Suite};
use crate::check;
use crate::generate::with;
use crate::parity::attempts::{NOW, attempts};

pub(super) fn entries(put: &mut Put<'_>) -> Result<(), String> {
    let json = request();
    let request = check::request(&json)?;
    let now = i64::try_from(NOW).ok().and_then(|seconds| Timestamp::new(seconds, 0));
    let now = now.ok_or("the time of the attempts is none")?;
    for attempt in attempts(DAMAGED)? {
        let decide = |opened: Opened| decision_json(&opened.table.check(&request, now));
        let answer = outcome(attempt.open().map(decide));
        let question = with(&attempt.json(), "requests", json!([json]));
        put(Entry { suite: Suite::Bundles, name: attempt.name, question, answers: vec![answer] })?;
    }
    Ok(())
}

/// Returns the answer for a bundle: the decision by it, or the code of its refusal.
pub(super) fn outcome(opened: Result<String, OpenError>) -> Vec<u8> {
    opened.unwrap_or_else(|error| error.code().to_owned()).into_bytes()
}

fn request() -> Json {
    json!({
        "principal": {"id": "ada", "roles": ["member"]},
        "resource": {"kind": "photo", "id": "p1", "attr": {"public": true}},
        "actions": ["view", "drop"],
    })
}

/// The number of damaged bundles of each kind: each of these is several thousand bytes.
const DAMAGED: u32 = 40;
