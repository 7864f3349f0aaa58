//! The settings of a test over the options of the caller.

use super::model::Settings;
use wardgate_compiler::emit::Options;

impl Settings {
    /// Returns the options for the policies of a test: those without a setting are as in `base`.
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
