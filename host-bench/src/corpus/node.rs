//! The requests of a folder, decided in Node: see `node/corpus.mjs`.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;

use super::folder::{Folder, Inquiry, NOW_SECONDS};
use super::ways::{Counts, FAST_PATH, GENERAL_PATH, Way, Ways};
use crate::measure::Figure;
use crate::node;

/// The answer of a process.
pub(crate) struct Found {
    pub(crate) figures: Vec<Figure>,
    /// The ways of the decisions of suites and of generated requests.
    pub(crate) ways: [Vec<Way>; 2],
    /// The same requests by the way of `check`.
    pub(crate) checks: [Counts; 2],
}

/// Compares and times in a fresh process.
pub(crate) fn figures(
    root: &Path,
    folder: &Folder,
    ways: &Ways<'_>,
    native: &[Vec<Way>; 2],
    quick: bool,
) -> Result<Found, String> {
    let sets = [&folder.suites, &folder.generated];
    let job = json!({
        "bundle": STANDARD.encode(&folder.bundle),
        "now": NOW_SECONDS * 1000,
        "sets": sets.map(|inquiries| set(inquiries, ways)),
        "programs": native.iter().map(|ways| programs(ways)).collect::<Json>(),
        "quick": quick,
    });
    let answer = node::ask(root, "corpus.mjs", &[], &job)
        .map_err(|error| format!("{}: {error}", folder.name))?;
    let truths = |name: &str, number: usize| -> Vec<bool> {
        let found = answer.pointer(&format!("/{name}/{number}")).and_then(Json::as_array);
        found.into_iter().flatten().map(|truth| truth == &Json::Bool(true)).collect()
    };
    let way_of = |number: usize, inquiries: &[Inquiry], natively: &[Way]| -> Vec<Way> {
        let decisions = inquiries.iter().flat_map(Inquiry::decisions);
        let all = decisions.zip(natively).zip(truths("fast", number));
        all.map(|(((request, action, _), natively), fast)| {
            ways.in_node(request, action, *natively, fast)
        })
        .collect()
    };
    let [of_suites, of_generated] = native;
    let name = |is_fast| if is_fast { FAST_PATH } else { GENERAL_PATH };
    let checks = |number| truths("checks", number).into_iter().map(name).collect();
    Ok(Found {
        figures: node::figures(&answer, "rows")?,
        ways: [way_of(0, &folder.suites, of_suites), way_of(1, &folder.generated, of_generated)],
        checks: [checks(0), checks(1)],
    })
}

/// Returns true for each decision whose fast path may run programs.
fn programs(ways: &[Way]) -> Json {
    ways.iter().map(|way| Json::Bool(*way == Way::Programs)).collect()
}

fn set(inquiries: &[Inquiry], ways: &Ways<'_>) -> Json {
    let inquiry = |one: &Inquiry| {
        let time = one.decisions().map(|(request, action, _)| ways.reads_time(request, action));
        let readings: Json = time.map(Json::Bool).collect();
        json!({ "request": handed_in(&one.request), "expected": one.expected, "readsTime": readings })
    };
    inquiries.iter().map(inquiry).collect()
}

/// Returns a request about one action, as hosts hand it in.
pub(crate) fn about(request: &Request, action: &str) -> Json {
    let mut json = handed_in(request);
    if let Some(members) = json.as_object_mut() {
        members.remove("actions");
        members.insert("action".to_owned(), Json::from(action));
    }
    json
}

/// Returns a request as hosts hand it in: what is empty is left out.
fn handed_in(request: &Request) -> Json {
    let Request { principal, resource, actions, aux_data, .. } = request;
    let principal = [
        ("id", json!(principal.id)),
        ("roles", json!(principal.roles)),
        ("attr", attributes(&principal.attr)),
        ("policyVersion", json!(principal.policy_version)),
        ("scope", json!(principal.scope)),
    ];
    let resource = [
        ("kind", json!(resource.kind)),
        ("id", json!(resource.id)),
        ("attr", attributes(&resource.attr)),
        ("policyVersion", json!(resource.policy_version)),
        ("scope", json!(resource.scope)),
    ];
    let aux_data = [("jwt", attributes(&aux_data.jwt)), ("jwts", attributes(&aux_data.jwts))];
    members([
        ("principal", members(principal)),
        ("resource", members(resource)),
        ("actions", json!(actions)),
        ("auxData", members(aux_data)),
    ])
}

/// Returns an object of the members that are not empty; every request has the required ones.
fn members<const N: usize>(all: [(&str, Json); N]) -> Json {
    let is_needed = |(name, value): &(&str, Json)| {
        let is_empty = match value {
            Json::String(text) => text.is_empty(),
            Json::Object(members) => members.is_empty(),
            _ => false,
        };
        !is_empty || REQUIRED.contains(name)
    };
    let found: Map<String, Json> =
        all.into_iter().filter(is_needed).map(|(name, value)| (name.to_owned(), value)).collect();
    Json::Object(found)
}

fn attributes(attributes: &AttrMap) -> Json {
    attributes.entries().iter().map(|(name, value)| (name.to_string(), json_of(value))).collect()
}

fn json_of(value: &Attr) -> Json {
    match value {
        Attr::Null => Json::Null,
        Attr::Bool(value) => json!(value),
        Attr::Number(value) => json!(value),
        Attr::String(value) => json!(value),
        Attr::List(items) => items.iter().map(json_of).collect(),
        Attr::Map(map) => attributes(map),
    }
}

const REQUIRED: &[&str] = &["id", "kind"];
