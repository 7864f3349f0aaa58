//! The modules give the answers of the native engine.

use std::cell::Cell;

use serde_json::{Value, json};
use wardgate_bundle::{Conditions, open, pack};
use wardgate_compiler::compile_files;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire::{decision_json, explanation_json};
use wardgate_native::{Policies, Target, Trust};
use wardgate_tests::generate::{World, with_action, worlds};
use wardgate_tests::{cases, check};
use wardgate_wasmtime_host::{
    Clock, HostError, PrincipalRef, Question, ResourceRef, Session, Timestamp,
};

use crate::{FORMS, album, bundle, now, opened, request};

#[test]
fn every_case_has_the_decision_bytes_of_the_native_engine() {
    let cases = cases::all().unwrap();
    assert!(cases.len() > 50, "{} cases", cases.len());
    for (form, code) in FORMS.iter() {
        for case in &cases {
            let bundle = pack(&compile_files(&case.files, &case.options).unwrap().parts);
            let table = table(&bundle);
            let mut session = opened(code, &bundle).session();
            for check in &case.checks {
                let answer = session.decision_bytes(check.json.to_string().as_bytes(), &case.now);
                let expected = decision_json(&table.check(&check.request, case.now));
                assert_eq!(text(answer), expected, "{form}: {}", case.name);
            }
        }
    }
}

#[test]
fn generated_requests_are_decided_alike_as_text_and_by_fields() {
    let moment = World::now().unwrap();
    let compiled = worlds(5, 10).filter_map(|world| {
        let compiled = compile_files(&world.files(), &world.table_options().ok()?).ok()?;
        Some((world, pack(&compiled.parts)))
    });
    let mut counts = Counts::default();
    for (world, bundle) in compiled.take(40) {
        let policies = Policies::of(table(&bundle));
        for (form, code) in FORMS.iter() {
            let mut session = opened(code, &bundle).session();
            for json in &world.requests {
                let request = check::request(json).unwrap();
                let answer = session.decision_bytes(json.to_string().as_bytes(), &moment);
                let expected = decision_json(&policies.check(&request, moment));
                assert_eq!(text(answer), expected, "{form}: {json}");
                for action in &request.actions {
                    let expected = policies.is_allowed(&request, action, moment);
                    counts.compare(&mut session, (json, action), (expected, moment));
                }
            }
        }
    }
    assert!(counts.by_fields * 2 > counts.all, "{counts:?}");
}

/// The number of questions.
#[derive(Debug, Default)]
struct Counts {
    all: usize,
    by_fields: usize,
}

impl Counts {
    fn compare(
        &mut self,
        session: &mut Session,
        (json, action): (&Value, &str),
        (expected, moment): (bool, Timestamp),
    ) {
        let one = with_action(json, action).to_string();
        assert_eq!(session.is_allowed(one.as_bytes(), &moment), Ok(expected), "{one}");
        let fields = by_fields(session, json, action, moment);
        assert!(fields.is_none_or(|allowed| allowed == expected), "{one}");
        self.all += 1;
        self.by_fields += usize::from(fields.is_some());
    }
}

/// Decides by fields; returns `None` for a question that fields cannot express.
fn by_fields(session: &mut Session, json: &Value, action: &str, now: Timestamp) -> Option<bool> {
    let (principal, resource) = (&json["principal"], &json["resource"]);
    let text_of = |of: &Value, name: &str| of[name].as_str().unwrap_or_default().to_owned();
    if !json["auxData"].is_null() {
        return None;
    }
    let roles: Vec<&str> =
        principal["roles"].as_array()?.iter().filter_map(Value::as_str).collect();
    let nothing = serde_json::Map::new();
    let names = [(principal, "id"), (principal, "policyVersion"), (principal, "scope")];
    let [id, version, scope] = names.map(|(of, name)| text_of(of, name));
    let names = ["kind", "id", "policyVersion", "scope"];
    let [kind, resource_id, resource_version, resource_scope] =
        names.map(|name| text_of(resource, name));
    let question = Question {
        principal: PrincipalRef {
            id: &id,
            roles: &roles,
            attributes: principal["attr"].as_object().unwrap_or(&nothing),
            policy_version: &version,
            scope: &scope,
        },
        action,
        resource: ResourceRef {
            kind: &kind,
            id: &resource_id,
            attributes: resource["attr"].as_object().unwrap_or(&nothing),
            policy_version: &resource_version,
            scope: &resource_scope,
        },
    };
    let policy_version = &*resource_version;
    let target = Target { kind: &kind, action, policy_version, scope: &resource_scope };
    let mut prepared = session.prepare(target).unwrap();
    Some(session.is_allowed_fields(&mut prepared, &question, &now).unwrap())
}

fn table(bundle: &[u8]) -> PolicyTable {
    open(bundle, Trust::Unsigned, &Conditions::default()).unwrap().table
}

fn text(bytes: Result<Vec<u8>, HostError>) -> String {
    String::from_utf8(bytes.unwrap()).unwrap()
}

#[test]
fn all_questions_are_answered_by_every_form() {
    let bundle = bundle(&album("view"));
    let table = table(&bundle);
    for (form, code) in FORMS.iter() {
        let pdp = opened(code, &bundle);
        let album = |owner: &str| json!({ "kind": "album", "id": "a", "attr": { "owner": owner } });
        let batch = json!({
            "principal": { "id": "ada", "roles": ["member"] },
            "action": "view",
            "resources": [album("bob"), album("ada"), album("ada")],
        });
        assert_eq!(pdp.filter(batch.to_string().as_bytes(), &now()), Ok(vec![1, 2]), "{form}");
        let mut request = check::request(&serde_json::from_str(&request("view")).unwrap()).unwrap();
        request.actions = vec!["view".to_owned()];
        let expected = explanation_json(&table.explain(&request, now()));
        assert_eq!(
            text(pdp.explain(crate::request("view").as_bytes(), &now())),
            expected,
            "{form}"
        );
        let evaluation = json!({
            "subject": { "type": "member", "id": "ada" },
            "action": { "name": "view" },
            "resource": { "type": "album", "id": "a", "properties": { "owner": "ada" } },
        });
        let answer = pdp.authzen_evaluate(evaluation.to_string().as_bytes(), &now());
        assert_eq!(text(answer), r#"{"decision":true}"#, "{form}");
        assert_eq!(pdp.revision(), Ok(0), "{form}");
    }
}

#[test]
fn an_invalid_request_is_refused_and_the_next_one_answered() {
    let long = "x".repeat(2 << 20);
    for (form, code) in FORMS.iter() {
        let mut session = opened(code, &bundle(&album("view"))).session();
        let mut refused = |json: &[u8], expected: &str| match session.is_allowed(json, &now()) {
            Err(HostError::Refused { code, message }) => {
                assert_eq!(
                    (code.as_str(), message.as_str()),
                    ("invalid-request", expected),
                    "{form}"
                );
            }
            other => panic!("{form}: {other:?}"),
        };
        refused(b"", "malformed JSON at byte 0: expected a value");
        refused(b"{}", "`principal` is missing");
        refused(b"\xff", "malformed JSON at byte 0: expected UTF-8");
        refused(
            format!("{{\"{long}\":1}}").as_bytes(),
            &format!("unknown field `{long}` in `request`"),
        );
        assert_eq!(session.is_allowed(request("view").as_bytes(), &now()), Ok(true), "{form}");
        assert_eq!(session.is_allowed(request("edit").as_bytes(), &now()), Ok(false), "{form}");
    }
}

#[test]
fn fields_that_no_frame_can_express_are_sent_as_text() {
    for (form, code) in FORMS.iter() {
        let mut session = opened(code, &bundle(&album("view"))).session();
        let target = Target { kind: "album", action: "view", ..Target::default() };
        let mut prepared = session.prepare(target).unwrap();
        let mut ask = |kind: &str, action: &str, attributes: &Value| {
            let attributes = attributes.as_object().unwrap();
            let question = Question {
                principal: PrincipalRef::new("ada", &["member"], &()),
                action,
                resource: ResourceRef::new(kind, "a", attributes),
            };
            session.is_allowed_fields(&mut prepared, &question, &now())
        };
        assert_eq!(ask("album", "view", &json!({ "owner": "ada" })), Ok(true), "{form}");
        assert_eq!(ask("album", "view", &json!({ "owner": "bob" })), Ok(false), "{form}");
        assert_eq!(ask("album", "view", &json!({ "owner": ["ada"] })), Ok(false), "{form}");
        assert_eq!(ask("album", "view", &json!({ "owner": { "id": "ada" } })), Ok(false), "{form}");
        assert_eq!(ask("album", "edit", &json!({ "owner": "ada" })), Ok(false), "{form}");
        assert_eq!(ask("picture", "view", &json!({ "owner": "ada" })), Ok(false), "{form}");
    }
}

#[test]
fn a_fast_path_reads_no_clock() {
    /// A clock that counts its reads: a question as text always reads it.
    struct Counting(Cell<u32>);

    impl Clock for Counting {
        fn now(&self) -> Timestamp {
            self.0.set(self.0.get() + 1);
            now()
        }
    }

    for (form, code) in FORMS.iter() {
        let mut session = opened(code, &bundle(&album("view"))).session();
        let target = Target { kind: "album", action: "view", ..Target::default() };
        let mut prepared = session.prepare(target).unwrap();
        let clock = Counting(Cell::new(0));
        for (roles, owner, expected) in [
            (&["member"][..], "ada", true),
            (&["member"], "bob", false),
            (&["guest"], "ada", false),
            (&[], "ada", false),
            (&["guest", "member"], "ada", true),
        ] {
            let attributes = vec![("owner", owner)];
            let question = Question {
                principal: PrincipalRef::new("ada", roles, &()),
                action: "view",
                resource: ResourceRef::new("album", "a", &attributes),
            };
            let answer = session.is_allowed_fields(&mut prepared, &question, &clock);
            assert_eq!(answer, Ok(expected), "{form}");
        }
        assert_eq!(clock.0.get(), 0, "{form}");
    }
}
