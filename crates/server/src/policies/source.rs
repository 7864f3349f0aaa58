//! Sources of bundles.
//!
//! A source provides bytes and vouches for nothing: their signatures are verified when they are
//! opened.

mod file;
mod url;

use std::fmt;

pub use file::FileSource;
pub use url::UrlSource;

/// A place where policies are, looked at from time to time, on a thread that may wait.
pub trait Source: Send {
    /// Looks for a bundle. A source that knows of no change since the last look returns
    /// [`Lookup::Unchanged`], unless it looks `anyway`.
    ///
    /// # Errors
    /// There is no bundle, or it cannot be read.
    fn look(&mut self, anyway: bool) -> Result<Lookup, SourceError>;

    /// Returns the name of the source for the operator.
    fn name(&self) -> String;
}

/// The result of a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The bytes of a bundle.
    Bundle(Vec<u8>),
    /// The bundle is the last one.
    Unchanged,
}

/// The reason for a missing bundle, in words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError(String);

impl SourceError {
    /// Takes one sentence, or several lines.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SourceError {}
