//! A comparison as SARIF 2.1.0, with the rules that decide after the change, or before it where none does.

use serde_json::{Value as Json, json};
use wardgate_analysis::compare::{Change, Comparison, Group};
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
        json!({ "ruleId": UNKNOWN, "level": "warning", "message": { "text": text } })
    });
    let results: Vec<Json> = differences.chain(unknown).collect();
    sarif::report(&[MORE, LESS, UNKNOWN], results, None)
}

fn difference(group: &Group<'_>) -> Json {
    let witness = group.witness;
    let (rule_id, level) = match group.change {
        Change::More => (MORE, "error"),
        Change::Less => (LESS, "warning"),
    };
    let [old, new] =
        [&witness.old, &witness.new].map(|decided| decision(decided, std::path::Path::new("")));
    let request = report::request(&witness.request);
    let text = format!("{}: was {old}; is {new}; for {request}", table::title(group));
    let rule = witness.new.rule.as_ref().or(witness.old.rule.as_ref());
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

const MORE: &str = "more-access";
const LESS: &str = "less-access";
const UNKNOWN: &str = "unknown-access";
