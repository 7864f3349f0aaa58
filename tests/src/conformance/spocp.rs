//! Suite `spocp`: the examples of draft-hedberg-spocp-sexp-00, and any file of the same shape.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_spocp::{Expression, Normal};

use super::vectors::{items, json};
use super::{Case, Failure, files, stem};

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in files(&corpora.join("spocp"), "json")? {
        let file = json(&path)?;
        for (section, run) in SECTIONS {
            for (at, test) in items(&file, section).iter().enumerate() {
                let name = format!("{}/{section}/{at}", stem(&path));
                let test = test.clone();
                cases.push(Case::new(name, move || run(&test).into()));
            }
        }
    }
    Ok(cases)
}

type Run = fn(&Json) -> Result<(), Failure>;

const SECTIONS: [(&str, Run); 3] = [
    ("less_or_equal", less_or_equal),
    ("validity", validity),
    ("canonical_vs_advanced", both_forms),
];

fn less_or_equal(test: &Json) -> Result<(), Failure> {
    let normal = |key| read(test, key).map(Normal::new);
    let found = normal("query")?.is_at_most(&normal("rule")?);
    same(&flag(test, "match")?, &found)
}

fn validity(test: &Json) -> Result<(), Failure> {
    let found = Expression::from_advanced(member(test, "sexp")?.as_bytes());
    same(&flag(test, "valid")?, &found.is_ok())
}

fn both_forms(test: &Json) -> Result<(), Failure> {
    let (canonical, advanced) = (member(test, "canonical")?, member(test, "advanced")?);
    let from = Expression::from_canonical(canonical.as_bytes()).map_err(unreadable)?;
    same(advanced, &*String::from_utf8_lossy(&from.to_advanced()))?;
    let from = read(test, "advanced")?;
    same(canonical, &*String::from_utf8_lossy(&from.to_canonical()))
}

fn read(test: &Json, key: &str) -> Result<Expression, Failure> {
    Expression::from_advanced(member(test, key)?.as_bytes()).map_err(unreadable)
}

fn member<'t>(test: &'t Json, key: &str) -> Result<&'t str, Failure> {
    test.get(key).and_then(Json::as_str).ok_or_else(|| missing(key))
}

fn flag(test: &Json, key: &str) -> Result<bool, Failure> {
    test.get(key).and_then(Json::as_bool).ok_or_else(|| missing(key))
}

fn missing(key: &str) -> Failure {
    Failure::new(format!("a test with `{key}`"), "none")
}

fn unreadable(error: wardgate_spocp::Error) -> Failure {
    Failure::new("an expression", error)
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(expected: &T, found: &T) -> Result<(), Failure> {
    Failure::unless_equal(expected, found, |value| format!("{value:?}"))
}
