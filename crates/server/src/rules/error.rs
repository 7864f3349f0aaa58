//! Reasons why rules that change cannot be opened, read or changed.

use std::fmt;

use crate::journal::error::JournalError;

/// A value, or the failure of the set of rules.
pub(super) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A failure of the set of rules or of its journal of changes.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The journal of changes cannot be used.
    Journal(JournalError),
    /// The file holds a rule that cannot be read.
    Rule(wardgate_spocp::Error),
    /// Two rules have the same id.
    SameId,
    /// There are more rules than a set takes.
    TooMany(wardgate_spocp::Refused),
    /// The base rules cannot be read.
    Base(String),
    /// The server ends.
    Closed,
}

impl StoreError {
    /// Returns the code by which programs tell failures apart.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Journal(error) => error.code(),
            Self::Rule(_) => "store-rule",
            Self::SameId => "store-same-id",
            Self::TooMany(_) => "store-too-many",
            Self::Base(_) => "store-base",
            Self::Closed => "store-closed",
        }
    }
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal(error) => error.fmt(out),
            Self::Rule(error) => {
                write!(out, "the journal of changes holds a rule that cannot be read: {error}")
            }
            Self::SameId => {
                out.write_str("two rules have the same id, although they are not the same")
            }
            Self::TooMany(refused) => refused.fmt(out),
            Self::Base(text) => out.write_str(text),
            Self::Closed => out.write_str("the server ends"),
        }
    }
}

impl From<JournalError> for StoreError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}
