//! Reasons why a journal cannot be opened, read or written.

use std::fmt;
use std::io;

/// A value, or the failure of a journal.
pub(crate) type Result<T, E = JournalError> = std::result::Result<T, E>;

/// A failure of a journal.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process has the file open.
    Locked,
    /// The file cannot be read.
    Read(io::Error),
    /// The file cannot be written.
    Write(io::Error),
    /// The file is no journal of this format and version.
    Foreign,
    /// Bytes of the file differ from the bytes that were written.
    Damaged {
        /// The byte at which the damaged frame begins.
        offset: u64,
    },
    /// An earlier failure could not be undone.
    Broken,
}

impl JournalError {
    /// Returns the code by which programs tell failures apart.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Locked => "store-locked",
            Self::Read(_) => "store-read",
            Self::Write(_) => "store-write",
            Self::Foreign => "store-foreign",
            Self::Damaged { .. } => "store-damaged",
            Self::Broken => "store-broken",
        }
    }
}

impl std::error::Error for JournalError {}

impl fmt::Display for JournalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked => out.write_str("another process has the journal of changes open"),
            Self::Read(error) => write!(out, "the journal of changes cannot be read: {error}"),
            Self::Write(error) => write!(out, "the journal of changes cannot be written: {error}"),
            Self::Foreign => out.write_str(
                "this is not a journal of changes: expected `wardgate-rules` and version 1",
            ),
            Self::Damaged { offset } => write!(
                out,
                "the journal of changes is damaged at byte {offset}: bytes that were on the disk have changed"
            ),
            Self::Broken => out.write_str(
                "an earlier write failed and could not be undone: changes are refused until the next start",
            ),
        }
    }
}
