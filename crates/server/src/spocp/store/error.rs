//! Why rules that change cannot be opened, read or kept.

use std::fmt;
use std::io;

/// What went wrong with the file of changes.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has the file open.
    Locked,
    /// The file cannot be read.
    Read(io::Error),
    /// The file cannot be written.
    Write(io::Error),
    /// The file is none of ours.
    Foreign,
    /// Something in the file is not as it was written.
    Damaged {
        /// The byte at which the damaged frame begins.
        offset: u64,
    },
    /// The file holds a rule that cannot be read.
    Rule(wardgate_spocp::Error),
    /// Two rules have the same id.
    SameId,
    /// There are more rules than a set takes.
    TooMany(wardgate_spocp::Refused),
    /// An earlier failure could not be undone.
    Broken,
    /// The base rules cannot be read.
    Base(String),
    /// The server ends.
    Closed,
}

impl StoreError {
    /// Returns what programs tell errors apart by.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Locked => "store-locked",
            Self::Read(_) => "store-read",
            Self::Write(_) => "store-write",
            Self::Foreign => "store-foreign",
            Self::Damaged { .. } => "store-damaged",
            Self::Rule(_) => "store-rule",
            Self::SameId => "store-same-id",
            Self::TooMany(_) => "store-too-many",
            Self::Broken => "store-broken",
            Self::Base(_) => "store-base",
            Self::Closed => "store-closed",
        }
    }
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked => out.write_str("another process has the file of changes open"),
            Self::Read(error) => write!(out, "the file of changes cannot be read: {error}"),
            Self::Write(error) => write!(out, "the file of changes cannot be written: {error}"),
            Self::Foreign => out.write_str("this is no file of changes: expected `wardgate-rules` and version 1"),
            Self::Damaged { offset } => write!(
                out,
                "the file of changes is damaged at byte {offset}: what stands there was on the disk and is not as it was written"
            ),
            Self::Rule(error) => write!(out, "the file of changes holds a rule that cannot be read: {error}"),
            Self::SameId => out.write_str("two rules have the same id, although they are not the same"),
            Self::TooMany(refused) => refused.fmt(out),
            Self::Broken => {
                out.write_str("an earlier write failed and could not be undone: changes are refused until the next start")
            }
            Self::Base(text) => out.write_str(text),
            Self::Closed => out.write_str("the server ends"),
        }
    }
}
