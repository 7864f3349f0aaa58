//! A topic filter that owns its text.

use alloc::string::String;
use core::fmt;

use super::Filter;

/// A valid topic filter with its own text, and without a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnedFilter(String);

impl OwnedFilter {
    /// Makes a filter of the text of one that was checked before.
    pub(crate) const fn of_checked(text: String) -> Self {
        Self(text)
    }

    /// Returns the filter.
    #[must_use]
    pub const fn filter(&self) -> Filter<'_> {
        Filter::of_checked(self.0.as_str())
    }

    /// Returns the text.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

/// Copies the filter, without a group.
impl From<Filter<'_>> for OwnedFilter {
    fn from(filter: Filter<'_>) -> Self {
        Self(filter.text().into())
    }
}

impl fmt::Display for OwnedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
