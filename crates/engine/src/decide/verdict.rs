//! A verdict: a decision on one action before its texts are written out.

use alloc::string::{String, ToString};

use super::session::{Failure, Session};
use crate::decision::{ActionDecision, Effect, Reason};
use crate::table::Rule;

/// The result for one action.
#[derive(Clone, Copy)]
pub(crate) struct Verdict<'a> {
    /// `None` means that no rule applied.
    pub(crate) effect: Option<Effect>,
    pub(super) policy: Policy<'a>,
    pub(super) scope: &'a str,
    pub(super) why: Why<'a>,
}

/// The policy that a decision is attributed to.
#[derive(Clone, Copy)]
pub(crate) enum Policy<'a> {
    /// Not determined by the search.
    Open,
    /// No policy matched.
    None,
    /// The principal's most specific one.
    Principal,
    /// The resource's most specific one.
    Resource,
    /// This one.
    Key(&'a str),
}

/// The reason, in ids of the table.
#[derive(Clone, Copy)]
pub(crate) enum Why<'a> {
    Rule(Rule<'a>),
    NotListed,
    NoRule,
    NoPolicy,
    Failed(Failure, Rule<'a>),
    Exhausted,
    Schema,
    Expired,
}

impl<'a> Verdict<'a> {
    /// No rule applied.
    pub(crate) const NOTHING: Self =
        Self { effect: None, policy: Policy::Open, scope: "", why: Why::NoRule };

    /// The request has taken all the steps that it may.
    pub(crate) const EXHAUSTED: Self = Self::denied(Policy::Open, Why::Exhausted);

    pub(crate) const fn denied(policy: Policy<'a>, why: Why<'a>) -> Self {
        Self { effect: Some(Effect::Deny), policy, scope: "", why }
    }

    /// Returns the verdict of `rule`, which applied in `scope`. A role policy is named itself,
    /// other rules by the policy searched.
    pub(crate) fn by_rule(effect: Effect, rule: &Rule<'a>, scope: &'a str) -> Self {
        let policy =
            if rule.is_from_role_policy() { Policy::Key(rule.policy()) } else { Policy::Open };
        Self { effect: Some(effect), policy, scope, why: Why::Rule(*rule) }
    }

    /// Returns the denial of the role policy `policy`, which does not list the action.
    pub(crate) const fn not_listed(policy: &'a str, scope: &'a str) -> Self {
        let policy = Policy::Key(policy);
        Self { effect: Some(Effect::Deny), policy, scope, why: Why::NotListed }
    }

    /// Returns the denial for `rule`, which could not be evaluated.
    pub(crate) fn failed(failure: Failure, rule: &Rule<'a>, scope: &'a str) -> Self {
        let policy = Policy::Key(rule.policy());
        Self { effect: Some(Effect::Deny), policy, scope, why: Why::Failed(failure, *rule) }
    }

    /// Returns true if no other role can change it: an allow, or a failure.
    pub(crate) const fn is_final(&self) -> bool {
        matches!(self.effect, Some(Effect::Allow)) || self.has_failed()
    }

    /// Returns true if something could not be evaluated.
    pub(crate) const fn has_failed(&self) -> bool {
        matches!(self.why, Why::Failed(..) | Why::Exhausted)
    }

    /// Returns the verdict with `policy`, unless the search has determined one.
    pub(crate) const fn of(mut self, policy: Policy<'a>) -> Self {
        if matches!(self.policy, Policy::Open) {
            self.policy = policy;
        }
        self
    }

    /// Returns the verdict with a deny if no rule applied: the absence of a rule is not a
    /// permission.
    pub(crate) fn or_denied(mut self) -> Self {
        self.effect = self.effect.or(Some(Effect::Deny));
        self
    }

    /// Returns the decision with its texts.
    pub(crate) fn into_decision(self, session: &Session<'a>, action: &str) -> ActionDecision {
        let policy = match self.policy {
            Policy::Open | Policy::None => String::from("NO_MATCH"),
            Policy::Principal => session.principal_policy_key(),
            Policy::Resource => session.resource_policy_key(),
            Policy::Key(key) => key.to_string(),
        };
        ActionDecision {
            action: action.to_string(),
            effect: self.effect.unwrap_or(Effect::Deny),
            policy,
            scope: self.scope.to_string(),
            reason: self.why.reason(),
        }
    }
}

impl Why<'_> {
    fn reason(self) -> Reason {
        match self {
            Self::Rule(rule) => Reason::Rule(rule.source()),
            Self::NotListed => Reason::NotInRolePolicy,
            Self::NoRule => Reason::NoRuleApplied,
            Self::NoPolicy => Reason::NoPolicy,
            Self::Failed(Failure::Limit, rule) => Reason::LimitReached(rule.source()),
            Self::Failed(_, rule) => Reason::ConditionError(rule.source()),
            Self::Exhausted => Reason::RequestLimitReached,
            Self::Schema => Reason::SchemaViolation,
            Self::Expired => Reason::Expired,
        }
    }
}
