//! Suite `spocp`: the examples of draft-hedberg-spocp-sexp-00, and any file of the same shape.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_spocp::{Expression, Normal};

use super::{Case, Failure, files, stem, text};

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in files(&corpora.join("spocp"), "json")? {
        let file: Json = serde_json::from_str(&text(&path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        for (section, run) in SECTIONS {
            let tests = file.get(section).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            for (at, test) in tests.iter().enumerate() {
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
    Failure { expected: format!("a test with `{key}`"), found: "none".to_owned() }
}

fn unreadable(error: wardgate_spocp::Error) -> Failure {
    Failure { expected: "an expression".to_owned(), found: error.to_string() }
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(expected: &T, found: &T) -> Result<(), Failure> {
    let rendered = |value: &T| format!("{value:?}");
    if expected == found {
        return Ok(());
    }
    Err(Failure { expected: rendered(expected), found: rendered(found) })
}
