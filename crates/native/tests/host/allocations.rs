//! `is_allowed` allocates nothing, in any form of a question.

use allocation_counter::measure;
use serde_json::json;
use wardgate_native::protocol::authzen::{self, Evaluations, NoDirectory, Requests};
use wardgate_native::{
    Attr, AuxData, Pdp, PrincipalRef, Question, Request, ResourceRef, Timestamp, Trust,
};

use crate::policies::{DOCUMENTS, Document, Person, bundle, owned_by, person};

#[test]
fn no_form_allocates() {
    for entries in [0, 1, 64] {
        let pdp = Pdp::open_with_cache(&bundle(DOCUMENTS), Trust::Unsigned, entries).unwrap();
        every_form_is_free(&pdp);
    }
}

fn every_form_is_free(pdp: &Pdp) {
    let now = Timestamp::default();
    let (bob, document) = (person("bob", &["editor", "viewer"]), owned_by("ada"));
    let pairs = [("owner", Attr::String("ada".into())), ("stars", Attr::Number(1.0))];
    let level = [("level", 3.0)];
    let free = |what: &str, expected: bool, decide: &dyn Fn() -> bool| {
        // The first decision of a thread allocates the thread's buffers.
        let _ = decide();
        let mut found = !expected;
        let counted = measure(|| found = decide());
        assert_eq!(found, expected, "{what}");
        assert_eq!(counted.count_total, 0, "{what}");
    };
    for (action, expected) in
        [("list", true), ("delete", false), ("rate", true), ("name", true), ("unknown", false)]
    {
        let prepared = pdp.prepare::<Person, Document>("document", action);
        free(&format!("typed {action}"), expected, &|| prepared.is_allowed(&bob, &document, now));
        let bound = prepared.principal(&bob);
        free(&format!("bound {action}"), expected, &|| bound.is_allowed(&document, now));
        let question = Question {
            principal: PrincipalRef::new("bob", &["editor", "viewer"], &level[..]),
            action,
            resource: ResourceRef::new("document", "d1", &pairs[..]),
        };
        // A document without the attribute `locked` may not be deleted either.
        free(&format!("fields {action}"), expected, &|| pdp.is_allowed_fields(&question, now));
        let value = json!({
            "principal": { "id": "bob", "roles": ["editor", "viewer"], "attr": { "level": 3 } },
            "action": action,
            "resource": {
                "kind": "document",
                "id": "d1",
                "attr": { "owner": "ada", "stars": 1, "tags": ["a", { "b": [] }] },
            },
        });
        free(&format!("value {action}"), expected, &|| pdp.is_allowed_value(&value, now).unwrap());
        let text = value.to_string();
        free(&format!("json {action}"), expected, &|| {
            pdp.is_allowed_json(text.as_bytes(), now).unwrap()
        });
    }
    let request = request();
    for action in ["list", "delete", "rate", "tag", "name", "visit", "join"] {
        let expected = action != "delete";
        free(action, expected, &|| pdp.is_allowed(&request, action, now));
    }
}

#[cfg(feature = "decision-log")]
#[test]
fn recording_allocates_nothing() {
    use wardgate_native::decision_log::{Drained, Evidence, Recorder, Recording, ring};

    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    for has_evidence in [false, true] {
        let (writer, mut reader) = ring(1 << 20);
        let recording = Recording { has_evidence, denies_unrecorded: true, caller: 0 };
        let mut recorder = Recorder::new(writer, recording);
        let (request, now) = (request(), Timestamp::default());
        for action in ["list", "delete", "rate", "name"] {
            let expected = pdp.is_allowed(&request, action, now);
            let mut found = !expected;
            let mut decide = || found = recorder.is_allowed_request(&pdp, &request, action, now);
            // The first decision of a thread allocates the thread's buffers.
            decide();
            assert_eq!(measure(decide).count_total, 0, "{action}");
            assert_eq!(found, expected, "{action}");
            for _ in 0..2 {
                let Some(Drained::Entry(_, read)) = reader.next() else { panic!("{action}") };
                let is_read = matches!(read.entry.evidence, Evidence::Read(_));
                assert_eq!((is_read, read.entry.is_general), (has_evidence, false), "{action}");
            }
        }
    }
}

#[cfg(feature = "decision-log")]
#[test]
fn noting_a_call_allocates_no_more_than_answering_it() {
    use wardgate_native::CallLimits;
    use wardgate_native::decision_log::CallNotes;

    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let (policies, now) = (pdp.snapshot(), Timestamp::default());
    let resource = r#"{"kind":"document","id":"d1","attr":{"owner":"ada","stars":1}}"#;
    let entry = format!(r#"{{"actions":["list","delete","rate"],"resource":{resource}}}"#);
    let call = format!(
        r#"{{"principal":{{"id":"bob","roles":["viewer"],"attr":{{"level":3}}}},"resources":[{}]}}"#,
        [entry.as_str(); 5].join(",")
    );
    let limits = CallLimits { resources: 50, actions: 50, steps: 1_000_000 };
    let answer = || policies.answer_call(call.as_bytes(), limits, now);
    let expected = answer().unwrap();
    let allocations = measure(|| drop(answer())).count_total;
    for has_evidence in [false, true] {
        let mut notes = CallNotes::default();
        let mut answer = || {
            notes.begin(now, has_evidence);
            let answered = policies.answer_call_noted(call.as_bytes(), limits, &mut notes);
            let mut outcomes = 0;
            assert!(notes.each(call.as_bytes(), 7, |entry, actions| {
                outcomes += actions.len();
                entry.principal == "bob" && entry.resource == "d1"
            }));
            assert_eq!(outcomes, 15);
            answered.unwrap()
        };
        // The first call takes the memory of the notes.
        assert_eq!(answer(), expected);
        assert_eq!(measure(|| drop(answer())).count_total, allocations);
    }
}

fn request() -> Request {
    let text = |text: &str| Attr::String(text.into());
    let mut request = Request::default();
    request.principal.id = "bob".to_owned();
    request.principal.roles = vec!["viewer".to_owned()];
    request.principal.attr =
        [("level".into(), Attr::Number(3.0)), ("team".into(), text("red"))].into_iter().collect();
    request.resource.kind = "document".to_owned();
    let place = [("team".into(), text("red"))];
    request.resource.attr = [
        ("owner".into(), text("ada")),
        ("stars".into(), Attr::Number(1.0)),
        ("tags".into(), Attr::List(vec![text("shared")])),
        ("place".into(), Attr::Map(place.into_iter().collect())),
    ]
    .into_iter()
    .collect();
    request
}

/// Returns the bytes that it takes to read and answer evaluations that leave out all members but
/// these.
fn bytes_of_evaluations(shared: &str, item: &str, count: usize) -> u64 {
    let items = vec![item; count].join(",");
    let body = format!("{{{shared}, \"evaluations\": [{items}]}}");
    let mut answered = 0;
    let measured = measure(|| {
        let read = authzen::evaluations(body.as_bytes()).unwrap();
        let Evaluations::Many { items, shared, .. } = read else { return };
        let verify = |_: &Attr| Ok(AuxData::default());
        let mut requests = Requests::new(&shared, &NoDirectory, &verify);
        for item in &items {
            let question = item.as_ref().unwrap();
            answered += requests.with(question, |request| request.actions.len()).unwrap();
        }
    });
    assert_eq!(answered, count);
    measured.bytes_total
}

#[test]
fn evaluations_share_what_they_leave_out() {
    let long: Vec<String> = (0..5000).map(|at| format!("\"property {at}\"")).collect();
    let long = format!("{{\"list\": [{}]}}", long.join(","));
    let entity = |name: &str, kind: &str| {
        format!("\"{name}\": {{\"type\": \"{kind}\", \"id\": \"a\", \"properties\": {long}}}")
    };
    let shared = [
        entity("subject", "user"),
        entity("resource", "album"),
        format!("\"action\": {{\"name\": \"view\", \"properties\": {long}}}"),
        format!("\"context\": {long}"),
    ];
    let shared = shared.join(",");
    let own = [
        r#""subject": {"type": "user", "id": "b"}"#,
        r#""resource": {"type": "album", "id": "b"}"#,
        r#""action": {"name": "edit"}"#,
        r#""context": {}"#,
    ];
    for which in 0..16 {
        let own = own.iter().enumerate().filter(|(at, _)| which >> at & 1 == 1);
        let own: Vec<&str> = own.map(|(_, own)| *own).collect();
        let item = format!("{{{}}}", own.join(","));
        let bytes = |count| bytes_of_evaluations(&shared, &item, count);
        // One more takes the memory of its own members, and not the 100 KB of each that it leaves
        // out.
        let each = (bytes(300) - bytes(100)) / 200;
        assert!(each < 4_000, "{item}: {each}");
    }
}

#[test]
fn a_list_too_long_is_never_collected() {
    let condition = |function: &str| {
        format!(
            "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: document
  rules:
    - {{ actions: [view], roles: ['*'], effect: EFFECT_ALLOW, condition: {{ match: {{ expr: '{function}' }} }} }}
"
        )
    };
    let text = "a/".repeat(2 << 20);
    for function in [
        r#"R.attr.text.split("/").size() > 0"#,
        r#"R.attr.text.split("").size() > 0"#,
        r#"hierarchy(R.attr.text, "/").size() > 0"#,
        r#"relPath(R.attr.text, "b") == "b""#,
        r#"basePath(R.attr.text) == "b""#,
    ] {
        let pdp = Pdp::open(&bundle(&condition(function)), Trust::Unsigned).unwrap();
        let mut request = request();
        request.resource.attr =
            [("text".into(), Attr::String(text.as_str().into()))].into_iter().collect();
        let mut is_allowed = true;
        let counted =
            measure(|| is_allowed = pdp.is_allowed(&request, "view", Timestamp::default()));
        assert!(!is_allowed, "{function}");
        // A text of its own, a path for each of its parts, and the largest number of parts of a
        // list.
        assert!(counted.bytes_max < 5 * (4 << 20), "{function}: {} bytes", counted.bytes_max);
    }
}
