//! Suite `mqtt`: topic names and filters that are valid or not, and whether they match.
//!
//! Each answer is asked for in every way that there is: of the filter itself, of a set that holds it, and of
//! what it covers.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_mqtt::{Cover, Filter, Filters, Name, cover};

use super::vectors::{self, items, json, same, settled, word};
use super::{Case, Outcome};

/// Reads the cases.
///
/// # Errors
/// If the folder is missing or a file is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in vectors::files(&corpora.join("mqtt"))? {
        let (title, file) = (vectors::title(&path), json(&path)?);
        for (list, run) in LISTS {
            cases.extend(items(&file, list).iter().enumerate().map(|(number, one)| {
                let one = one.clone();
                Case::new(format!("{title}/{list}/{number}"), move || run(&one))
            }));
        }
    }
    Ok(cases)
}

type Run = fn(&Json) -> Outcome;

const LISTS: [(&str, Run); 4] = [
    ("match", matches),
    ("publish_topic_validity", name),
    ("subscribe_filter_validity", filter),
    ("invalid_filters", |one| same(&false, &Filter::new(one.as_str().unwrap_or_default()).is_ok())),
];

fn matches(one: &Json) -> Outcome {
    let is_valid = one.get("valid").and_then(Json::as_bool).unwrap_or(true);
    let is_match = one.get("match").and_then(Json::as_bool);
    let (filter, name) = (Filter::new(word(one, "filter")), Name::new(word(one, "topic")));
    let (Ok(filter), Ok(name)) = (filter, name) else {
        return same(&is_valid, &false);
    };
    let expected =
        is_match.filter(|_| is_valid).ok_or_else(|| "not valid, or no `match`".to_owned());
    settled(expected.map(|expected| same(&[expected; 3], &answers(filter, name))))
}

/// Asks the filter, a set, and what the filter covers of the name alone.
fn answers(filter: Filter<'_>, name: Name<'_>) -> [bool; 3] {
    let mut set = Filters::new();
    let mut is_found = false;
    if set.insert(filter, ()).is_ok() {
        set.matches(name, &mut |()| is_found = true);
    }
    let alone = Filter::new(name.text());
    let is_covered = alone.is_ok_and(|alone| cover(alone, &[filter]) == Cover::All);
    [filter.matches(name), is_found, is_covered]
}

fn name(one: &Json) -> Outcome {
    same(&is_success(one), &Name::new(word(one, "topic")).is_ok())
}

fn filter(one: &Json) -> Outcome {
    same(&is_success(one), &Filter::new(word(one, "filter")).is_ok())
}

fn is_success(one: &Json) -> bool {
    word(one, "rc") == "MOSQ_ERR_SUCCESS"
}
