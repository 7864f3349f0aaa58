//! Suite `mosquitto-topics`: the calls of mosquitto's `topic_test.c`, read out of the source.
//!
//! Names, filters and matches are asked of `wardgate_mqtt`; what an ACL line covers, of `cover`; and what it covers
//! with `%c` and `%u` filled in, of `matchesTopic` with `{}` in their place.

use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_engine::cel::Timestamp;
use wardgate_mqtt::{Cover, Filter, Name, cover};

use super::vectors::same;
use super::{Case, Outcome, text};
use crate::{check, expression};

/// Reads the calls of the file.
///
/// # Errors
/// If it cannot be read, or has few calls.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let source = text(&corpora.join(FILE))?;
    let mut cases = Vec::new();
    let mut lines = source.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some((function, rest)) = call(line.trim()) else { continue };
        let mut arguments = arguments(rest);
        if function.starts_with("mosquitto_") {
            // The expected results are in the lines behind the call.
            arguments.retain(|argument| argument != "&match");
            let results = lines.by_ref().take(2).filter_map(|(_, line)| result(line));
            arguments.extend(results);
        }
        let name = format!("{} {function}", number + 1);
        let function = function.to_owned();
        cases.push(Case::new(name, move || run(&function, &arguments)));
    }
    if cases.len() < FEWEST { Err(format!("{} calls only", cases.len())) } else { Ok(cases) }
}

/// Returns the function of a call and what is behind its bracket; rows of a table are calls too.
fn call(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("rc = ").unwrap_or(line);
    if let Some(row) = line.strip_prefix("{\"") {
        return Some(("row", row.strip_suffix("},").map(|_| line.get(1..))??));
    }
    let (function, rest) = line.split_once('(')?;
    // The helpers themselves call with variables.
    let is_case = rest.contains('"') || rest.contains("NULL");
    let is_known = FUNCTIONS.contains(&function) && line.ends_with(';');
    (is_known && is_case).then_some((function, rest))
}

/// Returns the arguments of a call: texts without quotes, other words as they are.
fn arguments(rest: &str) -> Vec<String> {
    let (mut all, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in rest.chars() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                word.push('"');
            }
            ',' | ')' | '}' if !is_quoted => {
                all.push(std::mem::take(&mut word));
                if letter != ',' {
                    break;
                }
            }
            ' ' if !is_quoted => {}
            letter => word.push(letter),
        }
    }
    all
}

/// Returns the second argument of an assertion.
fn result(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("CU_ASSERT_EQUAL(")?;
    arguments(rest).get(1).cloned()
}

fn run(function: &str, arguments: &[String]) -> Outcome {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match (function, words.as_slice()) {
        ("match_helper", [filter, topic]) => same(&true, &matches(filter, topic)),
        ("no_match_helper", [_, filter, topic]) => same(&false, &matches(filter, topic)),
        ("pub_topic_helper", [topic, rc]) => valid(rc, Name::new(inner(topic)).is_ok(), topic),
        ("sub_topic_helper", [filter, rc]) => {
            valid(rc, Filter::new(inner(filter)).is_ok(), filter)
        }
        ("sub_match_test", [acl, filter, expected, _])
        | ("mosquitto_sub_matches_acl", [acl, filter, _, expected]) => {
            same(&(*expected == "true"), &covers(acl, filter))
        }
        ("mosquitto_topic_matches_sub", [filter, topic, _, expected]) => {
            same(&(*expected == "true"), &matches(filter, topic))
        }
        ("mosquitto_topic_matches_sub2", [filter, _, topic, _, _, expected]) => {
            same(&(*expected == "true"), &matches(filter, topic))
        }
        ("mosquitto_topic_matches_sub_with_pattern", [pattern, topic, id, user, _, expected]) => {
            filled(pattern, &json!(inner(topic)), [id, user], expected)
        }
        ("mosquitto_sub_matches_acl_with_pattern" | "row", [pattern, filter, id, user, _, expected]) => {
            filled(pattern, &json!({ "filter": inner(filter) }), [id, user], expected)
        }
        _ => Outcome::failed("a call that is known", format!("{function} {words:?}")),
    }
}

/// Compares whether a text is valid. mosquitto has a bound of 200 levels, we of 32.
fn valid(rc: &str, found: bool, text: &str) -> Outcome {
    let expected = rc == "MOSQ_ERR_SUCCESS";
    if expected == found { Outcome::Passed } else { Outcome::failed(expected, text) }
}

fn matches(filter: &str, topic: &str) -> bool {
    let (Ok(filter), Ok(name)) = (Filter::new(inner(filter)), Name::new(inner(topic))) else {
        return false;
    };
    filter.matches(name)
}

fn covers(acl: &str, asked: &str) -> bool {
    let (Ok(acl), Ok(asked)) = (Filter::new(inner(acl)), Filter::new(inner(asked))) else {
        return false;
    };
    cover(asked, &[acl]) == Cover::All
}

/// Asks a condition, whose errors are no match.
fn filled(pattern: &str, topic: &Json, [id, user]: [&str; 2], expected: &str) -> Outcome {
    let is_level = |level: &&str| !level.contains('%') || matches!(*level, "%c" | "%u");
    if !inner(pattern).split('/').all(|level| is_level(&level)) {
        return Outcome::Skipped("a part of a level is filled in, which `{}` does not do".to_owned());
    }
    let values = inner(pattern).split('/').filter_map(|level| match level {
        "%c" => Some("P.attr.clientId"),
        "%u" => Some("P.attr.userName"),
        _ => None,
    });
    let values: Vec<_> = values.collect();
    let text = json!(inner(pattern).replace("%c", "{}").replace("%u", "{}"));
    let condition = format!("R.attr.topic.matchesTopic({text}, [{}])", values.join(", "));
    let given = |word: &str| if word == "NULL" { Json::Null } else { json!(inner(word)) };
    let request = json!({
        "principal": { "id": "p", "roles": ["r"],
            "attr": { "clientId": given(id), "userName": given(user) } },
        "resource": { "kind": "mqtt:topic", "id": "t", "attr": { "topic": topic } },
    });
    let found = check::request(&request)
        .map_err(|error| format!("{error:?}"))
        .and_then(|request| expression::holds(&condition, &request, Timestamp::default()));
    let found = found.unwrap_or(false);
    same(&(expected == "true"), &found)
}

/// Returns a text without its quotes; no text is an empty one, which is as invalid.
fn inner(word: &str) -> &str {
    let text = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    text.unwrap_or_default()
}

/// The functions whose calls are cases.
const FUNCTIONS: [&str; 10] = [
    "match_helper",
    "no_match_helper",
    "pub_topic_helper",
    "sub_topic_helper",
    "sub_match_test",
    "mosquitto_topic_matches_sub",
    "mosquitto_topic_matches_sub2",
    "mosquitto_topic_matches_sub_with_pattern",
    "mosquitto_sub_matches_acl",
    "mosquitto_sub_matches_acl_with_pattern",
];

/// The fewest calls of a file that was understood.
const FEWEST: usize = 120;

/// The source among the corpora.
pub const FILE: &str = "mosquitto/topic_test.c";
