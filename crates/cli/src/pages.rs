//! The pages that explain codes: each has a section, whose anchor is the code.

use wardgate_bundle::OpenError;
use wardgate_compiler::diagnostics::{DOCUMENTS, Diagnostic};

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
    format!("{diagnostic}\n  see {}", diagnostic.code.page())
}

fn section(page: &str, code: &str) -> String {
    format!("{DOCUMENTS}{page}#{code}")
}
