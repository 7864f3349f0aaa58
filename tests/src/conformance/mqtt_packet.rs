//! Suite `mqtt-packet`: the test file of an npm package, whose cases the package `wardgate` runs in Node.
//!
//! The file is a program, so that it is not among the corpora; whoever wants to run it puts it there.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use super::{Case, Failure, Outcome, text};
use crate::program::root;

/// Runs the file in Node and reads what became of its cases.
///
/// # Errors
/// If Node or the built package is missing, or the file cannot be run.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let known = deviations()?;
    let script = root().join("tests/node/mqtt-packet.mjs");
    let ran = Command::new("node").arg(script).arg(corpora.join(FILE)).output();
    let ran = ran.map_err(|error| format!("cannot run node: {error}"))?;
    if !ran.status.success() {
        return Err(format!("node: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    let lines = String::from_utf8_lossy(&ran.stdout).into_owned();
    lines.lines().map(|line| case(line, &known)).collect()
}

fn case(line: &str, known: &[(String, String)]) -> Result<Case, String> {
    let one: Json = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
    let name = one.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    let reason = known.iter().find(|(title, _)| name.ends_with(title.as_str()));
    let reason = reason.map(|(_, reason)| reason.clone());
    Ok(Case::new(name, move || outcome(&one, reason.as_deref())))
}

/// Returns the outcome; a known deviation must go on deviating.
fn outcome(one: &Json, reason: Option<&str>) -> Outcome {
    if let Some(skipped) = one.get("skipped").and_then(Json::as_str) {
        return Outcome::Skipped(skipped.to_owned());
    }
    let word = |failure: &Json, name: &str| {
        failure.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
    };
    match (one.get("failure"), reason) {
        (None, None) => Outcome::Passed,
        (None, Some(reason)) => Outcome::failed(format!("a deviation: {reason}"), "it passes"),
        (Some(_), Some(reason)) => Outcome::Skipped(reason.to_owned()),
        (Some(failure), None) => {
            Outcome::Failed(Failure::new(word(failure, "expected"), word(failure, "found")))
        }
    }
}

/// Returns the end of the name of each case that differs by intention, and the reason.
fn deviations() -> Result<Vec<(String, String)>, String> {
    let lines = text(&root().join("tests/node/mqtt-packet.deviations.txt"))?;
    let lines = lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once(": ").ok_or(line));
    let parts = parts.map(|parts| parts.map(|(name, reason)| (name.to_owned(), reason.to_owned())));
    parts.collect::<Result<_, _>>().map_err(|line| format!("no reason: {line}"))
}

/// The test file among the corpora.
pub const FILE: &str = "mqtt-packet/test.js";
