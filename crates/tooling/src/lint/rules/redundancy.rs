//! Rules that are redundant beside other rules.
//!
//! A rule is taken apart into its actions and its grantees. Every combination must be covered, but
//! not all of them by the same rule.

use std::cell::Cell;

use super::flat_rule::{FlatRule, Grantee};
use crate::lint::Lint;
use crate::lint::pattern::covers;
use wardgate_compiler::policy::model::Effect;
use wardgate_compiler::source::Location;

/// Returns the role policy that denies an action to a grantee before any rule is evaluated.
pub(super) type Precheck<'b> = dyn Fn(&str, &Grantee) -> Option<String> + 'b;

/// The other rules of the policy, as seen from one.
pub(super) struct OtherRules<'o, 'r> {
    pub(super) rules: &'o [FlatRule<'r>],
    /// True for the rules that are not redundant so far.
    pub(super) remaining: &'o [bool],
    pub(super) at: usize,
    pub(super) before: &'o Precheck<'o>,
    /// Comparisons that may still be made.
    pub(super) left: &'o Cell<u64>,
}

/// The reason why a rule is redundant, with the rule that covers it.
pub(super) enum Redundancy {
    /// An earlier rule ends the search.
    Hidden(String),
    /// A deny overrules every allow of it.
    Overruled(String),
    /// Another rule decides the same.
    Repeated { by: String, effect: Effect, literally: bool },
    /// Another rule decides the same, except when this one fails.
    OnlyFails(String),
    /// It is an allow that needs a consent, and has no condition that could withhold it.
    Consent,
}

impl Redundancy {
    pub(super) const fn lint(&self) -> Lint {
        match self {
            Self::Hidden(_) | Self::Overruled(_) => Lint::UnreachableRule,
            Self::Repeated { literally: true, .. } => Lint::DuplicateRule,
            Self::Repeated { .. } => Lint::ShadowedRule,
            Self::OnlyFails(_) => Lint::AllowCanOnlyDeny,
            Self::Consent => Lint::AllowWithoutEffect,
        }
    }

    pub(super) fn message(&self, name: &str) -> String {
        match self {
            Self::Hidden(by) => {
                format!(
                    "rule `{name}` is never evaluated: {by} comes first and denies all that it covers"
                )
            }
            Self::Overruled(by) => {
                format!("rule `{name}` never allows an action: {by} denies all that it covers")
            }
            Self::Repeated { by, literally: true, .. } => {
                format!("rule `{name}` says the same as {by}")
            }
            Self::Repeated { by, effect, .. } => {
                format!(
                    "rule `{name}` changes no decision: {by} {}s all that it covers",
                    effect_word(*effect)
                )
            }
            Self::OnlyFails(by) => format!(
                "rule `{name}` can only deny, when its condition fails: {by} allows all that it covers"
            ),
            Self::Consent => format!(
                "rule `{name}` changes no decision: in this scope only a parent scope can allow, and a rule without a condition withholds no consent"
            ),
        }
    }
}

impl OtherRules<'_, '_> {
    /// Returns the reason why `line` is redundant, if it is.
    pub(super) fn redundancy(&self, line: &FlatRule<'_>) -> Option<Redundancy> {
        if line.is_watched {
            return None;
        }
        let hides =
            |at: usize, other: &FlatRule<'_>| at < self.at && other.is_certain && denies(other);
        if let Some(by) = self.every(line, hides, true) {
            return Some(Redundancy::Hidden(by));
        }
        if line.has_output {
            return None;
        }
        let can_fail = line.can_fail || line.grantees.iter().any(Grantee::can_fail);
        if let Some(repeated) = self.repeated(line, can_fail) {
            return Some(repeated);
        }
        if line.effect == Effect::Deny || (line.needs_consent && line.condition.is_some()) {
            return None;
        }
        if line.needs_consent {
            return (!can_fail).then_some(Redundancy::Consent);
        }
        let allows =
            |_: usize, other: &FlatRule<'_>| other.is_certain && other.effect == Effect::Allow;
        let overrules = |_: usize, other: &FlatRule<'_>| other.is_certain && denies(other);
        let (repeated, overruled) =
            (self.every(line, allows, false), self.every(line, overrules, true));
        match (repeated, overruled, can_fail) {
            (Some(by), _, false) => {
                Some(Redundancy::Repeated { by, effect: line.effect, literally: false })
            }
            (_, Some(by), false) => Some(Redundancy::Overruled(by)),
            (Some(by), _, true) => Some(Redundancy::OnlyFails(by)),
            (None, Some(_), true) | (None, None, _) => None,
        }
    }

    /// Returns an earlier rule with the same effect and the same condition. If its evaluation does
    /// not fail, neither does that of this one.
    fn repeated(&self, line: &FlatRule<'_>, can_fail: bool) -> Option<Redundancy> {
        let same = |other: &FlatRule<'_>| match (&line.condition, &other.condition) {
            (None, None) => true,
            (Some(Some(one)), Some(Some(other))) => one == other,
            _ => false,
        };
        let says_same = |at: usize, other: &FlatRule<'_>| {
            at < self.at && other.effect == line.effect && same(other)
        };
        let fails_too = |grantee: &Grantee, other: &FlatRule<'_>| {
            !grantee.can_fail() || other.grantees.contains(grantee)
        };
        let stands_in = |at: usize, other: &FlatRule<'_>| {
            says_same(at, other)
                && line.grantees.iter().all(|grantee| !can_fail || fails_too(grantee, other))
        };
        let by = self.every(line, stands_in, false)?;
        let is_literal = |(at, other): (usize, &FlatRule<'_>)| {
            says_same(at, other)
                && other.actions == line.actions
                && other.grantees == line.grantees
                && other.resource == line.resource
        };
        let literally = self.remaining_rules().any(is_literal);
        Some(Redundancy::Repeated { by, effect: line.effect, literally })
    }

    fn remaining_rules(&self) -> impl Iterator<Item = (usize, &FlatRule<'_>)> {
        let rules = self.rules.iter().enumerate().zip(self.remaining);
        rules.filter(|((at, _), remaining)| **remaining && *at != self.at).map(|(line, _)| line)
    }

    /// Returns the first covering rule if each action of each grantee is covered by one of the
    /// rules that `counts`, or by the check `before` any rule.
    fn every(
        &self,
        line: &FlatRule<'_>,
        counts: impl Fn(usize, &FlatRule<'_>) -> bool,
        or_before: bool,
    ) -> Option<String> {
        let counting: Vec<&FlatRule<'_>> = self
            .remaining_rules()
            .filter(|(at, other)| counts(*at, other) && covers_resource(other, line))
            .map(|(_, other)| other)
            .collect();
        let by = |action: &str, grantee: &Grantee| {
            let covers = |other: &&&FlatRule<'_>| {
                self.burn(other);
                other.grantees.iter().any(|outer| outer.covers(grantee))
                    && other.actions.iter().any(|outer| covers(outer, action))
            };
            let before = or_before.then(|| (self.before)(action, grantee)).flatten();
            before.or_else(|| {
                counting.iter().find(covers).map(|other| describe(other.name, other.location))
            })
        };
        let mut first = None;
        for action in &line.actions {
            for grantee in &line.grantees {
                let by = by(action, grantee).filter(|_| self.left.get() > 0)?;
                first.get_or_insert(by);
            }
        }
        first
    }

    /// Counts the cost of a comparison with a rule.
    fn burn(&self, other: &FlatRule<'_>) {
        let cost = other.grantees.len().saturating_add(other.actions.len());
        self.left.set(self.left.get().saturating_sub(u64::try_from(cost).unwrap_or(u64::MAX)));
    }
}

/// Returns true if a rule ends the search with a deny if it applies. Where consent is needed, a
/// conditional allow does so too, if its condition does not hold, which a certain one never does.
fn denies(line: &FlatRule<'_>) -> bool {
    line.effect == Effect::Deny
}

fn covers_resource(outer: &FlatRule<'_>, inner: &FlatRule<'_>) -> bool {
    match (&outer.resource, &inner.resource) {
        (Some(outer), Some(inner)) => covers(outer, inner),
        (None, None) => true,
        _ => false,
    }
}

/// Returns the name and the line of a rule.
fn describe(name: &str, location: &Location) -> String {
    format!("rule `{name}` on line {}", location.position.line)
}

const fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    }
}
