//! Failures that end the command early, and their exit codes.
//!
//! A message is one clear sentence on standard error. Diagnostics of policies are many, and go to
//! the stream that the user chose.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::output::{InOneLine, complain};
use crate::pages;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::nearest::nearest;
use wardgate_compiler::reading;

/// The result of the command. The help promises the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    BadPolicies,
    Unhealthy,
    BadUsage,
    BadRequest,
    BadInputOutput,
    Disagreement,
    FailedTests,
    BrokenSuites,
    Unformatted,
    OtherTypes,
    LowCoverage,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Done => 0,
            Status::BadPolicies | Status::Unhealthy => 1,
            Status::BadUsage => 2,
            Status::BadRequest => 3,
            Status::BadInputOutput => 4,
            Status::Disagreement => 5,
            Status::FailedTests => 6,
            Status::BrokenSuites => 7,
            Status::Unformatted | Status::OtherTypes => 8,
            Status::LowCoverage => 9,
        })
    }
}

/// A value, or the failure that ends the command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

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

    /// A failure of the system, or of a program beside this one.
    pub(crate) fn system(message: impl Into<String>) -> Self {
        Self::Message(Status::BadInputOutput, message.into())
    }

    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        let meant = match meant(path, error) {
            Some(meant) => format!("; did you mean `{}`?", meant.in_one_line()),
            None => String::new(),
        };
        Self::system(format!("cannot read `{}`: {}{meant}", path.in_one_line(), reason(error)))
    }

    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        Self::system(format!("cannot write `{}`: {}", path.display(), reason(error)))
    }

    /// A failure to write to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ReaderGone;
        }
        Self::system(format!("cannot write to standard output: {}", reason(error)))
    }

    /// Complains, and returns how the command ends. Nobody hears it if the reader has gone.
    pub(crate) fn complain(self) -> Result<Status> {
        match self {
            Self::ReaderGone => Err(self),
            Self::Message(status, message) => {
                complain(format_args!("wardgate: {message}"));
                Ok(status)
            }
            Self::Diagnostics(diagnostics) => {
                diagnostics.iter().map(pages::explained).for_each(complain);
                Ok(Status::BadPolicies)
            }
        }
    }
}

/// Returns the words of the system without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => reading::reason(error),
    }
}

/// Returns the neighbour that was meant by a path that does not exist, if one is nearly called so.
fn meant(path: &Path, error: &io::Error) -> Option<PathBuf> {
    if error.kind() != io::ErrorKind::NotFound {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let neighbours = folder.unwrap_or(Path::new(".")).read_dir().ok()?.take(MOST_NEIGHBOURS);
    let names: Vec<String> =
        neighbours.filter_map(|one| one.ok()?.file_name().into_string().ok()).collect();
    // A link to nothing is there itself.
    if names.iter().any(|known| known == name) {
        return None;
    }
    nearest(name, names.iter().map(String::as_str)).map(|near| path.with_file_name(near))
}

/// The most neighbours that are looked at.
const MOST_NEIGHBOURS: usize = 1_000;
