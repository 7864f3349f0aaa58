//! The reader of suites and fixtures: the compiler's reader of fields, with the fields of tests.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::policy::parse::reader::Reader;
use wardgate_compiler::source::SourceFile;

/// Reads the fields of one file of tests; `parse` and `fixtures` hold its methods.
pub(super) struct SuiteReader<'a>(Reader<'a>);

impl<'a> SuiteReader<'a> {
    pub(super) fn new(file: &'a Arc<SourceFile>) -> Self {
        Self(Reader::new(file))
    }

    /// Returns the errors that were found; see [`Reader::findings`].
    pub(super) fn findings(self, is_disabled: bool) -> Vec<Diagnostic> {
        self.0.findings(is_disabled)
    }
}

impl<'a> Deref for SuiteReader<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        &self.0
    }
}

impl DerefMut for SuiteReader<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
