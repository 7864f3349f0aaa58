//! The pages that explain codes: each has a section, whose anchor is the code.

use wardgate_bundle::OpenError;
use wardgate_compiler::diagnostics::{Code, Diagnostic};

/// Returns the section of a code of a diagnostic.
pub(crate) fn of_code(code: Code) -> String {
    match code {
        Code::Lint(lint) => section("lints.md", lint.name()),
        code => section("errors.md", code.name()),
    }
}

/// Returns the section of a refusal of a bundle.
pub(crate) fn of_refusal(error: &OpenError) -> String {
    section("BUNDLE.md", error.code())
}

/// Returns the section of a code of the server or of a decision log.
pub(crate) fn of_server(code: &str) -> String {
    section("server.md", code)
}

/// Returns a diagnostic with the page that explains it.
pub(crate) fn explained(diagnostic: &Diagnostic) -> String {
    format!("{diagnostic}\n  see {}", of_code(diagnostic.code))
}

fn section(page: &str, code: &str) -> String {
    format!("{DOCUMENTS}{page}#{code}")
}

/// The address of the documents. They are published nowhere yet, so it is their path in the
/// repository; a release that publishes them sets it.
const DOCUMENTS: &str = "docs/";
