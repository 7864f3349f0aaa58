//! A repeated member of an object is refused, by every reader of text and in every object.

use wardgate_native::protocol::{authzen, documents};
use wardgate_native::{CallLimits, Pdp, RequestError, SystemClock, Trust};

use crate::policies::{DOCUMENTS, bundle};

/// Members to repeat: in a message, a party, its attributes, an attribute, and a value that no rule
/// reads.
const TWICE: [(&str, &str); 7] = [
    ("\"action\":", "action"),
    ("\"roles\":", "roles"),
    ("\"public\":", "public"),
    ("\"team\":", "team"),
    ("\"unread\":", "unread"),
    ("\"deep\":", "deep"),
    ("\"n\\u0061me\":", "name"),
];

/// Repeats the member that `text` begins, in front of itself.
fn doubled(json: &str, text: &str) -> String {
    assert_eq!(json.matches(text).count(), 1, "{text}");
    json.replacen(text, &format!("{text}0,{text}"), 1)
}

fn is_doubled(found: Result<(), RequestError>, expected: &str) {
    assert!(
        matches!(&found, Err(RequestError::Doubled { name, .. }) if name == expected),
        "{expected}: {found:?}"
    );
}

#[test]
fn a_request_with_a_member_twice_is_refused() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let input = |text: &str| pdp.is_allowed_json(text.as_bytes(), SystemClock);
    assert_eq!(input(REQUEST), Ok(true));
    for (text, name) in TWICE {
        let request = doubled(REQUEST, text);
        is_doubled(input(&request).map(drop), name);
        is_doubled(documents::question(request.as_bytes()).map(drop), name);
        is_doubled(documents::attribute(request.as_bytes()).map(drop), name);
    }
}

#[test]
fn a_later_role_does_not_count() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let input = |roles: &str| {
        let text = format!(
            r#"{{"principal":{{"id":"eve",{roles}}},"action":"list","resource":{{"kind":"document","id":"d"}}}}"#
        );
        pdp.is_allowed_json(text.as_bytes(), SystemClock)
    };
    assert_eq!(input(r#""roles":["guest"]"#), Ok(false));
    assert_eq!(input(r#""roles":["viewer"]"#), Ok(true));
    is_doubled(input(r#""roles":["guest"],"roles":["viewer"]"#).map(drop), "roles");
}

#[test]
fn a_call_with_a_member_twice_is_not_answered_from_its_text() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let policies = pdp.snapshot();
    let limits = CallLimits { resources: 10, actions: 10, steps: u32::MAX };
    let call = |text: &str| policies.answer_call(text.as_bytes(), limits, SystemClock);
    assert!(call(CALL).is_some_and(|answered| answered.allowed == 1));
    let positions =
        ["\"principal\":", "\"includeMeta\":", "\"actions\":", "\"roles\":", "\"kind\":"];
    let attributes = ["\"public\":", "\"team\":", "\"deep\":", "\"unread\":"];
    for text in positions.into_iter().chain(attributes) {
        let call = doubled(CALL, text);
        assert_eq!(policies.answer_call(call.as_bytes(), limits, SystemClock), None, "{text}");
        is_doubled(documents::call(call.as_bytes()).map(drop), text.trim_matches(['"', ':']));
    }
}

#[test]
fn an_evaluation_with_a_member_twice_is_not_answered() {
    let pdp = Pdp::open(&bundle(DOCUMENTS), Trust::Unsigned).unwrap();
    let policies = pdp.snapshot();
    let try_fast = |text: &str| policies.answer_evaluation(text.as_bytes(), SystemClock);
    let full = |text: &str| authzen::evaluation(text.as_bytes()).map(drop);
    assert_eq!(try_fast(EVALUATION), Some(true));
    assert!(full(EVALUATION).is_ok());
    let messages = ["\"subject\":", "\"action\":", "\"roles\":", "\"name\":", "\"note\":"];
    let attributes = ["\"public\":", "\"team\":", "\"deep\":", "\"unread\":", "\"ip\":"];
    for text in messages.into_iter().chain(attributes) {
        let evaluation = doubled(EVALUATION, text);
        assert_eq!(try_fast(&evaluation), None, "{text}");
        let error = format!("{:?}", full(&evaluation).unwrap_err());
        let expected = format!("duplicate member `{}`", text.trim_matches(['"', ':']));
        assert!(error.contains(&expected), "{error}");
    }
}

const REQUEST: &str = r#"{
    "principal": { "id": "ada", "roles":["viewer"] },
    "action":"view",
    "resource": { "kind": "document", "id": "d", "attr": {
        "public":true, "place": { "team":"red" }, "unread":[], "x": [1, [{ "deep":1 }]], "n\u0061me":1
    } }
}"#;

const CALL: &str = r#"{
    "includeMeta":false,
    "principal":{ "id": "ada", "roles":["viewer"] },
    "resources": [{ "actions":["view"], "resource": { "kind":"document", "id": "d", "attr": {
        "public":true, "place": { "team":"red" }, "unread":[], "x": [1, [{ "deep":1 }]]
    } } }]
}"#;

const EVALUATION: &str = r#"{
    "subject":{ "type": "user", "id": "ada", "properties": { "roles":["viewer"] } },
    "action":{ "name":"view" },
    "note":1,
    "context": { "ip":1 },
    "resource": { "type": "document", "id": "d", "properties": {
        "public":true, "place": { "team":"red" }, "unread":[], "x": [1, [{ "deep":1 }]]
    } }
}"#;
