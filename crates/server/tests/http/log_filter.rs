//! Servers that record a part of their decisions, and say so.

use std::path::Path;

use serde_json::json;
use wardgate_decision_log::record::{Body, Record};
use wardgate_server::decision_log::LogReader;

use crate::decision_log::start;

const ALBUMS: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user] }
";

/// Returns the texts of settings in a log, and the numbers of actions of its decisions.
fn recorded(log: &Path) -> (Vec<String>, Vec<usize>) {
    let mut reader = LogReader::open(log).unwrap();
    let (mut settings, mut decisions) = (Vec::new(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Settings(found) => settings.push(found.text.as_str().to_owned()),
                Body::Decision(decision) => decisions.push(decision.outcomes.len()),
                _ => {}
            }
        }
    }
    (settings, decisions)
}

fn check(filter: &str, expected: (&[&str], &[usize])) {
    let mut server = start(ALBUMS, filter);
    for actions in [vec!["view"], vec!["view", "edit"], vec!["edit", "sell", "view"], vec!["view"]]
    {
        let resource = json!({ "kind": "album", "id": "a1" });
        let body = json!({
            "principal": { "id": "ada", "roles": ["user"] },
            "resources": [{ "actions": actions, "resource": resource }],
        });
        assert_eq!(server.post("/api/check/resources", "", &body.to_string()).0, 200);
    }
    server.stop();
    let (settings, decisions) = recorded(&server.folder.join("log"));
    assert_eq!(
        (settings, decisions.as_slice()),
        (expected.0.iter().map(|text| (*text).to_owned()).collect(), expected.1)
    );
}

#[test]
fn what_is_left_out_is_on_record() {
    let denied = [2, 3];
    let all = [1, 2, 3, 1];
    check("filter = \"all\"\n", (&[], &all));
    check("filter = \"denied\"\n", (&["filter = \"denied\""], &denied));
    check("filter = { sample = 0 }\n", (&["filter = { sample = 0 }"], &denied));
    check("filter = { sample = 1.0 }\n", (&["filter = { sample = 1 }"], &all));
}
