//! Compares the tree of results with the one that Cerbos has.

use serde_json::{Map, Value as Json};
use wardgate_tooling::suite::Results;
use wardgate_tooling::suite::results::{Dimension, Skip, SuiteOutcome};

use super::errors;
use crate::conformance::Failure;

/// Compares results with the expected ones.
pub(super) fn compare(golden: &str, results: &Results) -> Result<(), Failure> {
    let unreadable = |error: serde_json::Error| Failure::new("results as JSON", error);
    let wanted: Json = serde_json::from_str(golden).map_err(unreadable)?;
    let found: Json = serde_json::from_str(&results.json()).map_err(unreadable)?;
    for (suite, wanted) in results.suites.iter().zip(suites(&wanted)) {
        if let (SuiteOutcome::Broken(stage, found), Some(Json::String(error))) =
            (&suite.outcome, wanted.get("error"))
        {
            errors::compare(error, *stage, found)?;
        }
    }
    let (wanted, found) = (plain(&wanted), plain(&found));
    let pretty = |json: &Json| serde_json::to_string_pretty(json).unwrap_or_default();
    Failure::unless_equal(&wanted, &found, pretty)
}

fn suites(results: &Json) -> impl Iterator<Item = &Json> {
    results.get("suites").and_then(Json::as_array).into_iter().flatten()
}

/// Leaves out the members that only this project writes, and brings sentences and sets into one
/// form.
fn plain(json: &Json) -> Json {
    match json {
        Json::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| !OURS.contains(&name.as_str()));
            Json::Object(fields.map(|(name, value)| field(name, value)).collect::<Map<_, _>>())
        }
        Json::Array(items) => Json::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}

fn field(name: &str, value: &Json) -> (String, Json) {
    let value = match (name, value) {
        ("error", Json::String(_)) => Json::String("an error".to_owned()),
        ("skipReason", Json::String(reason)) => Json::String(own_words(reason)),
        ("outputs", Json::Array(outputs)) => {
            let mut outputs: Vec<Json> = outputs.iter().map(plain).collect();
            outputs.sort_by_key(|output| output.get("src").map(ToString::to_string));
            Json::Array(outputs)
        }
        _ => plain(value),
    };
    (name.to_owned(), value)
}

/// Returns the words of this project for a `reason` of Cerbos.
fn own_words(reason: &str) -> String {
    let skip = match reason {
        "Test name did not match the provided pattern" => Skip::Name,
        "Resource matched a policy that was excluded from the bundle" => Skip::ExcludedResource,
        "Principal matched a policy that was excluded from the bundle" => Skip::ExcludedPrincipal,
        "Suite did not match the test filter" => Skip::Filter(Dimension::Suite),
        "Test did not match the test filter" => Skip::Filter(Dimension::Test),
        "Principal did not match the test filter" => Skip::Filter(Dimension::Principal),
        "Resource did not match the test filter" => Skip::Filter(Dimension::Resource),
        "No actions matched the test filter" => Skip::Filter(Dimension::Action),
        other => return other.to_owned(),
    };
    skip.reason().to_owned()
}

/// The members of results that Cerbos does not have.
const OURS: &[&str] = &["line", "column", "policy", "diagnostics", "passesOnlyWith"];
