//! What the settings of a test make of the options of the caller.

use super::model::Settings;
use wardgate_compiler::emit::Options;

impl Settings {
    /// Returns the options that the policies of a test are compiled with: what the test does not say is as
    /// in `base`.
    #[must_use]
    pub fn over(&self, base: &Options) -> Options {
        let mut options = base.clone();
        options.evaluation = self.evaluation.unwrap_or(options.evaluation);
        options.lenient_scope_search |= self.lenient_scope_search;
        if !self.globals.is_empty() {
            options.globals.clone_from(&self.globals);
        }
        if !self.default_version.is_empty() {
            options.default_version.clone_from(&self.default_version);
        }
        options
    }
}
