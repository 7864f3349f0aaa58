//! All forms of a question have the same answer.

use serde_json::{Value, json};
use wardgate_native::{
    Attr, Pdp, PrincipalRef, Question, Request, RequestError, ResourceRef, SystemClock, Target,
    Timestamp, Trust,
};

use crate::policies::{ACTIONS, DOCUMENTS, Document, Person, bundle, owned_by, person};

#[test]
fn every_form_has_the_same_answer() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let people = [
        person("ada", &["viewer"]),
        person("bob", &["editor", "viewer"]),
        person("bob", &["guest"]),
        Person { team: None, ..person("eve", &["viewer"]) },
        person("eve", &[]),
    ];
    let documents = [
        owned_by("ada"),
        Document { public: true, ..owned_by("bob") },
        Document { is_locked: Some(true), ..owned_by("eve") },
        Document { is_locked: None, stars: f64::NAN, tags: vec![], ..owned_by("bob") },
    ];
    let mut allowed = 0;
    for action in ACTIONS {
        for person in &people {
            allowed += documents.iter().filter(|one| is_allowed(&pdp, person, action, one)).count();
        }
    }
    assert!((40..180).contains(&allowed), "{allowed} of 240 are allowed");
}

/// Decides in every form, and compares the answers.
fn is_allowed(pdp: &Pdp, person: &Person, action: &str, document: &Document) -> bool {
    let now = Timestamp::new(1_800_000_000, 0).unwrap();
    let question = Question {
        principal: PrincipalRef::new(&person.id, &person.roles, person),
        action,
        resource: ResourceRef::new("document", &document.id, document),
    };
    let request = request(person, document);
    let expected = pdp.snapshot().table().is_allowed(&request, action, now);
    assert_eq!(pdp.is_allowed(&request, action, now), expected, "request: {action}");
    assert_eq!(pdp.is_allowed_fields(&question, now), expected, "fields: {action}");
    let prepared = pdp.prepare::<Person, Document>("document", action);
    assert_eq!(prepared.is_allowed(person, document, now), expected, "typed: {action}");
    let bound = prepared.principal(person);
    assert_eq!(bound.is_allowed(document, now), expected, "principal: {action}");
    if document.stars.is_finite() {
        let json = json(&request, action);
        assert_eq!(pdp.is_allowed_value(&json, now), Ok(expected), "value: {action}");
        let text = json.to_string();
        assert_eq!(pdp.is_allowed_json(text.as_bytes(), now), Ok(expected), "json: {action}");
    }
    expected
}

fn request(person: &Person, document: &Document) -> Request {
    let text = |text: &str| Attr::String(text.into());
    let mut request = Request::default();
    request.principal.id.clone_from(&person.id);
    request.principal.roles.clone_from(&person.roles);
    let team = person.team.as_ref().map(|team| ("team".into(), text(team)));
    let level = ("level".into(), Attr::Number(person.level.into()));
    request.principal.attr = team.into_iter().chain([level]).collect();
    request.resource.kind = "document".to_owned();
    request.resource.id.clone_from(&document.id);
    let locked = document.is_locked.map(|locked| ("locked".into(), Attr::Bool(locked)));
    let place = [("team".into(), text(&document.place.team))];
    let others = [
        ("owner".into(), text(&document.owner)),
        ("public".into(), Attr::Bool(document.public)),
        ("stars".into(), Attr::Number(document.stars)),
        ("place".into(), Attr::Map(place.into_iter().collect())),
        ("tags".into(), Attr::List(document.tags.iter().map(|tag| text(tag)).collect())),
    ];
    request.resource.attr = locked.into_iter().chain(others).collect();
    request
}

/// Returns the request about one action as JSON.
pub(crate) fn json(request: &Request, action: &str) -> Value {
    let attributes = |attr: &wardgate_native::AttrMap| -> Value {
        let text = wardgate_engine::wire::attr_json(&Attr::Map(attr.clone()));
        serde_json::from_str(&text).unwrap()
    };
    json!({
        "principal": {
            "id": request.principal.id,
            "roles": request.principal.roles,
            "attr": attributes(&request.principal.attr),
        },
        "action": action,
        "resource": {
            "kind": request.resource.kind,
            "id": request.resource.id,
            "attr": attributes(&request.resource.attr),
        },
    })
}

#[test]
fn malformed_requests_are_errors_in_both_forms() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let check = |text: &str, expected: &str| {
        let found = pdp.is_allowed_json(text.as_bytes(), SystemClock);
        assert_eq!(found.map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            let found = pdp.is_allowed_value(&value, SystemClock);
            assert_eq!(
                found.map_err(|error| error.to_string()),
                Err(expected.to_owned()),
                "{text}"
            );
        }
    };
    let principal = r#""principal":{"id":"a","roles":["viewer"]}"#;
    let resource = r#""resource":{"kind":"document","id":"d"}"#;
    check("[]", "`request`: expected an object, found a list");
    check("{}", "`principal` is missing");
    check("{", "malformed JSON at byte 1: expected a name in quotes");
    check("{} x", "malformed JSON at byte 3: expected the end");
    check(&format!("{{{principal}}}"), "`resource` is missing");
    check(&format!("{{{principal},{resource}}}"), "`action` is missing");
    check(
        &format!(r#"{{{principal},{resource},"action":1}}"#),
        "`action`: expected text, found a number",
    );
    check(
        &format!(r#"{{{principal},{resource},"action":"view","actoin":1}}"#),
        "unknown field `actoin` in `request`",
    );
    check(
        &format!(r#"{{"principal":{{"id":"a","role":[]}},{resource},"action":"view"}}"#),
        "unknown field `role` in `principal`",
    );
    check(
        &format!(r#"{{"principal":{{"id":"a","roles":[1]}},{resource},"action":"view"}}"#),
        "`principal.roles`: expected text, found a number",
    );
    check(
        &format!(
            r#"{{{principal},"resource":{{"kind":"document","id":"d","attr":[]}},"action":"view"}}"#
        ),
        "`resource.attr`: expected an object, found a list",
    );
    check(
        &format!(
            r#"{{{principal},"resource":{{"kind":"document","id":"d","attr":{{"x":[1,]}}}},"action":"view"}}"#
        ),
        "malformed JSON at byte 97: expected a value",
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_an_error() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let expected = RequestError::Malformed { offset: 2, expected: "UTF-8" };
    assert_eq!(pdp.is_allowed_json(b"{\"\xff\":1}", SystemClock), Err(expected));
}

#[test]
fn attributes_nest_up_to_the_depth_of_the_engine() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let input = |name: &str, depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let text = format!(
            r#"{{"action":"list","principal":{{"id":"a","roles":["viewer"]}},
                "resource":{{"kind":"document","id":"d","attr":{{"{name}":{open}{close}}}}}}}"#
        );
        pdp.is_allowed_json(text.as_bytes(), SystemClock)
    };
    // The escape leads to the plain reader.
    for name in ["x", "\\u0078"] {
        assert_eq!(input(name, 64), Ok(true), "{name}");
        assert_eq!(input(name, 65), Err(RequestError::TooDeep), "{name}");
    }
}

#[test]
fn a_kind_without_policies_is_denied() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let (ada, document) = (person("ada", &["viewer"]), owned_by("ada"));
    let check = |target: Target<'_>, expected: bool| {
        let prepared = pdp.prepare_in::<Person, Document>(target);
        assert_eq!(prepared.is_allowed(&ada, &document, SystemClock), expected, "{target:?}");
    };
    let view = Target { kind: "document", action: "view", ..Target::default() };
    check(view, true);
    check(Target { kind: "photo", ..view }, false);
    check(Target { policy_version: "default", ..view }, true);
    check(Target { policy_version: "other", ..view }, false);
    check(Target { scope: "acme", ..view }, false);
}

#[test]
fn a_refused_bundle_leaves_the_policies_as_they_are() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let (ada, document) = (person("ada", &["viewer"]), owned_by("bob"));
    let prepared = pdp.prepare::<Person, Document>("document", "view");
    let bound = prepared.principal(&ada);
    let answers = || {
        let snapshot = pdp.snapshot();
        let now = Timestamp::default();
        let plain = snapshot.is_allowed(&request(&ada, &document), "view", now);
        [plain, prepared.is_allowed(&ada, &document, now), bound.is_allowed(&document, now)]
    };
    assert_eq!(answers(), [true; 3]);
    assert!(pdp.reload(b"no bundle", Trust::Unsigned).is_err());
    assert_eq!(answers(), [true; 3]);
    let stricter = DOCUMENTS.replace("[viewer]", "[nobody]");
    pdp.clone().reload(&bundle(&stricter), Trust::Unsigned).unwrap();
    assert_eq!(answers(), [false; 3]);
    assert_eq!(answers(), [false; 3]);
    pdp.reload(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    assert_eq!(answers(), [true; 3]);
}
