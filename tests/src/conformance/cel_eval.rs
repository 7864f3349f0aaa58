//! Suite `cerbos-cel-eval`: conditions over a request, as trees of `all`, `any` and `none`.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use super::{Case, Outcome, files, stem, yaml};
use crate::{check, expression};

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not YAML.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    files(&corpora.join("cerbos/testdata/cel_eval"), "yaml")?
        .iter()
        .map(|path| {
            let test = yaml(path)?;
            Ok(Case::new(stem(path), move || run(&test)))
        })
        .collect()
}

fn run(test: &Json) -> Outcome {
    let flag = |key: &str| test.get(key).and_then(Json::as_bool).unwrap_or_default();
    let request =
        match check::request(&check::normalised(test.get("request").unwrap_or(&Json::Null))) {
            Ok(request) => request,
            Err(error) => return Outcome::failed("a request that can be read", error),
        };
    let found = satisfied(test.get("condition").unwrap_or(&Json::Null), &request, 0);
    match (found, flag("wantError")) {
        (Err(_), true) => Outcome::Passed,
        (Ok(found), false) if found == flag("want") => Outcome::Passed,
        (found, true) => Outcome::failed("an error", format!("{found:?}")),
        (found, false) => Outcome::failed(
            flag("want"),
            found.map_or_else(|error| error, |found| found.to_string()),
        ),
    }
}

/// Returns true if `condition` holds. The corpus is lenient: an expression that fails is false.
fn satisfied(condition: &Json, request: &Request, depth: usize) -> Result<bool, String> {
    if depth > MAX_DEPTH {
        return Err("a condition that nests too deep".to_owned());
    }
    if let Some(text) = condition.get("expr").and_then(Json::as_str) {
        let now = Timestamp::new(NOW_SECONDS, NOW_NANOS).unwrap_or_default();
        return expression::holds(text, request, now);
    }
    let branches = |key: &str| condition.get(key)?.get("of")?.as_array();
    let (decisive, of) = match (branches("all"), branches("any"), branches("none")) {
        (Some(of), None, None) => (false, of),
        (None, Some(of), None) | (None, None, Some(of)) => (true, of),
        _ => return Err(format!("not a condition: {condition}")),
    };
    for branch in of {
        if satisfied(branch, request, depth + 1)? == decisive {
            return Ok(condition.get("any").is_some());
        }
    }
    Ok(condition.get("any").is_none())
}

/// 2021-04-22T10:05:20.021-05:00, the time for which the corpus has its answers.
const NOW_SECONDS: i64 = 1_619_103_920;
const NOW_NANOS: u32 = 21_000_000;

/// Deeper than any case; the walk is recursive.
const MAX_DEPTH: usize = 64;
