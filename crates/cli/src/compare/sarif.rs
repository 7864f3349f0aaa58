//! A comparison as SARIF 2.1.0, with the rules that decide after the change, or before it where none does.

use serde_json::{Value as Json, json};
use wardgate_analysis::compare::{Change, Comparison, Decided, Group};
use wardgate_analysis::report;

use super::{decision, table};
use crate::answer::present;
use crate::sarif::{self, uri};

/// Returns the report of one run.
pub(super) fn report(found: &Comparison) -> Json {
    let differences = found.groups();
    let differences = differences.iter().map(difference);
    let unknown = found.unknown_groups();
    let unknown = unknown.iter().map(|group| {
        let text = format!(
            "{}: {}, {}",
            table::unknown_title(group),
            table::may(group),
            group.why.words()
        );
        self::unknown(&text)
    });
    let results: Vec<Json> = differences.chain(unknown).collect();
    framed(results)
}

fn difference(group: &Group<'_>) -> Json {
    let witness = group.witness;
    let request = report::request(&witness.request).to_string();
    changed(group.change, &table::title(group), [&witness.old, &witness.new], &request)
}

/// Returns the result about decisions that changed, with a request that shows it.
pub(crate) fn changed(
    change: Change,
    title: &str,
    [old, new]: [&Decided; 2],
    request: &str,
) -> Json {
    let (rule_id, level) = match change {
        Change::More => (MORE, "error"),
        Change::Less => (LESS, "warning"),
    };
    let [was, is] = [old, new].map(|decided| decision(decided, std::path::Path::new("")));
    let text = format!("{title}: was {was}; is {is}; for {request}");
    let rule = new.rule.as_ref().or(old.rule.as_ref());
    let location = rule.filter(|rule| !rule.file.is_empty()).map(|rule| {
        json!([{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&rule.file) },
            "region": { "startLine": rule.line },
        } }])
    });
    present(json!({
        "ruleId": rule_id,
        "level": level,
        "message": { "text": text },
        "locations": location,
    }))
}

/// Returns the result about what is unknown.
pub(crate) fn unknown(text: &str) -> Json {
    json!({ "ruleId": UNKNOWN, "level": "warning", "message": { "text": text } })
}

/// Returns the report of one run.
pub(crate) fn framed(results: Vec<Json>) -> Json {
    sarif::report(&[MORE, LESS, UNKNOWN], results, None)
}

const MORE: &str = "more-access";
const LESS: &str = "less-access";
const UNKNOWN: &str = "unknown-access";
