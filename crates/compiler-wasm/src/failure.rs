//! Failures that are no diagnostics: impossible options and faults of the compiler itself.

use serde::Serialize;

/// Why there is no answer: `[kind, message, code]`, as the runtime module says it.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Failure(pub(crate) &'static str, pub(crate) String, &'static str);

impl Failure {
    /// A value of the right kind that is not possible.
    pub(crate) fn range(message: String) -> Self {
        Self("range", message, "")
    }

    /// A fault of the compiler itself.
    pub(crate) fn internal(message: String) -> Self {
        Self("refused", message, "internal")
    }
}
