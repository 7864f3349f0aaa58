//! Suite `cerbos-lib`: every function that Cerbos adds to CEL.
//!
//! Each expression must be true, or fail where the corpus expects it.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use super::vectors::{json, word};
use super::{Case, Outcome};
use crate::expression;

/// Reads the cases.
///
/// # Errors
/// If the file is missing or is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let path = corpora.join("cerbos/cerbos_lib_exprs.json");
    let file = json(&path)?;
    let cases = file.get("cases").and_then(Json::as_array).ok_or("no `cases`")?;
    Ok(cases.iter().map(case).collect())
}

fn case(json: &Json) -> Case {
    let text = word(json, "expr").to_owned();
    let wants_error = json.get("wantErr").and_then(Json::as_bool).unwrap_or_default();
    Case::new(text.clone(), move || {
        let now = Timestamp::new(NOW_SECONDS, 0).unwrap_or_default();
        match (expression::in_policy(&text, &Request::default(), now), wants_error) {
            (Ok(found), false) if found.to_string() == "true" => Outcome::Passed,
            (Err(_), true) => Outcome::Passed,
            (found, _) => {
                let expected = if wants_error { "an error" } else { "true" };
                let found = found.map_or_else(|error| error, |found| found.to_string());
                Outcome::failed(expected, found)
            }
        }
    })
}

/// 2026-01-01T00:00:00Z: any time after 2021-05-01, which one expression needs to be long past.
const NOW_SECONDS: i64 = 1_767_225_600;
