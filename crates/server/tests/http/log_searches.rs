//! Searches over HTTP that are recorded.

use std::path::Path;

use serde_json::{Value, json};
use wardgate_decision_log::record::{Body, Effect, Identity, Record};
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log::{LogReader, verify};

use crate::decision_log::{ALBUMS, key, wait_for};
use crate::running::{OPEN, Running};

fn start(log: &str) -> Running {
    let section = format!(
        "{OPEN}[authzen]\npage-key = \"pages\"\n[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\nprincipal = \"clear\"\nresource = \"clear\"\n{log}"
    );
    let key = LogSigner::text("log.example/a", &[7; 32]).unwrap();
    let pages = "a key for tokens of pages, 32 bytes or more";
    Running::with_files(ALBUMS, &section, &[("log.key", &key), ("pages", pages)])
}

fn search(server: &Running, kind: &str, more: Value) -> (u16, Value) {
    let mut body = json!({
        "subject": { "type": "user", "id": "ada" },
        "action": { "name": "view" },
        "resource": { "type": "album", "id": "a1" },
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, text) = server.post(&format!("/access/v1/search/{kind}"), "", &body.to_string());
    (status, serde_json::from_str(&text).unwrap())
}

/// Returns the searches and decisions of a log, each in a line.
pub(crate) fn recorded(folder: &Path) -> Vec<String> {
    let mut reader = LogReader::open(folder).unwrap();
    let (mut targets, mut found) = (Vec::new(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            let record = Record::read(bytes).unwrap();
            let named = |policies: u32, number: u32| {
                let is_it =
                    |target: &&(u32, u32, String)| (target.0, target.1) == (policies, number);
                targets.iter().rfind(is_it).unwrap().2.clone()
            };
            match record.body {
                Body::Target(one) => {
                    let [kind, version, scope, action] =
                        [&one.kind, &one.version, &one.scope, &one.action]
                            .map(|text| text.as_str());
                    let name = format!("{kind}/{version}/{scope}/{action}");
                    targets.push((one.policies, one.number, name));
                }
                Body::Search(one) => {
                    let target = named(one.policies, one.target);
                    found.push(format!("{target}: {} of {}", one.allowed, one.asked));
                }
                Body::Decision(one) => {
                    let id = |id: &Identity| match id {
                        Identity::Clear(id) => id.as_str().to_owned(),
                        other => panic!("{other:?}"),
                    };
                    let (principal, resource) = (id(&one.principal), id(&one.resource));
                    for outcome in &one.outcomes {
                        let target = named(one.policies, outcome.target);
                        let is_allowed = outcome.effect == Effect::Allowed;
                        found.push(format!("{principal} {target} {resource}: {is_allowed}"));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn each_page_of_a_search_is_in_the_log() {
    let mut server = start("");
    let log = server.folder.join("log");
    let mut expected: Vec<&str> = Vec::new();
    let mut check = |kind: &str, more: Value, results: usize, lines: &[&'static str]| {
        let (status, answer) = search(&server, kind, more);
        assert_eq!(
            (status, answer["results"].as_array().unwrap().len()),
            (200, results),
            "{answer}"
        );
        expected.extend(lines);
        answer
    };
    let album = |id: &str| json!({ "id": id });
    let elsewhere = json!({ "id": "a3", "properties": { "cerbos.scope": "acme" } });
    let all = json!({ "candidates": [album("a1"), album("a2"), elsewhere, album("a4")] });
    let lines = ["album///view: 2 of 2", "album//acme/view: 0 of 1", "album///view: 1 of 1"];
    check("resource", all, 3, &lines);
    let guest = json!({ "id": "eve", "properties": { "cerbos.roles": ["guest"] } });
    let all = json!({ "candidates": [album("ada"), guest, album("bo")] });
    check("subject", all, 2, &["album///view: 2 of 3"]);
    check("subject", json!({ "candidates": [] }), 0, &["album///view: 0 of 0"]);
    check("action", json!({}), 1, &["ada album///view a1: true"]);
    let all = json!({ "candidates": [{ "name": "edit" }, { "name": "view" }] });
    check("action", all, 1, &["ada album///edit a1: false", "ada album///view a1: true"]);
    // What only tells that there is another page is recorded with that.
    let all = json!([album("a1"), album("a2"), album("a3")]);
    let page = json!({ "candidates": all, "page": { "limit": 2 } });
    let first = check("resource", page, 2, &["album///view: 2 of 2"]);
    let page = json!({ "candidates": all, "page": { "token": first["page"]["next_token"] } });
    check("resource", page, 1, &["album///view: 1 of 1"]);
    wait_for(&server, "wardgate_decision_log_records_total 9");
    server.stop();
    assert_eq!(recorded(&log), expected);
    let verified = verify(&log, &key(), None, None).unwrap();
    assert_eq!((verified.decisions, verified.lost, verified.unsealed), (2, 0, 0));
}

#[test]
fn no_search_is_answered_that_cannot_be_recorded() {
    let all = json!({ "candidates": [{ "id": "a1" }] });
    for (on_full, status) in [("deny", 503), ("block", 503), ("drop", 200)] {
        let server = start(&format!("on-full = \"{on_full}\"\n"));
        assert_eq!(search(&server, "resource", all.clone()).0, 200);
        // Whoever deletes the lock may write another log here.
        std::fs::remove_file(server.folder.join("log/.lock")).unwrap();
        search(&server, "resource", all.clone());
        wait_for(&server, "wardgate_decision_log_failing 1");
        let (found, answer) = search(&server, "resource", all.clone());
        assert_eq!(found, status, "{on_full}: {answer}");
    }
}
