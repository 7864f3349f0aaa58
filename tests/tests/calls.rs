//! Calls answered from their text, compared with calls answered from all of their content: the same
//! bytes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};
use wardgate_bundle::pack;
use wardgate_compiler::compile_files;
use wardgate_server::Bodies;
use wardgate_tests::generate::{World, world};
use wardgate_tests::http::bodies;
use wardgate_tests::items::items;

/// The number of calls, and of those answered from their text.
#[derive(Default)]
struct Tally {
    calls: usize,
    short: usize,
}

#[test]
fn generated_calls_are_answered_as_by_the_full_reader() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[23; 32]);
    let runs = Runs { cases: 160, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(runs, rng);
    let fragments = items(FRAGMENTS);
    let spice = proptest::collection::vec((0..PLACES.len(), 0..fragments.len()), 8);
    let tally = std::cell::RefCell::new(Tally::default());
    let checked = runner.run(&(world(12), spice, 0..4), |(world, spice, kind)| {
        let world = if kind == 0 { world } else { plain(world) };
        // A plain world may define something twice, which is refused.
        let Some(bodies) = serving(&world) else { return Ok(()) };
        let mut tally = tally.borrow_mut();
        for (at, calls) in [1, 3].iter().flat_map(|size| world.requests.chunks(*size)).enumerate() {
            let (place, fragment) = spice[at % spice.len()];
            let (place, fragment) = (PLACES[place], fragments[fragment]);
            for (path, body) in [
                ("/api/check/resources", call(calls)),
                ("/access/v1/evaluation", evaluation(&calls[0])),
            ] {
                let text = body.to_string();
                let spiced = text.replacen(place, &format!("{place}{fragment},"), 1);
                let spaced = serde_json::to_string_pretty(&body).unwrap();
                for text in [spiced, escaped(&text), spaced, text] {
                    tally.compare(&bodies, path, &text)?;
                }
            }
        }
        Ok(())
    });
    checked.unwrap();
    let Tally { calls, short } = tally.into_inner();
    println!("{calls} calls, {short} of them answered from their text");
    assert!(short * 20 > calls, "too few calls are answered from their text: {short} of {calls}");
}

impl Tally {
    fn compare(&mut self, bodies: &Bodies, path: &str, text: &str) -> Result<(), TestCaseError> {
        let text = text.as_bytes();
        self.calls += 1;
        self.short += usize::from(bodies.is_fast(path, text));
        let (found, whole) = (bodies.answer(path, text), bodies.answer_full(path, text));
        prop_assert_eq!(found, whole, "{}", text.escape_ascii());
        Ok(())
    }
}

/// Takes away the parts of decisions beside effects, and unusual names that no call may have.
fn plain(mut world: World) -> World {
    if let Some(options) = world.options.as_object_mut() {
        options.insert("schemas".to_owned(), "none".into());
    }
    world.policies.iter_mut().for_each(|(_, document)| without_outputs(document));
    for request in &mut world.requests {
        for list in ["/principal/roles", "/actions"] {
            let Some(Json::Array(names)) = request.pointer_mut(list) else { continue };
            names.retain(|name| name != "");
            names.sort_by_key(Json::to_string);
            names.dedup();
        }
    }
    world.plain()
}

fn without_outputs(document: &mut Json) {
    match document {
        Json::Object(members) => {
            members.remove("output");
            members.values_mut().for_each(without_outputs);
        }
        Json::Array(items) => items.iter_mut().for_each(without_outputs),
        _ => {}
    }
}

fn serving(world: &World) -> Option<Bodies> {
    let compiled = compile_files(&world.files(), &world.table_options().unwrap()).ok()?;
    let limits = "[http]\nmax-resources = 2\nmax-actions = 3\n";
    Some(bodies(pack(&compiled.parts), limits, Path::new("")).unwrap())
}

/// Returns one call about the resources of some requests.
fn call(requests: &[Json]) -> Json {
    let entry =
        |request: &Json| json!({"actions": request["actions"], "resource": request["resource"]});
    let principal = requests.first().map(|request| request["principal"].clone());
    json!({
        "requestId": requests.len().to_string(),
        "principal": principal,
        "resources": requests.iter().map(entry).collect::<Vec<_>>(),
    })
}

/// Returns one evaluation of AuthZEN. Now and then the roles are those that follow from the type of
/// the subject.
fn evaluation(request: &Json) -> Json {
    let attributes = |of: &Json| of["attr"].as_object().cloned().unwrap_or_default();
    let mut properties = attributes(&request["principal"]);
    if request["actions"][0] != "drop" {
        properties.insert("roles".to_owned(), request["principal"]["roles"].clone());
    }
    json!({
        "subject": {"type": "member", "id": request["principal"]["id"], "properties": properties},
        "action": {"name": request["actions"][0]},
        "resource": {
            "type": request["resource"]["kind"],
            "id": request["resource"]["id"],
            "properties": attributes(&request["resource"]),
        },
        "context": {"at": "home"},
    })
}

/// Returns the same text, in which one letter of each quoted text is spelled by its number.
fn escaped(text: &str) -> String {
    text.replacen("\"red\"", "\"\\u0072ed\"", 1).replacen("\"owner\"", "\"own\\u0065r\"", 1)
}

/// The texts behind which a member is added to a call.
const PLACES: [&str; 8] = [
    "{",
    "\"principal\":{",
    "\"resource\":{",
    "\"attr\":{",
    "\"resources\":[",
    "\"subject\":{",
    "\"properties\":{",
    "\"context\":{",
];

/// The added members: repeated ones, with another value, in another spelling, or unknown ones.
const FRAGMENTS: &str = r#"
    "attr":{"owner":"sam","public":true}; "attr":null; "attr":[]; "id":"other"; "id":"";
    "id":7; "kind":"album"; "roles":["member"]; "roles":[]; "scope":"acme";
    "scope":"acme..hr"; "policyVersion":"v2"; "policy_version":"v2"; "requestId":"again";
    "request_id":"again"; "includeMeta":true; "includeMeta":false; "auxData":{};
    "owner":"red"; "meta":{"a":"sam","a":2}; "unknown":1; "properties":{"roles":["boss"]};
    "roles":"boss"; "type":"editor"; "cerbos.roles":["boss"]; "cerbos.scope":"acme";
    "cerbos.includeMeta":true; {"actions":["view"],"resource":{"kind":"doc","id":"x"}}
"#;
