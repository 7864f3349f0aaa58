//! The answers for JavaScript: the JSON of `wardgate compile --json`, as plain values.

use serde::Serialize;
use serde_bytes::ByteBuf;
use wardgate_compiler::diagnostics::{Diagnostic, Severity};
use wardgate_compiler::source::Position;

/// The answer of a compilation.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Answer {
    /// The bundle, if no diagnostic is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bundle: Option<ByteBuf>,
    /// The module of accessors for the bundle, if the options request it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accessors: Option<String>,
    /// The declarations of the types for TypeScript, if the options request them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) types: Option<String>,
    pub(crate) diagnostics: Vec<JsDiagnostic>,
}

/// The answer of a test run.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct TestAnswer {
    /// The results as JSON, if the policies compile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) results: Option<String>,
    /// The results as JUnit XML, if the options request them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) junit: Option<String>,
    pub(crate) diagnostics: Vec<JsDiagnostic>,
}

/// The answer of the formatter.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct FormatAnswer {
    /// The text of the file as it should be, if it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The extent of the layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'static str>,
    pub(crate) diagnostics: Vec<JsDiagnostic>,
}

/// A diagnostic in the form of JavaScript.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct JsDiagnostic {
    severity: &'static str,
    code: &'static str,
    /// The address of the section that explains the code.
    page: String,
    message: String,
    file: String,
    /// All of it as text, with the line and a caret.
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<End>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct End {
    line: u32,
    column: u32,
}

impl Answer {
    /// Makes an answer of diagnostics alone, without a bundle.
    pub(crate) fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        let diagnostics = diagnostics.into_iter().map(JsDiagnostic::from).collect();
        Self { diagnostics, ..Self::default() }
    }
}

impl From<Diagnostic> for JsDiagnostic {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: diagnostic.code.name(),
            page: diagnostic.code.page(),
            text: diagnostic.to_string(),
            line: diagnostic.position.map(|position| position.line),
            column: diagnostic.position.map(|position| position.column),
            end: diagnostic.end().map(|Position { line, column }| End { line, column }),
            message: diagnostic.message,
            file: diagnostic.file,
            path: Some(diagnostic.path).filter(|path| !path.is_empty()),
            found: diagnostic.found,
            expected: diagnostic.expected,
        }
    }
}
