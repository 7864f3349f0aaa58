//! What all reports as SARIF 2.1.0 have in common.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use crate::answer::present;

/// Returns the report of one run with the names of its rules. `columns` says what columns count, if the results have some.
pub(crate) fn report(rules: &[&str], results: Vec<Json>, columns: Option<&str>) -> Json {
    let rules: Vec<Json> = rules.iter().map(|id| json!({ "id": id })).collect();
    let version = env!("CARGO_PKG_VERSION");
    let run = present(json!({
        "tool": { "driver": { "name": "wardgate", "version": version, "rules": rules } },
        "columnKind": columns,
        "results": results,
    }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    })
}

/// Returns a relative path as a URI.
pub(crate) fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_become_uris() {
        let check = |path, expected| assert_eq!(super::uri(path), expected);
        check("a/b-1_c.yaml", "a/b-1_c.yaml");
        check("a b/é#.yaml", "a%20b/%C3%A9%23.yaml");
    }
}
