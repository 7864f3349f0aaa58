//! Findings as SARIF 2.1.0, the format in which code hosts and editors take them.
//!
//! Paths are relative to the directory of the policies, as URIs. Columns count characters.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use wardgate_compiler::diagnostics::Diagnostic;

use crate::answer::present;
use crate::compile::severity;
use crate::sarif::{self, uri};

/// Returns the report of one run.
pub(super) fn report(found: &[Diagnostic]) -> Json {
    let rules: BTreeSet<&str> = found.iter().map(|one| one.code.name()).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    sarif::report(&rules, found.iter().map(result).collect(), Some("unicodeCodePoints"))
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
