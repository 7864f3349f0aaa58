//! The table: a line for each runtime, a column for each suite.

use serde_json::Value;

use super::{Row, SUITES};
use crate::shell::seconds;

/// Prints the table. A column shows the number of right answers and, if there are any, that of
/// wrong ones.
pub(super) fn print(rows: &[Row]) {
    let suites: String = SUITES.iter().map(|suite| format!("{suite:>12}")).collect();
    println!("\n    {:<24}{suites}{:>12}{:>9}  digest of all decisions", "runtime", "ways", "time");
    for row in rows {
        println!("    {:<24}{}", row.name, cells(row));
    }
    println!();
}

fn cells(row: &Row) -> String {
    let Ok(report) = &row.outcome else { return format!("{:>12}", "FAILED") };
    let suites = SUITES.iter().map(|suite| count(report.pointer(&format!("/suites/{suite}"))));
    let counts: String = suites.chain([count(report.get("ways"))]).collect();
    let digest = report.get("digest").and_then(Value::as_str).unwrap_or_default();
    format!("{counts}{:>9}  {digest}", seconds(row.time))
}

fn count(suite: Option<&Value>) -> String {
    let number = |name| suite.and_then(|suite| suite.get(name)).and_then(Value::as_u64);
    let cell = match (number("passed"), number("failed")) {
        (Some(passed), Some(0)) => passed.to_string(),
        (Some(passed), Some(failed)) => format!("{passed}, -{failed}"),
        _ => "-".to_owned(),
    };
    format!("{cell:>12}")
}

/// Returns the list under `name`.
pub(super) fn list<'a>(report: &'a Value, name: &str) -> &'a [Value] {
    report.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
