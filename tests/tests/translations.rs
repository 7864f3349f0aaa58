//! The page of translations: every policy on it compiles, and decides as its table says.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;

const PAGE: &str = include_str!("../../docs/mqtt-translations.md");

#[test]
fn every_example_decides_as_its_table_says() {
    let examples: Vec<&str> = PAGE.split("\n### ").skip(1).collect();
    assert_eq!(examples.len(), 6);
    let mut rows = 0;
    for example in examples {
        let title = example.lines().next().unwrap();
        let table = Compiled::of_texts(&[("a.yaml", policy(example))]).unwrap().table;
        for row in table_rows(example) {
            let expected = row["decision"] == "allow";
            assert_eq!(decide(&table, &row), expected, "{title}: {row:?}");
            rows += 1;
        }
    }
    assert_eq!(rows, 40);
}

/// Returns the YAML of an example.
fn policy(example: &str) -> &str {
    let (_, rest) = example.split_once("```yaml\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// Returns the rows of the table of an example, by the names of their columns.
fn table_rows(example: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = example.lines().filter(|line| line.starts_with('|')).map(cells);
    let names = lines.next().unwrap();
    lines.skip(1).map(|row| names.iter().copied().zip(row).collect()).collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect()
}

fn decide(table: &PolicyTable, row: &BTreeMap<&str, &str>) -> bool {
    let (user, action, text) = (row["user"], row["action"], row["topic or filter"]);
    let is_filter = matches!(action, "subscribe" | "unsubscribe");
    let topic = if is_filter { json!({ "filter": text }) } else { json!(text) };
    let role = if user == "anonymous" { "anonymous" } else { "client" };
    let value = |name: &str, default: Json| {
        row.get(name).map_or(default, |text| serde_json::from_str(text).unwrap())
    };
    let request = json!({
        "principal": {
            "id": user,
            "roles": [role],
            "attr": {
                "clientId": row["client id"],
                "address": row.get("address").copied().unwrap_or("192.0.2.1"),
            },
        },
        "resource": {
            "kind": "mqtt:topic",
            "id": text,
            "attr": {
                "topic": topic,
                "qos": value("qos", json!(0)),
                "retain": value("retain", json!(false)),
            },
        },
    });
    table.is_allowed(&check::request(&request).unwrap(), action, Timestamp::new(0, 0).unwrap())
}
