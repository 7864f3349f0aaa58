//! Failures that end the command early, and their exit codes.
//!
//! A message is one clear sentence on standard error. Diagnostics of policies are many, and go to
//! the stream that the user chose.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::output::InOneLine;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::reading;

/// The result of the command. The help promises the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    BadPolicies,
    BadUsage,
    BadRequest,
    BadInputOutput,
    Disagreement,
    FailedTests,
    BrokenSuites,
    Unformatted,
    LowCoverage,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Done => 0,
            Status::BadPolicies => 1,
            Status::BadUsage => 2,
            Status::BadRequest => 3,
            Status::BadInputOutput => 4,
            Status::Disagreement => 5,
            Status::FailedTests => 6,
            Status::BrokenSuites => 7,
            Status::Unformatted => 8,
            Status::LowCoverage => 9,
        })
    }
}

/// A failure that ends the command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The policies do not compile.
    Diagnostics(Vec<Diagnostic>),
    /// One sentence, and how the command ends.
    Message(Status, String),
    /// The reader of the output has closed it.
    ReaderGone,
}

impl Failure {
    pub(crate) fn policies(message: impl Into<String>) -> Self {
        Self::Message(Status::BadPolicies, message.into())
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Message(Status::BadUsage, message.into())
    }

    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::Message(Status::BadRequest, message.into())
    }

    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        let message = format!("cannot read `{}`: {}", path.in_one_line(), reason(error));
        Self::Message(Status::BadInputOutput, message)
    }

    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        let message = format!("cannot write `{}`: {}", path.display(), reason(error));
        Self::Message(Status::BadInputOutput, message)
    }

    /// A failure to write to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ReaderGone;
        }
        let message = format!("cannot write to standard output: {}", reason(error));
        Self::Message(Status::BadInputOutput, message)
    }
}

/// Returns the words of the system without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => reading::reason(error),
    }
}
