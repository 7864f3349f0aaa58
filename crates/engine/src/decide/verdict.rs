//! A verdict: a decision on one action before its texts are written out.

use alloc::string::{String, ToString};

use super::session::{Failure, Session};
use crate::decision::{ActionDecision, Effect, Reason};
use crate::table::Rule;

/// What came of one action.
#[derive(Clone, Copy)]
pub(crate) struct Verdict<'a> {
    /// Nothing means that no rule applied.
    pub(crate) effect: Option<Effect>,
    policy: Policy<'a>,
    scope: &'a str,
    why: Why<'a>,
}

/// Which policy a decision is attributed to.
#[derive(Clone, Copy)]
pub(crate) enum Policy<'a> {
    /// The search has not said.
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

/// Why, in terms of the table.
#[derive(Clone, Copy)]
pub(crate) enum Why<'a> {
    Rule(Rule<'a>),
    NotListed,
    NoRule,
    NoPolicy,
    Failed(Failure, Rule<'a>),
    Exhausted,
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

    /// `rule` applied in `scope`. A role policy is named itself, other rules by the policy searched.
    pub(crate) fn by_rule(effect: Effect, rule: &Rule<'a>, scope: &'a str) -> Self {
        let policy =
            if rule.is_from_role_policy() { Policy::Key(rule.policy()) } else { Policy::Open };
        Self { effect: Some(effect), policy, scope, why: Why::Rule(*rule) }
    }

    /// The role policy `policy` does not list the action.
    pub(crate) const fn not_listed(policy: &'a str, scope: &'a str) -> Self {
        let policy = Policy::Key(policy);
        Self { effect: Some(Effect::Deny), policy, scope, why: Why::NotListed }
    }

    /// `rule` could not be evaluated.
    pub(crate) fn failed(failure: Failure, rule: &Rule<'a>, scope: &'a str) -> Self {
        let policy = Policy::Key(rule.policy());
        Self { effect: Some(Effect::Deny), policy, scope, why: Why::Failed(failure, *rule) }
    }

    /// Whether no other role can change it: an allow, or a failure.
    pub(crate) const fn is_final(&self) -> bool {
        matches!(self.effect, Some(Effect::Allow))
            || matches!(self.why, Why::Failed(..) | Why::Exhausted)
    }

    /// Fills in the policy if the search has not said.
    pub(crate) const fn of(mut self, policy: Policy<'a>) -> Self {
        if matches!(self.policy, Policy::Open) {
            self.policy = policy;
        }
        self
    }

    /// The absence of a rule is not a permission.
    pub(crate) fn or_denied(mut self) -> Self {
        self.effect = self.effect.or(Some(Effect::Deny));
        self
    }

    /// Writes the texts out.
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
            Self::Rule(rule) => Reason::Rule(rule.source().to_string()),
            Self::NotListed => Reason::NotInRolePolicy,
            Self::NoRule => Reason::NoRuleApplied,
            Self::NoPolicy => Reason::NoPolicy,
            Self::Failed(Failure::Condition, rule) => {
                Reason::ConditionError(rule.source().to_string())
            }
            Self::Failed(Failure::Limit, rule) => Reason::LimitReached(rule.source().to_string()),
            Self::Exhausted => Reason::RequestLimitReached,
        }
    }
}
