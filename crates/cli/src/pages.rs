//! Where an error code is documented: the address of its section for programs, and for people the command that prints it.

use wardgate_bundle::OpenError;
use wardgate_compiler::diagnostics::{DOCUMENTS, Diagnostic};

/// Returns the section of a refusal of a bundle.
pub(crate) fn of_refusal(error: &OpenError) -> String {
    format!("{DOCUMENTS}BUNDLE.md#{}", error.code())
}

/// Returns a diagnostic with the command that explains it.
pub(crate) fn explained(diagnostic: &Diagnostic) -> String {
    format!("{diagnostic}\n  help: wardgate help {}", diagnostic.code.name())
}

/// Returns a sentence with the command that explains its code.
pub(crate) fn with_help(sentence: &str, code: &str) -> String {
    format!("{sentence}; see `wardgate help {code}`")
}
