//! The cases of `tests/spocp`: rules, queries, and the rules that allow each. Every host answers
//! them.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use wardgate_spocp::{Normal, RuleSet, file};

use crate::conformance::{files, stem, yaml};

/// Rules, and queries to them.
#[derive(Debug)]
pub struct Case {
    /// The name of the file, without its ending.
    pub name: String,
    /// The rules in the order of their numbers.
    pub rules: RuleSet,
    /// The queries, and their expected outcomes.
    pub queries: Vec<(Vec<u8>, Expected)>,
}

/// The outcome of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// These rules allow it.
    AllowedBy(Vec<u32>),
    /// It is malformed at this byte.
    WrongAt(usize),
}

/// Reads all cases of a folder, sorted by name.
///
/// # Errors
/// If a file is no case; the message names the first of them.
pub fn load(folder: &Path) -> Result<Vec<Case>, String> {
    let read = |path: &PathBuf| {
        let case = case(stem(path), &yaml(path)?);
        case.map_err(|why| format!("{}: {why}", path.display()))
    };
    files(folder, "yaml")?.iter().map(read).collect()
}

fn case(name: String, json: &Json) -> Result<Case, String> {
    let list = |name: &str| {
        json.get(name).and_then(Json::as_array).ok_or_else(|| format!("expected `{name}`"))
    };
    let mut rules = RuleSet::new();
    for text in list("rules")? {
        let text = text.as_str().ok_or("a rule is a text")?;
        let rule = file::rule(text.as_bytes()).map_err(|error| format!("`{text}`: {error}"))?;
        let inserted = rules.insert(&rule).map_err(|error| error.to_string())?;
        if !inserted.is_new() {
            return Err(format!("`{text}` is there twice"));
        }
    }
    let queries = list("queries")?.iter().map(query).collect::<Result<_, _>>()?;
    Ok(Case { name, rules, queries })
}

fn query(json: &Json) -> Result<(Vec<u8>, Expected), String> {
    let text = json.get("query").and_then(Json::as_str).ok_or("expected `query`")?;
    let whole = |number: &Json| number.as_u64().and_then(|number| u32::try_from(number).ok());
    let numbers = |all: &Json| all.as_array()?.iter().map(whole).collect::<Option<_>>();
    let expected = match (json.get("allowedBy"), json.get("wrongAt")) {
        (Some(all), None) => numbers(all).map(Expected::AllowedBy),
        (None, Some(at)) => whole(at).map(|at| Expected::WrongAt(usize::try_from(at).unwrap_or(0))),
        _ => None,
    };
    let expected = expected.ok_or_else(|| format!("`{text}` needs `allowedBy` or `wrongAt`"))?;
    Ok((text.as_bytes().to_vec(), expected))
}

/// Returns the outcome of a query to the rules.
#[must_use]
pub fn outcome(rules: &RuleSet, query: &[u8]) -> Expected {
    match file::rule(query) {
        Err(error) => Expected::WrongAt(error.offset),
        Ok(query) => Expected::AllowedBy(rules.matches(&query).map(|rule| rule.number()).collect()),
    }
}

/// Returns everything about a query as one answer: `true` if it is allowed, the first rule that
/// allows it, the numbers of all of them, and those rules in both forms; or the code of its
/// refusal, and the reason.
#[must_use]
pub fn answer(rules: &RuleSet, query: &[u8]) -> Vec<u8> {
    match file::rule(query) {
        Err(error) => format!("malformed-query {} {error}", error.offset).into_bytes(),
        Ok(query) => allowed(rules, &query),
    }
}

fn allowed(rules: &RuleSet, query: &Normal) -> Vec<u8> {
    let numbers: Vec<_> = rules.matches(query).collect();
    let first = rules.first(query).map_or_else(|| "-".to_owned(), |first| first.to_string());
    let all: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let mut answer = format!("{} {first} {}", rules.allows(query), all.join(",")).into_bytes();
    for rule in numbers.iter().filter_map(|number| rules.rule(*number)) {
        for form in [rule.expression().to_advanced(), rule.expression().to_canonical()] {
            answer.push(b' ');
            answer.extend(form);
        }
    }
    answer
}
