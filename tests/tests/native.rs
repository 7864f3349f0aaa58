//! Every form of a request that the native host takes, compared with the general path.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use wardgate_bundle::{Trust, pack};
use wardgate_compiler::compile_files;
use wardgate_engine::cel::Timestamp;
use wardgate_native::{Pdp, PrincipalRef, Question, ResourceRef, Snapshot};
use wardgate_tests::generate::{World, world};
use wardgate_tests::{cases, check, property};

#[test]
fn every_form_of_a_generated_request_has_the_same_answer() {
    let compared = Cell::new(0_u32);
    property::run([384, 20_000], &world(6), |world| {
        let now = World::now().map_err(TestCaseError::fail)?;
        let policies = opened(&world.compiled()?.bundle);
        for request in &world.requests {
            compared.set(compared.get() + compare(&policies, request, now)?);
        }
        Ok(())
    });
    assert!(compared.get() > 1000, "only {} decisions", compared.get());
}

#[test]
fn every_form_of_the_cases_has_the_same_answer() {
    let mut compared = 0;
    for case in cases::all().unwrap() {
        let Ok(compiled) = compile_files(&case.files, &case.options) else { continue };
        let policies = opened(&pack(&compiled.parts));
        for check in &case.checks {
            let answers = compare(&policies, &check.json, case.now);
            compared += answers.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
    }
    assert!(compared > 500, "only {compared} decisions");
}

fn opened(bundle: &[u8]) -> Snapshot {
    Pdp::open(bundle, Trust::Unsigned).unwrap().snapshot()
}

/// Decides on each action in every form; returns the number of compared answers.
fn compare(policies: &Snapshot, json: &Json, now: Timestamp) -> Result<u32, TestCaseError> {
    let request = check::request(json).map_err(TestCaseError::fail)?;
    let mut compared = 0;
    for action in &request.actions {
        let expected = policies.table().is_allowed(&request, action, now);
        let found = policies.is_allowed(&request, action, now);
        prop_assert_eq!(found, expected, "request: {} {}", action, json);
        let document = document(json, action);
        let value = policies.is_allowed_value(&document, now);
        prop_assert_eq!(value, Ok(expected), "value: {}", document);
        for text in [
            document.to_string(),
            spelt(&document, Style::Backwards),
            spelt(&document, Style::Escaped),
        ] {
            let found = policies.is_allowed_json(text.as_bytes(), now);
            prop_assert_eq!(found, Ok(expected), "text: {}", text);
            compared += 1;
        }
        if json.get("auxData").is_none() {
            let found = by_fields(policies, json, action, now);
            prop_assert_eq!(found, expected, "fields: {} {}", action, json);
        }
        compared += 2;
    }
    Ok(compared)
}

/// Returns the request about one action.
fn document(json: &Json, action: &str) -> Json {
    let mut document = json.clone();
    let members = document.as_object_mut().unwrap();
    members.retain(|name, _| ["principal", "resource", "auxData", "requestId"].contains(&&**name));
    members.insert("action".to_owned(), action.into());
    for (party, name, absent) in [
        ("principal", "id", json!("")),
        ("principal", "roles", json!([])),
        ("resource", "id", json!("")),
        ("resource", "kind", json!("")),
    ] {
        let party = members.entry(party).or_insert_with(|| json!({})).as_object_mut().unwrap();
        party.entry(name).or_insert(absent);
    }
    document
}

/// Decides on one action by fields, with attributes as pairs and as a map.
fn by_fields(policies: &Snapshot, json: &Json, action: &str, now: Timestamp) -> bool {
    let request = check::request(json).unwrap();
    let (principal, resource) = (&request.principal, &request.resource);
    let attributes =
        |party: &str| json.pointer(&format!("/{party}/attr")).and_then(Json::as_object).cloned();
    let pairs: Vec<(String, Json)> = attributes("principal").into_iter().flatten().collect();
    let map: Map<String, Json> = attributes("resource").unwrap_or_default();
    let question = Question {
        principal: PrincipalRef {
            policy_version: &principal.policy_version,
            scope: &principal.scope,
            ..PrincipalRef::new(&principal.id, &principal.roles, &pairs)
        },
        action,
        resource: ResourceRef {
            policy_version: &resource.policy_version,
            scope: &resource.scope,
            ..ResourceRef::new(&resource.kind, &resource.id, &map)
        },
    };
    policies.is_allowed_fields(&question, now)
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Members in the other order, with white space.
    Backwards,
    /// Every letter as an escape.
    Escaped,
}

fn spelt(json: &Json, style: Style) -> String {
    let text = |text: &str| match style {
        Style::Backwards => Json::from(text).to_string(),
        Style::Escaped => {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
            format!("\"{}\"", units.collect::<String>())
        }
    };
    match json {
        Json::String(content) => text(content),
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| spelt(item, style)).collect();
            format!("[ {}]", items.join(" ,"))
        }
        Json::Object(members) => {
            let member = |(name, value): (&String, &Json)| {
                format!("\n{} : {}", text(name), spelt(value, style))
            };
            let members: Vec<_> = members.iter().rev().map(member).collect();
            format!("{{\t{} }}", members.join(","))
        }
        scalar => scalar.to_string(),
    }
}
