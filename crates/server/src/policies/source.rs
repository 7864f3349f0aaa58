//! Where bundles come from.
//!
//! A source hands over bytes and vouches for nothing: who signed them is looked at when they are opened.

mod file;
mod url;

use std::fmt;

pub use file::FileSource;
pub use url::UrlSource;

/// A place where policies are, looked at from time to time, on a thread that may wait.
pub trait Source: Send {
    /// Looks for a bundle. A source that knows that nothing has changed since it was last asked says so,
    /// unless it is asked to look `anyway`.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    fn look(&mut self, anyway: bool) -> Result<Lookup, SourceError>;

    /// What an operator calls this place.
    fn name(&self) -> String;
}

/// What a look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The bytes of a bundle.
    Bundle(Vec<u8>),
    /// What is there is what was there.
    Unchanged,
}

/// Why there is no bundle, in words for the operator.
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
