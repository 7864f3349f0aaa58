//! Failures that are no diagnostics: impossible options and faults of the compiler itself.

use serde::Serialize;

/// The reason of a call without an answer: `[kind, message, code]`, in the form of the runtime
/// module.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Failure(pub(crate) &'static str, pub(crate) String, &'static str);

impl Failure {
    /// Makes the failure of a value of the right kind that is not possible.
    pub(crate) fn range(message: String) -> Self {
        Self("range", message, "")
    }

    /// Makes the failure of a fault of the compiler itself.
    pub(crate) fn internal(message: String) -> Self {
        Self("refused", message, "internal")
    }
}
