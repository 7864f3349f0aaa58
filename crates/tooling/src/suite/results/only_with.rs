//! Tests whose result depends on options of the caller.

use super::Results;

/// The options without which a test does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnlyWith {
    /// An error in a condition denies.
    Strict,
    /// A condition that fails counts as false.
    Lenient,
    /// Attributes that do not fit their schema deny.
    Schemas,
    /// A condition that fails counts as false, and attributes that do not fit their schema deny.
    LenientAndSchemas,
}

impl OnlyWith {
    /// Every choice of options, in the order of reports.
    pub const ALL: [Self; 4] =
        [Self::Strict, Self::Lenient, Self::Schemas, Self::LenientAndSchemas];

    /// Returns the options of the command.
    #[must_use]
    pub const fn options(self) -> &'static str {
        match self {
            Self::Strict => "--evaluation strict",
            Self::Lenient => "--evaluation lenient",
            Self::Schemas => "--schema-enforcement reject",
            Self::LenientAndSchemas => "--evaluation lenient --schema-enforcement reject",
        }
    }
}

impl Results {
    /// Returns how many tests pass under some options only.
    #[must_use]
    pub fn only_with(&self, options: OnlyWith) -> usize {
        let cases = self.suites.iter().flat_map(|suite| suite.cases());
        cases.filter(|case| case.only_with == Some(options)).count()
    }
}
