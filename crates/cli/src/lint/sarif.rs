//! Findings as SARIF 2.1.0, the format in which code hosts and editors take them.
//!
//! Paths are relative to the directory of the policies, as URIs. Columns count characters.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use wardgate_compiler::diagnostics::Diagnostic;

use crate::answer::present;
use crate::compile::severity;

/// Returns the report of one run.
pub(super) fn report(found: &[Diagnostic]) -> Json {
    let rules: BTreeSet<&str> = found.iter().map(|one| one.code.name()).collect();
    let rules: Vec<Json> = rules.into_iter().map(|id| json!({ "id": id })).collect();
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "wardgate", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": found.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(found: &Diagnostic) -> Json {
    let region = found.position.zip(found.end()).map(|(start, end)| {
        json!({
            "startLine": start.line, "startColumn": start.column,
            "endLine": end.line, "endColumn": end.column,
        })
    });
    let location =
        present(json!({ "artifactLocation": { "uri": uri(&found.file) }, "region": region }));
    json!({
        "ruleId": found.code.name(),
        "level": severity(found),
        "message": { "text": found.message },
        "locations": [{ "physicalLocation": location }],
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
