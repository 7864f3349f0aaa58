//! The lists of topics of `tests/grants`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::fs;

use serde_json::{Value as Json, json};
use wardgate_engine::request::AuxData;
use wardgate_native::mqtt::{ClientGrants, Target};
use wardgate_native::protocol::documents;
use wardgate_native::protocol::grants::{GrantsCall, of, translated};
use wardgate_native::{Budget, Policies};
use wardgate_tests::check::attributes;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::conformance::{files, stem};
use wardgate_tests::topics::now;
use wardgate_tests::{cases, program, yaml};

#[test]
fn lists_are_those_of_the_cases() {
    let paths = files(&program::root().join("tests/grants"), "yaml").unwrap();
    assert_eq!(paths.len(), 8);
    for path in paths {
        let case = yaml::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        let policies = policies(&case);
        for (number, check) in case["checks"].as_array().unwrap().iter().enumerate() {
            compare(&policies, check, &format!("{}, check {}", stem(&path), number + 1));
        }
    }
}

fn policies(case: &Json) -> Policies {
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let file = |file: &Json| (text(&file["file"]), text(&file["text"]).into_bytes());
    let files: Vec<_> = case["policies"].as_array().unwrap().iter().map(file).collect();
    let options = cases::options(case.get("options").unwrap_or(&Json::Null)).unwrap();
    Policies::of(Compiled::new(&files, &options).unwrap().table)
}

fn compare(policies: &Policies, check: &Json, name: &str) {
    for (action, expected) in check["grants"].as_object().into_iter().flatten() {
        let call = call(check, &[action]);
        let lists = call.lists(policies, now(), &Budget::default());
        let found = of(&lists[0].1);
        let member = |key: &str, default: Json| expected.get(key).cloned().unwrap_or(default);
        let because = member("because", json!([]));
        let expected = json!({
            "allow": member("allow", json!([])),
            "deny": member("deny", json!([])),
            "internal": member("internal", json!(false)),
            "exact": because == json!([]),
            "because": because,
            "readsTime": false,
        });
        assert_eq!(found, expected, "{name}, {action}");
    }
    for (form, expected) in check["forms"].as_object().into_iter().flatten() {
        let call = call(check, &["publish", "subscribe"]);
        let lists = call.lists(policies, now(), &Budget::default());
        let [publish, subscribe] = [0, 1].map(|at: usize| lists[at].1.clone());
        let (_, target) = Target::ALL.into_iter().find(|(known, _)| known == form).unwrap();
        let found = match translated(&ClientGrants { publish, subscribe }, target) {
            Err(message) => json!({ "refused": message }),
            Ok(found) => json!({
                "lists": found["lists"],
                "exact": found["exact"],
                "dropped": found["dropped"],
            }),
        };
        let mut expected = expected.clone();
        if expected.get("refused").is_none() {
            let members = expected.as_object_mut().unwrap();
            members.entry("exact").or_insert(json!(false));
            members.entry("dropped").or_insert(json!([]));
        }
        assert_eq!(found, expected, "{name}, {form}\n{found:#}");
    }
}

fn call(check: &Json, actions: &[&str]) -> GrantsCall {
    let request = json!({
        "principal": check["principal"],
        "resource": check.get("resource"),
        "auxData": check.get("auxData"),
        "actions": actions,
    });
    let document = documents::attribute(request.to_string().as_bytes()).unwrap();
    let jwt = attributes(check.pointer("/auxData/jwt"));
    GrantsCall::read(&document, |_| Ok(AuxData { jwt, ..AuxData::default() })).unwrap()
}
