//! Coverage: the rules, conditions and derived roles of a directory that its tests exercise.
//!
//! The engine itself reports every expression that it evaluates in a decision: an expression that
//! logic skipped is not exercised. Nothing is cut, however long a decision takes.

mod counting;
pub mod html;
mod items;
pub mod json;
pub mod lcov;
mod suites;
mod summary;
pub mod text;

use std::sync::Arc;

use wardgate_compiler::policy::model::Condition;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::source::{Position, SourceFile};

pub use counting::Counting;
pub use suites::Watching;
pub use summary::{Gap, Share, Summary};

/// The policies of a directory, and how often each part of them was exercised.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// In the order of their files, and within a file as written.
    pub policies: Vec<PolicyCoverage>,
}

/// One policy.
#[derive(Clone, Debug)]
pub struct PolicyCoverage {
    /// Its key, such as `resource.album.vdefault/acme`.
    pub key: String,
    /// The kind of policy: `resource`, `principal`, `role` or `derived roles`.
    pub kind: &'static str,
    /// The file that holds it.
    pub source: Arc<SourceFile>,
    /// Its start.
    pub position: Position,
    /// Its rules, in order.
    pub rules: Vec<RuleCoverage>,
    /// The derived roles that it defines, in order.
    pub derived_roles: Vec<RoleCoverage>,
    /// The sets of derived roles that it imports, by their keys.
    imports: Vec<String>,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct RuleCoverage {
    /// Its name; its number in the policy where it has none.
    pub name: String,
    /// Its start.
    pub position: Position,
    /// The times it applied; for a rule of a role policy, the times its condition was met.
    pub applied: u64,
    /// The times it was a candidate and did not apply.
    pub not_applied: u64,
    /// The failed evaluations of its condition.
    pub failed: u64,
    /// The expressions of its condition, in order.
    pub expressions: Vec<ExpressionCoverage>,
    condition: Option<Condition>,
}

/// One derived role.
#[derive(Clone, Debug)]
pub struct RoleCoverage {
    /// Its name.
    pub name: String,
    /// The start of its definition.
    pub position: Position,
    /// The times it was granted.
    pub granted: u64,
    /// The times it was not granted.
    pub not_granted: u64,
    /// The failed evaluations of its condition.
    pub failed: u64,
    /// True if every principal has it: any role will do, and there is no condition.
    pub is_for_all: bool,
    /// The expressions of its condition, in order.
    pub expressions: Vec<ExpressionCoverage>,
    condition: Option<Condition>,
}

/// One expression of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionCoverage {
    /// As it is written.
    pub text: Arc<str>,
    /// Its start.
    pub start: Position,
    /// Its end.
    pub end: Position,
    /// The number of times that it was true.
    pub times_true: u64,
    /// The number of times that it was false.
    pub times_false: u64,
    /// The number of failed evaluations.
    pub failed: u64,
}

impl Coverage {
    /// Lists the parts of the policies in use that tests can exercise.
    #[must_use]
    pub fn new(repository: &Repository) -> Self {
        Self { policies: repository.policies.iter().filter_map(items::policy).collect() }
    }

    /// Returns the policies of each file, in order.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&SourceFile, &[PolicyCoverage])> {
        let same = |a: &PolicyCoverage, b: &PolicyCoverage| a.source.path == b.source.path;
        self.policies
            .chunk_by(same)
            .filter_map(|policies| Some((&*policies.first()?.source, policies)))
    }
}

impl RuleCoverage {
    /// Returns how often it was a candidate.
    #[must_use]
    pub const fn considered(&self) -> u64 {
        self.applied + self.not_applied + self.failed
    }
}

impl RoleCoverage {
    /// Returns the number of times that a principal could have gained it.
    #[must_use]
    pub const fn considered(&self) -> u64 {
        self.granted + self.not_granted + self.failed
    }
}

impl ExpressionCoverage {
    /// Returns how often it was evaluated.
    #[must_use]
    pub const fn evaluated(&self) -> u64 {
        self.times_true + self.times_false + self.failed
    }
}

/// The kind of policies whose rules may name derived roles.
const RESOURCE: &str = "resource";
