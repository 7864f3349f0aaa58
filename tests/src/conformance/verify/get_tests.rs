//! The tests that a table gives: requests, expectations, or an error.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_engine::wire::attr_json;
use wardgate_tooling::suite::files::{self, Files};
use wardgate_tooling::suite::model::Settings;
use wardgate_tooling::suite::results::effect_word;
use wardgate_tooling::suite::{Expected, Test, tests};

use super::errors;
use crate::check;
use crate::conformance::{Case, Outcome, files as listed, stem, yaml};

pub(super) fn load(folder: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in listed(folder, "yaml")? {
        let case = yaml(&path)?;
        cases.push(Case::new(format!("get_tests/{}", stem(&path)), move || outcome(&case)));
    }
    Ok(cases)
}

fn outcome(case: &Json) -> Outcome {
    let table = case.get("table").cloned().unwrap_or_default();
    let suite = json!({ "name": "suite", "tests": [table] }).to_string();
    let mut given: Files = BTreeMap::from([("a_test.json".to_owned(), suite.into_bytes())]);
    for (name, text) in FIXTURES {
        given.insert(format!("testdata/{name}.json"), text.as_bytes().to_vec());
    }
    let loaded = files::load(&given).remove(0);
    if let Some((stage, errors)) = &loaded.broken {
        return Outcome::failed("a suite", format!("{stage:?}: {errors:?}"));
    }
    let wanted = case.get("wantErr").and_then(Json::as_str);
    match (tests(&loaded), wanted.map(|sentence| (sentence, errors::code(sentence)))) {
        (Err(errors), Some((_, Some(code)))) if errors.iter().all(|e| e.code == code) => {
            Outcome::Passed
        }
        (Err(errors), wanted) => Outcome::failed(format!("{wanted:?}"), format!("{errors:?}")),
        (Ok(_), Some((sentence, _))) => Outcome::failed(sentence, "tests"),
        (Ok(found), None) => compare(case, &found),
    }
}

fn compare(case: &Json, found: &[Test<'_>]) -> Outcome {
    let wanted = case.get("wantTests").and_then(Json::as_array).cloned().unwrap_or_default();
    if wanted.len() != found.len() {
        let count = |count| format!("{count} tests");
        return Outcome::failed(count(wanted.len()), count(found.len()));
    }
    for (wanted, found) in wanted.iter().zip(found) {
        let actions = found.table.input.actions.iter().map(|action| action.name.clone()).collect();
        let request = check::request(wanted.get("input").unwrap_or(&Json::Null));
        if request.as_ref() != Ok(&found.request(actions)) {
            let expected = format!("{request:?}");
            return Outcome::failed(expected, format!("{:?}", found.request(Vec::new())));
        }
        let answer = json!({
            "name": {
                "testTableName": found.table.name.name,
                "principalKey": found.principal_name,
                "resourceKey": found.resource_name,
            },
            "description": found.table.description,
            "expected": effects(found),
            "outputs": outputs(&found.expected),
            "has options": *found.settings != Settings::default(),
        });
        let expected = json!({
            "name": wanted.get("name"),
            "description": wanted.get("description").and_then(Json::as_str).unwrap_or_default(),
            "expected": wanted.get("expected"),
            "outputs": wanted_outputs(wanted),
            "has options": wanted.get("options").is_some(),
        });
        if answer != expected {
            return Outcome::failed(expected, answer);
        }
    }
    Outcome::Passed
}

/// Returns the expected effects; an action without one is denied.
fn effects(test: &Test<'_>) -> Json {
    if test.expected == Expected::default() {
        let actions = test.table.input.actions.iter();
        let denied = || Json::from("EFFECT_DENY");
        return actions.map(|action| (action.name.clone(), denied())).collect();
    }
    let effects = test.expected.effects.iter();
    effects
        .map(|(action, (effect, _))| ((*action).to_owned(), Json::from(effect_word(*effect))))
        .collect()
}

fn outputs(expected: &Expected<'_>) -> Json {
    let entries = |entries: &BTreeMap<_, (Option<&wardgate_engine::attr::Attr>, _)>| -> Json {
        let read = |value: &wardgate_engine::attr::Attr| {
            serde_json::from_str::<Json>(&attr_json(value)).unwrap_or_default()
        };
        let entries = entries.iter();
        entries
            .map(|(rule, (value, _)): (&&str, _)| {
                ((*rule).to_owned(), value.map(read).unwrap_or_default())
            })
            .collect()
    };
    expected.outputs.iter().map(|(action, of)| ((*action).to_owned(), entries(of))).collect()
}

fn wanted_outputs(wanted: &Json) -> Json {
    let outputs = wanted.get("expectedOutputs").and_then(Json::as_object).into_iter().flatten();
    let entries = |of: &Json| of.get("entries").cloned().unwrap_or_else(|| json!({}));
    outputs.map(|(action, of)| (action.clone(), entries(of))).collect()
}

/// The fixtures that Cerbos's own runner of these cases provides.
const FIXTURES: &[(&str, &str)] = &[
    (
        "principals",
        r#"{
            "principals": {
                "employee": { "id": "employee", "roles": ["user"] },
                "manager": { "id": "manager", "roles": ["user"] },
                "department_head": { "id": "department_head", "roles": ["user"] }
            },
            "principalGroups": { "management": { "principals": ["manager", "department_head"] } }
        }"#,
    ),
    (
        "resources",
        r#"{
            "resources": {
                "employee_leave_request": { "kind": "leave_request", "id": "employee" },
                "manager_leave_request": { "kind": "leave_request", "id": "manager" },
                "department_head_leave_request": { "kind": "leave_request", "id": "department_head" }
            },
            "resourceGroups": {
                "management_leave_requests": {
                    "resources": ["manager_leave_request", "department_head_leave_request"]
                }
            }
        }"#,
    ),
    ("auxdata", r#"{ "auxData": { "test_aux_data": { "jwt": { "answer": 42 } } } }"#),
];
