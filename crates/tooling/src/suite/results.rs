//! The results of suites: one for every action of every test, and the sums.
//!
//! The worst result of a suite is that of the suite: an error is worse than a failure, a failure is
//! worse than success, and a skipped test is no result at all.

mod json;
mod junit;
mod only_with;

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::{Effect, Output};

use super::files::Stage;
pub use only_with::OnlyWith;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::source::Location;

/// The results of all suites, in the order of their paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The suites.
    pub suites: Vec<SuiteResult>,
}

/// The result of one suite.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteResult {
    /// The path of its file.
    pub file: String,
    /// Its name; nothing if it could not be read.
    pub name: Option<String>,
    /// The subject.
    pub description: String,
    /// The outcome.
    pub outcome: SuiteOutcome,
}

/// The outcome of a suite.
#[derive(Clone, Debug, PartialEq)]
pub enum SuiteOutcome {
    /// It cannot be run, for these reasons.
    Broken(Stage, Vec<Diagnostic>),
    /// Its `skip` is set; holds the reason.
    Skipped(String),
    /// It was run.
    Ran(Vec<CaseResult>),
}

/// The result of one action of one test. The cases of a table, then those of a principal, then
/// those of a resource are adjacent.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseResult {
    /// The name of the table.
    pub table: String,
    /// The name of the principal's fixture.
    pub principal: String,
    /// The name of the resource's fixture.
    pub resource: String,
    /// The action.
    pub action: String,
    /// The location of the expectation; that of the table, if it has none.
    pub location: Location,
    /// True if the table has an expectation. If not, the action should be denied.
    pub has_expectation: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// The options that it needs to pass, if that depends on the options of the caller.
    pub only_with: Option<OnlyWith>,
}

/// The outcome of one action of one test.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was left out.
    Skipped(Skip),
    /// The decision is as expected.
    Passed(Effect, Vec<Output>),
    /// It is not.
    Failed(Box<Failure>),
    /// It could not be decided.
    Errored(String),
}

/// The reason for a skipped test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Its table is skipped; holds the reason.
    Author(String),
    /// The pattern of names that was given.
    Name,
    /// A policy that was left out on purpose.
    ExcludedResource,
    /// A policy that was left out on purpose.
    ExcludedPrincipal,
    /// The caller's filter; holds the part of the test that does not fit it.
    Filter(Dimension),
}

/// A part of a test that a filter can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// The name of the suite.
    Suite,
    /// The name of the table.
    Test,
    /// The name of the principal.
    Principal,
    /// The name of the resource.
    Resource,
    /// The action.
    Action,
}

/// A decision that is not as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The effect that was expected.
    pub expected: Effect,
    /// The effect that the decision has.
    pub actual: Effect,
    /// Key of the policy that decided.
    pub policy: String,
    /// Outputs that are not as expected, by rule; none are looked at where the effect is not.
    pub outputs: Vec<OutputFailure>,
    /// The outputs that the rules gave.
    pub given: Vec<Output>,
}

/// An output that is not as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFailure {
    /// The rule that it comes from.
    pub source: String,
    /// The expected value; no output meets an entry without one.
    pub expected: Option<Attr>,
    /// The actual output.
    pub found: ActualOutput,
    /// The location of the expectation.
    pub location: Location,
}

/// The actual output of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum ActualOutput {
    /// Another value.
    Value(Attr),
    /// No output of this rule.
    Nothing,
    /// An output whose expression failed.
    Error(String),
}

/// The result of a test, a suite or a run, from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// An empty run.
    #[default]
    Empty,
    /// Everything was left out.
    Skipped,
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// Not to be run.
    Errored,
}

/// The sums of a suite or a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The worst of all.
    pub overall: Verdict,
    /// Expected decisions, left out or not; those that a filter left out do not count.
    pub tests: usize,
    /// Those that were left out.
    pub skipped: usize,
    /// Those that are as expected.
    pub passed: usize,
    /// Those that are not.
    pub failed: usize,
    /// Those that could not be made.
    pub errored: usize,
}

impl Results {
    /// Returns the sums over all suites.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let sums = self.suites.iter().map(SuiteResult::summary);
        sums.fold(Summary::default(), |sum, one| Summary {
            overall: sum.overall.max(one.overall),
            tests: sum.tests.saturating_add(one.tests),
            skipped: sum.skipped.saturating_add(one.skipped),
            passed: sum.passed.saturating_add(one.passed),
            failed: sum.failed.saturating_add(one.failed),
            errored: sum.errored.saturating_add(one.errored),
        })
    }
}

impl SuiteResult {
    /// Returns the result of each test; none if the suite was not run.
    #[must_use]
    pub fn cases(&self) -> &[CaseResult] {
        match &self.outcome {
            SuiteOutcome::Ran(cases) => cases,
            SuiteOutcome::Broken(..) | SuiteOutcome::Skipped(_) => &[],
        }
    }

    /// Returns the sums of this suite.
    #[must_use]
    pub fn summary(&self) -> Summary {
        match &self.outcome {
            SuiteOutcome::Broken(..) => Summary { overall: Verdict::Errored, ..Summary::default() },
            SuiteOutcome::Skipped(_) => Summary { overall: Verdict::Skipped, ..Summary::default() },
            SuiteOutcome::Ran(cases) => cases.iter().fold(Summary::default(), Summary::with),
        }
    }
}

impl Summary {
    fn with(self, case: &CaseResult) -> Self {
        let verdict = case.outcome.verdict();
        let overall = self.overall.max(verdict);
        if matches!(case.outcome, Outcome::Skipped(Skip::Filter(_))) {
            return Self { overall, ..self };
        }
        let mut sum = Self { overall, tests: self.tests.saturating_add(1), ..self };
        let count = match verdict {
            Verdict::Empty | Verdict::Skipped => &mut sum.skipped,
            Verdict::Passed => &mut sum.passed,
            Verdict::Failed => &mut sum.failed,
            Verdict::Errored => &mut sum.errored,
        };
        *count = count.saturating_add(1);
        sum
    }
}

impl Outcome {
    /// Returns how the case ended.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        match self {
            Self::Skipped(_) => Verdict::Skipped,
            Self::Passed(..) => Verdict::Passed,
            Self::Failed(_) => Verdict::Failed,
            Self::Errored(_) => Verdict::Errored,
        }
    }
}

impl Skip {
    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Author(reason) => reason,
            Self::Name => "the name does not match the pattern",
            Self::ExcludedResource => "the policy of the resource is left out",
            Self::ExcludedPrincipal => "the policy of the principal is left out",
            Self::Filter(Dimension::Suite) => "the suite does not match the filter",
            Self::Filter(Dimension::Test) => "the test does not match the filter",
            Self::Filter(Dimension::Principal) => "the principal does not match the filter",
            Self::Filter(Dimension::Resource) => "the resource does not match the filter",
            Self::Filter(Dimension::Action) => "the action does not match the filter",
        }
    }
}

impl Verdict {
    /// Returns the word that the JSON and the XML of Cerbos have for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Empty => "RESULT_UNSPECIFIED",
            Self::Skipped => "RESULT_SKIPPED",
            Self::Passed => "RESULT_PASSED",
            Self::Failed => "RESULT_FAILED",
            Self::Errored => "RESULT_ERRORED",
        }
    }
}

/// Returns the word that suites have for an effect.
#[must_use]
pub const fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "EFFECT_ALLOW",
        Effect::Deny => "EFFECT_DENY",
    }
}
