//! Decisions over HTTP that are recorded, and logs that are read again.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::record::{Body, Effect, Identity, Record};
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log::{LogReader, erase, verify};

use crate::reload::block_on;
use crate::running::{OPEN, Running};

const ALBUMS: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user] }
";

pub(crate) const LIMIT: &str = "
---
apiVersion: api.cerbos.dev/v1
wardgateLimit: { name: api, resource: album, actions: [view], key: [P.id], quota: 1, window: 1d }
";

pub(crate) fn start(policies: &str, log: &str) -> Running {
    let section = format!(
        "{OPEN}[ratelimit]\n[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n{log}"
    );
    let key = LogSigner::text("log.example/a", &[7; 32]).unwrap();
    Running::with_files(policies, &section, &[("log.key", &key)])
}

pub(crate) fn key() -> LogKey {
    let signer = LogSigner::new("log.example/a", &[7; 32]).unwrap();
    LogKey::read(&signer.verifier().to_string()).unwrap()
}

fn check(server: &Running, actions: &[&str]) -> (u16, Value) {
    let resource = json!({ "kind": "album", "id": "a1" });
    let body = json!({
        "requestId": "r7",
        "principal": { "id": "ada", "roles": ["user"] },
        "resources": [{ "actions": actions, "resource": resource }],
    });
    let (status, text) = server.post("/api/check/resources", "", &body.to_string());
    (status, serde_json::from_str(&text).unwrap())
}

/// The principal of a decision, its request, and the actions with their effects.
type Recorded = (Identity, Option<String>, Vec<(String, Effect)>);

/// Returns the decisions that a log has if its process is killed at this moment.
fn decisions(folder: &Path) -> Vec<Recorded> {
    let mut reader = LogReader::open(&as_killed(folder)).unwrap();
    let (mut targets, mut found) = (Vec::new(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Target(target) => targets.push(target),
                Body::Decision(decision) => {
                    let action = |number: u32| {
                        let target =
                            targets.iter().rfind(|target| target.number == number).unwrap();
                        assert_eq!(
                            (target.kind.as_str(), target.policies),
                            ("album", decision.policies)
                        );
                        target.action.as_str().to_owned()
                    };
                    let outcomes = decision.outcomes.iter();
                    let actions = outcomes.map(|one| (action(one.target), one.effect)).collect();
                    let request = decision.request.as_ref().map(|text| text.as_str().to_owned());
                    found.push((decision.principal, request, actions));
                }
                _ => {}
            }
        }
    }
    found
}

/// Copies a log as a killed process leaves it, and makes frames of what is on its way to them. Tiles are made again.
fn as_killed(folder: &Path) -> PathBuf {
    let copy = folder.with_file_name("killed");
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(copy.join("private")).unwrap();
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let segments =
        entries.filter(|name| Path::new(name).extension().is_some_and(|end| end == "wgl"));
    let mut names: Vec<OsString> =
        ["private/tail.0", "private/tail.1", "private/keys.wgk"].map(Into::into).into();
    // What leaves the tail while this runs is in a frame.
    names.extend(["checkpoint", "identity"].map(Into::into));
    names.extend(segments);
    for name in names {
        fs::copy(folder.join(&name), copy.join(&name)).unwrap_or_default();
    }
    let signer = LogSigner::new("log.example/a", &[7; 32]).unwrap();
    assert_eq!(erase(&copy, signer, &["nobody"]).unwrap(), 0);
    copy
}

#[test]
fn decisions_are_recorded_before_their_answers_leave() {
    let mut server = start(ALBUMS, "principal = \"clear\"\n");
    let log = server.folder.join("log");
    for number in 1..=3 {
        assert_eq!(check(&server, &["view", "edit"]).0, 200);
        assert_eq!(decisions(&log).len(), number);
    }
    let evaluation = json!({
        "subject": { "type": "user", "id": "eve" },
        "action": { "name": "view" },
        "resource": { "type": "album", "id": "a1" },
    });
    let (status, _) = server.post("/access/v1/evaluation", "", &evaluation.to_string());
    assert_eq!(status, 200);
    let all = json!({ "evaluations": [evaluation, evaluation] });
    assert_eq!(server.post("/access/v1/evaluations", "", &all.to_string()).0, 200);
    let found = decisions(&log);
    let name = |at: usize| match &found[at].0 {
        Identity::Clear(name) => name.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!((found.len(), name(0), name(3)), (6, "ada".to_owned(), "eve".to_owned()));
    assert_eq!(found[0].1.as_deref(), Some("r7"));
    let view_and_edit = [("view".to_owned(), Effect::Allowed), ("edit".to_owned(), Effect::Denied)];
    assert_eq!(found[0].2, view_and_edit);
    // Frames are made, and counted, by a thread of their own.
    let is_counted = |metrics: &str| metrics.contains("\nwardgate_decision_log_records_total 6\n");
    assert!((0..1000).any(|_| is_counted(&server.get("/metrics", "").1)));
    server.stop();
    let verified = verify(&log, &key(), None, None).unwrap();
    assert_eq!((verified.decisions, verified.lost, verified.unsealed), (6, 0, 0));
}

#[test]
fn what_a_limit_denies_is_recorded_as_such() {
    let server = start(&format!("{ALBUMS}{LIMIT}"), "");
    for _ in 0..2 {
        assert_eq!(check(&server, &["view"]).0, 200);
    }
    let found = decisions(&server.folder.join("log"));
    let effects: Vec<_> = found.iter().map(|(_, _, actions)| actions[0].1).collect();
    assert_eq!(effects, [Effect::Allowed, Effect::Limited]);
    assert!(matches!(found[0].0, Identity::Commitment(_)));
}

#[test]
fn answers_that_would_not_be_recorded_are_refused() {
    let server = start(ALBUMS, "");
    let search = json!({
        "subject": { "type": "user" },
        "action": { "name": "view" },
        "resource": { "type": "album", "id": "a1" },
    });
    let (status, text) = server.post("/access/v1/search/subject", "", &search.to_string());
    assert_eq!(status, 409, "{text}");
    assert!(text.contains("recorded"), "{text}");
}

#[test]
fn a_reload_is_in_the_log_before_what_it_decides() {
    let server = start(ALBUMS, "");
    block_on(server.shared.reload()).unwrap();
    assert_eq!(check(&server, &["view"]).0, 200);
    let mut reader = LogReader::open(&server.folder.join("log")).unwrap();
    let mut numbers = Vec::new();
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Policies(policies) => numbers.push(policies.number),
                Body::Decision(decision) => assert_eq!(numbers.last(), Some(&decision.policies)),
                _ => {}
            }
        }
    }
    assert!(!numbers.is_empty());
}
