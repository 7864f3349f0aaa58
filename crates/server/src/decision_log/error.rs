//! Reasons why a decision log cannot be opened, read, written or believed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::reason;
use crate::journal::error::JournalError;

pub(super) type Result<T, E = LogError> = std::result::Result<T, E>;

/// A failure of a decision log.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogError {
    /// Another process writes the log.
    InUse(PathBuf),
    /// The lock of this process was deleted or replaced, so another one may write the log.
    LockLost(PathBuf),
    /// The folder has a log of another origin or key, or none.
    Foreign(String),
    /// A file cannot be read.
    Read(PathBuf, io::Error),
    /// A file cannot be written.
    Write(PathBuf, io::Error),
    /// A file is not as it was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first wrong byte, or the beginning of the frame that has it.
        offset: u64,
        /// The fault.
        what: String,
    },
    /// The newest checkpoint is about more frames than there are.
    Truncated {
        /// The frames of the checkpoint.
        sealed: u64,
        /// The frames that were found.
        found: u64,
    },
    /// The checkpoint is not signed by the key of the log, or is about other frames.
    Checkpoint(String),
    /// There is no such record, or nothing that proves it.
    Missing(String),
    /// After a failure of the disk the log does not go on yet.
    Broken,
    /// The disk is full, and has no room for the reserve of the log yet.
    Full,
}

impl LogError {
    /// Returns the code by which programs tell failures apart.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InUse(_) => "log-in-use",
            Self::LockLost(_) => "log-lock-lost",
            Self::Foreign(_) => "log-foreign",
            Self::Read(..) => "log-read",
            Self::Write(..) => "log-write",
            Self::Damaged { .. } => "log-damaged",
            Self::Truncated { .. } => "log-truncated",
            Self::Checkpoint(_) => "log-checkpoint",
            Self::Missing(_) => "log-missing",
            Self::Broken => "log-broken",
            Self::Full => "log-full",
        }
    }

    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self::Read(path.to_owned(), error)
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self::Write(path.to_owned(), error)
    }

    /// Returns the failure of a segment.
    pub(super) fn segment(path: &Path) -> impl FnOnce(JournalError) -> Self {
        |error| match error {
            JournalError::Locked => Self::InUse(path.to_owned()),
            JournalError::Read(error) => Self::Read(path.to_owned(), error),
            JournalError::Write(error) => Self::Write(path.to_owned(), error),
            JournalError::Foreign => Self::damaged(path, 0, "it is no segment of a decision log"),
            JournalError::Damaged { offset } => {
                Self::damaged(path, offset, "bytes that were on the disk have changed")
            }
            JournalError::Broken => Self::Broken,
        }
    }

    pub(super) fn damaged(path: &Path, offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), offset, what: what.into() }
    }
}

impl std::error::Error for LogError {}

impl fmt::Display for LogError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(path) => {
                write!(out, "another process writes the decision log in `{}`", path.display())
            }
            Self::LockLost(path) => write!(
                out,
                "`{}` was deleted or replaced: another process may write the decision log, so this one does not",
                path.display()
            ),
            Self::Foreign(what) | Self::Missing(what) => out.write_str(what),
            Self::Read(path, error) => {
                write!(out, "cannot read `{}`: {}", path.display(), reason(error))
            }
            Self::Write(path, error) => {
                write!(out, "cannot write `{}`: {}", path.display(), reason(error))
            }
            Self::Damaged { path, offset, what } => {
                write!(out, "`{}` is damaged at byte {offset}: {what}", path.display())
            }
            Self::Truncated { sealed, found } => write!(
                out,
                "the end of the decision log is missing: its checkpoint is about {sealed} frames, and {found} were found; `wardgate log accept-loss` lets it go on without the others"
            ),
            Self::Checkpoint(what) => write!(out, "the checkpoint of the decision log: {what}"),
            Self::Broken => out.write_str(
                "the disk has failed, and a new segment of the decision log cannot be written yet",
            ),
            Self::Full => out.write_str(
                "the disk is full: the decision log is written again once there is room for its reserve",
            ),
        }
    }
}
