//! Decisions over HTTP that are made again from the log alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wardgate_bundle::open_with_limits;
use wardgate_decision_log::record::{Body, Decision, Effect, Evidence, Record, Target};
use wardgate_decision_log::redaction::{Field, ValuePosition};
use wardgate_native::decision_log::{self, replay};
use wardgate_native::{Conditions, Policies, Trust};
use wardgate_server::decision_log::{LogReader, Unsealed, Unsealer};

use crate::decision_log::{LIMIT, start};
use crate::running::{Running, compiled};

/// `list` has a fast path, `view` reads the last digit of the time, and `edit` has an output.
const ALBUMS: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - actions: [list]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.owner == P.attr.team } }
    - actions: [view]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: \"string(now()).matches('[02468]Z$') && R.attr.owner == P.attr.team\" } }
";

const OUTPUT: &str = "
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: file
  rules:
    - actions: [edit]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.owner == P.attr.team } }
      output: { when: { ruleActivated: '\"edited\"' } }
";

/// A value of attributes that is in no name.
const SECRET: &str = "zebra";

/// Asks about instances of one resource, which no policies with limits answer.
fn ask_set(server: &Running) {
    let body = json!({
        "principal": { "id": "ada", "roles": ["user"], "attr": { "team": SECRET } },
        "actions": ["list", "view"],
        "resource": { "kind": "album", "instances": { "a1": { "attr": { "owner": SECRET } }, "a2": {} } },
    });
    assert_eq!(server.post("/api/check", "", &body.to_string()).0, 200);
}

/// Asks by the other calls that are recorded.
fn ask(server: &Running) {
    let principal = json!({ "id": "ada", "roles": ["user"], "attr": { "team": SECRET } });
    let attributes = json!({ "owner": SECRET, "unread": [SECRET, { "a": 1 }] });
    let entry = |kind: &str, actions: &[&str], attributes: &Value| json!({ "actions": actions, "resource": { "kind": kind, "id": "a1", "attr": attributes } });
    let post = |path: &str, body: Value| {
        let (status, text) = server.post(path, "", &body.to_string());
        assert_eq!(status, 200, "{path} {text}");
    };
    let many = json!([
        entry("album", &["list", "view", "none"], &attributes),
        entry("album", &["view", "list"], &json!({ "owner": "eve" })),
        entry("unknown", &["list"], &attributes),
    ]);
    let few =
        json!([entry("album", &["list"], &attributes), entry("album", &["none"], &attributes)]);
    // Known to be one for the general path only once the first resource is decided.
    let outputs = json!([
        entry("album", &["list"], &attributes),
        entry("file", &["edit", "view"], &attributes),
    ]);
    for resources in [many, few, outputs] {
        post("/api/check/resources", json!({ "principal": principal, "resources": resources }));
    }
    let evaluation = |action: &str| {
        json!({
            "subject": { "type": "user", "id": "ada", "properties": { "team": SECRET } },
            "action": { "name": action },
            "resource": { "type": "album", "id": "a1", "properties": attributes },
        })
    };
    for action in ["list", "view", "none"] {
        post("/access/v1/evaluation", evaluation(action));
    }
    post(
        "/access/v1/evaluations",
        json!({ "evaluations": [evaluation("list"), evaluation("view")] }),
    );
}

/// Returns the decisions of a log with the numbers of their records, and the targets.
fn decisions(log: &Path) -> (Vec<(u64, Decision)>, Vec<Target>) {
    let mut reader = LogReader::open(log).unwrap();
    let (mut found, mut targets, mut number) = (Vec::new(), Vec::new(), 0);
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Decision(decision) => found.push((number, decision)),
                Body::Target(target) => targets.push(target),
                _ => {}
            }
            number += 1;
        }
    }
    (found, targets)
}

/// Decides each decision of a log again. Returns how many are made from what a fast path read, and how many from a request.
fn decided_again(policies: &Policies, log: &Path) -> [usize; 2] {
    let (found, targets) = decisions(log);
    let mut unsealer = Unsealer::open(log).unwrap();
    let mut again = |(number, decision): &(u64, Decision)| {
        let mut open = |commitment: &[u8; 32]| {
            let place = ValuePosition { record: *number, field: Field::Evidence };
            match unsealer.open_value(place, commitment).unwrap() {
                Unsealed::Value(value) => value,
                other => panic!("{other:?}"),
            }
        };
        let (read, request) = match &decision.evidence {
            Evidence::Read(bytes) => (bytes.clone(), None),
            Evidence::CommittedRead(commitment) => (open(commitment), None),
            Evidence::Request(bytes) => (Vec::new(), Some(bytes.clone())),
            Evidence::CommittedRequest(commitment) => (Vec::new(), Some(open(commitment))),
            other => panic!("{other:?}"),
        };
        let evidence = match &request {
            None => decision_log::Evidence::Read(&read),
            Some(request) => decision_log::Evidence::Request(request),
        };
        let target = |number: u32| {
            let target = targets.iter().rfind(|target| target.number == number).unwrap();
            wardgate_native::Target {
                kind: target.kind.as_str(),
                action: target.action.as_str(),
                policy_version: target.version.as_str(),
                scope: target.scope.as_str(),
            }
        };
        let outcomes = &decision.outcomes;
        let about: Vec<_> = outcomes.iter().map(|outcome| target(outcome.target)).collect();
        let answers = replay(policies, &about, evidence, decision.micros);
        // What a limit has denied, the policies have allowed.
        let expected = outcomes.iter().map(|outcome| Some(outcome.effect != Effect::Denied));
        assert_eq!(answers, expected.collect::<Vec<_>>(), "{about:?}");
        assert_eq!(decision.is_general, request.is_some(), "{about:?}");
        request.is_none()
    };
    let read = found.iter().map(&mut again).filter(|is_read| *is_read).count();
    [read, found.len() - read]
}

/// Opens policies as a reader of a log does, who charges no limits.
fn opened(policies: &str) -> Policies {
    let bundle = compiled(policies);
    let conditions = Conditions::default();
    Policies::of(open_with_limits(&bundle, Trust::Unsigned, &conditions).unwrap().table)
}

fn has_secret(folder: &Path) -> bool {
    files(folder).iter().any(|path| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
    })
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn decisions_are_made_again_from_their_evidence() {
    let policies = format!("{ALBUMS}{OUTPUT}");
    for (form, is_clear) in [("clear", true), ("committed", false)] {
        let mut server = start(&policies, &format!("evidence = \"{form}\"\n"));
        (0..20).for_each(|_| ask(&server));
        ask_set(&server);
        server.stop();
        let log = server.folder.join("log");
        let [read, whole] = decided_again(&opened(&policies), &log);
        assert_eq!(read + whole, 20 * 12 + 2);
        assert!(read >= 20 * 4 && whole >= 20 * 4 + 2, "{read} {whole}");
        assert_eq!(has_secret(&log), is_clear);
    }
}

#[test]
fn a_fast_path_records_what_the_general_path_records() {
    let mut server = start(ALBUMS, "principal = \"clear\"\nresource = \"clear\"\n");
    let entry = |id: &str, more: &str| {
        let resource = format!(r#"{{"kind":"album","id":"{id}",{more}"attr":{{"owner":"é"}}}}"#);
        format!(r#"{{"actions":["list","none"],"resource":{resource}}}"#)
    };
    let resources = [
        entry("é1", ""),
        entry("a2", r#""policyVersion":"default","#),
        entry("a3", r#""scope":"acme.hr","policyVersion":"v2","#),
    ];
    let resources = resources.join(",");
    let principal = r#"{"id":"adé","roles":["user"],"attr":{"team":"é"}}"#;
    for meta in ["false", "true"] {
        let body = format!(
            r#"{{"includeMeta":{meta},"principal":{principal},"resources":[{resources}],"requestId":"r é"}}"#
        );
        assert_eq!(server.post("/api/check/resources", "", &body).0, 200);
    }
    server.stop();
    let (found, _) = decisions(&server.folder.join("log"));
    let found: Vec<Decision> = found.into_iter().map(|(_, decision)| decision).collect();
    let (fast, general) = found.split_at(3);
    assert!(fast.iter().all(|decision| !decision.is_general) && general.len() == 3);
    for (fast, general) in fast.iter().zip(general) {
        assert!(general.is_general && general.micros >= fast.micros);
        let same = Decision { micros: fast.micros, is_general: false, ..general.clone() };
        assert_eq!(*fast, same);
    }
}

#[test]
fn what_a_fast_path_reads_may_be_too_long_for_an_evidence() {
    let mut server = start(ALBUMS, "evidence = \"clear\"\n");
    let long = "x".repeat(600);
    let resource = json!({ "kind": "album", "id": "a1", "attr": { "owner": long } });
    let body = json!({
        "principal": { "id": "ada", "roles": ["user"], "attr": { "team": long } },
        "resources": [{ "actions": ["list"], "resource": resource }],
    });
    assert_eq!(server.post("/api/check/resources", "", &body.to_string()).0, 200);
    server.stop();
    assert_eq!(decided_again(&opened(ALBUMS), &server.folder.join("log")), [0, 1]);
}

#[test]
fn nothing_of_a_request_is_in_a_log_without_evidence() {
    let mut server = start(&format!("{ALBUMS}{OUTPUT}"), "");
    ask(&server);
    ask_set(&server);
    server.stop();
    let log = server.folder.join("log");
    let (found, _) = decisions(&log);
    assert_eq!(found.len(), 14);
    assert!(found.iter().all(|(_, decision)| decision.evidence == Evidence::None));
    assert!(found.iter().all(|(_, decision)| !decision.is_cut));
    assert!(!has_secret(&log));
}

#[test]
fn evidence_is_of_the_decision_before_limits() {
    let policies = format!("{ALBUMS}{}", LIMIT.replace("[view]", "[list]"));
    let mut server = start(&policies, "evidence = \"clear\"\n");
    (0..2).for_each(|_| ask(&server));
    server.stop();
    let log = server.folder.join("log");
    decided_again(&opened(&policies), &log);
    let effects = decisions(&log).0;
    let effects = effects.iter().flat_map(|(_, decision)| &decision.outcomes);
    assert!(effects.clone().any(|outcome| outcome.effect == Effect::Limited));
}

#[test]
fn a_record_has_the_digest_of_a_request_that_is_too_large() {
    let mut server = start(ALBUMS, "evidence = \"clear\"\n");
    let long = "x".repeat(17 << 10);
    let resource = json!({ "kind": "album", "id": "a1", "attr": { "owner": long } });
    let body = json!({
        "principal": { "id": "ada", "roles": ["user"], "attr": { "team": long } },
        "resources": [{ "actions": ["list"], "resource": resource }],
    });
    assert_eq!(server.post("/api/check/resources", "", &body.to_string()).0, 200);
    server.stop();
    let (found, _) = decisions(&server.folder.join("log"));
    let [(_, decision)] = found.as_slice() else { panic!("{found:?}") };
    assert!(!decision.is_cut && matches!(decision.evidence, Evidence::Digest(_)), "{decision:?}");
}
