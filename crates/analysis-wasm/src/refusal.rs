//! The reasons for which a call has no answer.

use serde_json::{Value as Json, json};
use wardgate_compiler::diagnostics::{Diagnostic, Severity};
use wardgate_compiler::source::Position;

/// The reason of a call without an answer.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The policies or the draft have errors, never none.
    Diagnostics(Vec<Diagnostic>),
    /// The policies of one side of a comparison have errors.
    Sides([Vec<Diagnostic>; 2]),
    /// A value of the right kind is not possible.
    Range(String),
    /// The message is not one that the package writes.
    Malformed,
}

impl Refusal {
    /// Returns the result of the call, and its answer.
    pub(crate) fn written(&self) -> (i32, String) {
        match self {
            Self::Diagnostics(all) => (DIAGNOSTICS, list(all).to_string()),
            Self::Sides([old, new]) => {
                (DIAGNOSTICS, json!({ "old": list(old), "new": list(new) }).to_string())
            }
            Self::Range(message) => (RANGE, message.clone()),
            Self::Malformed => (MALFORMED, String::new()),
        }
    }
}

fn list(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(diagnostic).collect()
}

/// Returns a diagnostic in the form of `wardgate/compiler`.
fn diagnostic(diagnostic: &Diagnostic) -> Json {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let end = |Position { line, column }| json!({ "line": line, "column": column });
    let mut members = json!({
        "severity": severity,
        "code": diagnostic.code.name(),
        "page": diagnostic.code.page(),
        "message": diagnostic.message,
        "file": diagnostic.file,
        "text": diagnostic.to_string(),
        "line": diagnostic.position.map(|position| position.line),
        "column": diagnostic.position.map(|position| position.column),
        "end": diagnostic.end().map(end),
        "path": Some(&diagnostic.path).filter(|path| !path.is_empty()),
        "found": diagnostic.found,
        "expected": diagnostic.expected,
    });
    if let Json::Object(members) = &mut members {
        members.retain(|_, value| !value.is_null());
    }
    members
}

/// The results of calls without an answer.
const DIAGNOSTICS: i32 = 1;
const RANGE: i32 = 2;
const MALFORMED: i32 = 3;
