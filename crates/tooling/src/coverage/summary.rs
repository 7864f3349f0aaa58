//! Sums of coverage, and its gaps.
//!
//! A rule is exercised once it has applied; an expression once it was true, and once more when it
//! was false; a derived role once it was granted, and once more when it was not, unless every
//! principal has it.

use std::ops::AddAssign;

use super::{Coverage, ExpressionCoverage, PolicyCoverage, RoleCoverage, RuleCoverage};
use wardgate_compiler::source::Position;

/// The exercised share of a kind of part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The number of exercised ones.
    pub covered: u64,
    /// The number of all.
    pub all: u64,
}

/// The exercised shares of a policy, or of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rules.
    pub rules: Share,
    /// Outcomes of expressions: two for each.
    pub outcomes: Share,
    /// Outcomes of derived roles: two for each, one for those that every principal has.
    pub grants: Share,
}

/// Something that is not exercised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap<'c> {
    /// The file.
    pub file: &'c str,
    /// The position in the file.
    pub position: Position,
    /// The part, such as "rule `owners-edit`".
    pub what: String,
    /// The missing outcome, such as "never applied".
    pub missing: String,
}

impl Share {
    /// Returns the share in per cent; nothing to exercise is all of it.
    #[must_use]
    pub fn per_cent(self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * double(self.covered) / double(self.all) }
    }

    /// Returns true if the share is at least so many per cent.
    #[must_use]
    pub fn is_at_least(self, per_cent: f64) -> bool {
        100.0 * double(self.covered) >= per_cent * double(self.all)
    }

    /// Returns the share with one decimal, never rounded up: 100 % is all of it.
    #[must_use]
    pub fn text(self) -> String {
        if self.all == 0 {
            return "-".to_owned();
        }
        let tenths = u128::from(self.covered) * 1000 / u128::from(self.all);
        format!("{}.{} %", tenths / 10, tenths % 10)
    }

    fn of(outcomes: impl IntoIterator<Item = bool>) -> Self {
        let mut share = Self::default();
        for is_covered in outcomes {
            share.all += 1;
            share.covered += u64::from(is_covered);
        }
        share
    }
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.covered += other.covered;
        self.all += other.all;
    }
}

impl Summary {
    /// Returns all there is in one share.
    #[must_use]
    pub fn total(self) -> Share {
        let mut total = self.rules;
        total += self.outcomes;
        total += self.grants;
        total
    }
}

impl Coverage {
    /// Sums all policies up.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut sum = Summary::default();
        for policy in &self.policies {
            let own = policy.summary();
            sum.rules += own.rules;
            sum.outcomes += own.outcomes;
            sum.grants += own.grants;
        }
        sum
    }

    /// Returns the parts that are not exercised, in the order of files and lines.
    #[must_use]
    pub fn gaps(&self) -> Vec<Gap<'_>> {
        let mut gaps: Vec<Gap<'_>> = self.policies.iter().flat_map(PolicyCoverage::gaps).collect();
        wardgate_engine::order::sort_by(&mut gaps, |a, b| {
            (a.file, a.position).cmp(&(b.file, b.position))
        });
        gaps
    }
}

impl PolicyCoverage {
    /// Sums the policy up.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            rules: Share::of(self.rules.iter().map(|rule| rule.applied > 0)),
            outcomes: Share::of(self.expressions().flat_map(ExpressionCoverage::outcomes)),
            grants: Share::of(self.derived_roles.iter().flat_map(RoleCoverage::outcomes)),
        }
    }

    /// Returns the expressions of all conditions.
    pub fn expressions(&self) -> impl Iterator<Item = &ExpressionCoverage> {
        let of_rules = self.rules.iter().flat_map(|rule| &rule.expressions);
        of_rules.chain(self.derived_roles.iter().flat_map(|role| &role.expressions))
    }

    fn gaps(&self) -> Vec<Gap<'_>> {
        let gap = |position, what: String, missing: Option<String>| {
            Some(Gap { file: self.source.path.as_str(), position, what, missing: missing? })
        };
        let rules = self
            .rules
            .iter()
            .map(|rule| gap(rule.position, format!("rule `{}`", rule.name), rule.gap()));
        let roles = self
            .derived_roles
            .iter()
            .map(|role| gap(role.position, format!("derived role `{}`", role.name), role.gap()));
        let expressions = self.expressions().map(|expression| {
            gap(
                expression.start,
                format!("condition `{}`", one_line(&expression.text)),
                expression.gap(),
            )
        });
        rules.chain(roles).chain(expressions).flatten().collect()
    }
}

impl RuleCoverage {
    /// Returns the outcome that is missing for it to be exercised.
    #[must_use]
    pub fn gap(&self) -> Option<String> {
        match (self.applied, self.considered()) {
            (0, 0) => Some("never considered".to_owned()),
            (0, times) => Some(format!("considered {}, never applied", count(times))),
            _ => None,
        }
    }
}

impl RoleCoverage {
    fn outcomes(&self) -> impl Iterator<Item = bool> {
        let refused = (!self.is_for_all).then_some(self.not_granted > 0);
        [Some(self.granted > 0), refused].into_iter().flatten()
    }

    /// Returns the outcome that is missing for it to be exercised.
    #[must_use]
    pub fn gap(&self) -> Option<String> {
        let failed = failures(self.failed);
        match (self.granted, self.not_granted) {
            (0, 0) if self.failed == 0 => Some("never considered".to_owned()),
            (0, 0) => Some(format!("neither granted nor refused{failed}")),
            (0, _) => Some(format!("never granted{failed}")),
            (_, 0) if !self.is_for_all => Some(format!("never refused{failed}")),
            _ => None,
        }
    }
}

impl ExpressionCoverage {
    fn outcomes(&self) -> [bool; 2] {
        [self.times_true > 0, self.times_false > 0]
    }

    /// Returns the outcome that is missing for it to be exercised.
    #[must_use]
    pub fn gap(&self) -> Option<String> {
        let failed = failures(self.failed);
        match (self.times_true, self.times_false) {
            (0, 0) if self.failed == 0 => Some("never evaluated".to_owned()),
            (0, 0) => Some(format!("neither true nor false{failed}")),
            (0, _) => Some(format!("never true{failed}")),
            (_, 0) => Some(format!("never false{failed}")),
            _ => None,
        }
    }
}

fn failures(times: u64) -> String {
    if times == 0 { String::new() } else { format!(", failed {}", count(times)) }
}

/// Returns how often, in words.
pub(super) fn count(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    }
}

/// Expressions may be written over several lines.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[expect(clippy::as_conversions, reason = "counts are far below what a double holds exactly")]
const fn double(count: u64) -> f64 {
    count as f64
}
