//! Observers of the walk, called with each expression and rule at the moment when it is considered.
//!
//! For tools of authors: coverage counts, explanations show values. An observer never changes a
//! decision: evaluations for it alone take no steps from the request. The runtime modules are built
//! without this module, which is the purpose of the feature.

mod finding;
mod locations;

use alloc::vec::Vec;

pub use finding::{Finding, Read, Sight};
pub use locations::{NamedRule, RuleLocation};

use super::record::{Outcome, Record, WalkPosition};
use super::session::{Failure, Session};
use super::visited::needs_consent;
use crate::budget::Budget;
use crate::cel::{Timestamp, Value};
use crate::decision::{Decision, Effect};
use crate::glob;
use crate::request::Request;
use crate::table::layout::block;
use crate::table::{Block, DerivedRole, PolicyTable, Rule};

/// A receiver of the expressions, derived roles and rules of a walk.
pub trait Observer {
    /// Returns true if the observer wants rules for other actions, roles or resources too.
    fn wants_excluded(&self) -> bool {
        false
    }

    /// Receives the truth of an expression of a condition. The call after it names the condition:
    /// that of a derived role if `in_derived_roles`, else that of a rule.
    fn expression(&self, truth: Truth, in_derived_roles: bool);

    /// Receives a derived role that was granted or not.
    fn derived_role(&self, role: &Granting<'_>);

    /// Receives a rule that was considered.
    fn rule(&self, rule: &Considered<'_, '_>);
}

/// The result of an expression of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold, or is not a boolean.
    False,
    /// It holds for a part of the MQTT topics that the request asks about.
    Partly,
    /// It could not be evaluated.
    Error,
}

/// A derived role that a policy could give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granting<'a> {
    /// The key of the resource policy that imports it.
    pub policy: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The result.
    pub grant: Grant,
}

/// The result for a derived role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The principal has it.
    Granted,
    /// The principal has none of its parent roles, so the condition was not evaluated.
    NoParentRole,
    /// The condition is not met.
    ConditionNotMet,
    /// The condition could not be evaluated.
    Failed,
}

/// A rule that was considered, with methods for its parts.
#[derive(Clone, Copy)]
pub struct Considered<'s, 'a> {
    session: &'s Session<'a>,
    block: Block<'a>,
    rule: &'s Rule<'a>,
    position: WalkPosition<'a>,
    /// The result.
    pub outcome: &'s Outcome,
}

impl PolicyTable {
    /// Decides like [`PolicyTable::check`] and calls `observer` on the way.
    #[must_use]
    pub fn observe(&self, request: &Request, now: Timestamp, observer: &dyn Observer) -> Decision {
        let pool = self.pool();
        let (record, budget) = (Record::default(), Budget::default());
        let mut session = Session::new(self, &pool, (request, now), Some(record), &budget);
        session.observer = Some(observer);
        session.is_traced = observer.wants_excluded();
        session.conclude(&budget).0
    }
}

impl<'a> Considered<'_, 'a> {
    /// Returns the number of the rule in the table. A rule has one for its roles, and one more for
    /// each derived role that it names.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.rule.number()
    }

    /// Returns the action being decided.
    #[must_use]
    pub const fn action(&self) -> &'a str {
        self.position.action
    }

    /// Returns the role being tried; empty in principal policies.
    #[must_use]
    pub const fn role(&self) -> &'a str {
        self.position.role
    }

    /// Returns the scope being searched.
    #[must_use]
    pub const fn scope(&self) -> &'a str {
        self.position.scope
    }

    /// Returns the key of the policy.
    #[must_use]
    pub fn policy(&self) -> &'a str {
        self.rule.policy()
    }

    /// Returns the name of the rule.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.rule.name()
    }

    /// Returns the derived role through which the rule names the role.
    #[must_use]
    pub fn derived_role(&self) -> Option<&'a str> {
        self.rule.derived_role()
    }

    /// Returns the effect of the rule in its source; `None` if it only emits outputs.
    #[must_use]
    pub fn effect(&self) -> Option<Effect> {
        if self.rule.is_negated() { Some(Effect::Allow) } else { self.rule.effect() }
    }

    /// Returns true if the rule belongs to a role policy.
    #[must_use]
    pub fn is_from_role_policy(&self) -> bool {
        self.rule.is_from_role_policy()
    }

    /// Returns true if the rule is in the table as a denial under the opposite of its condition.
    #[must_use]
    pub fn is_opposite(&self) -> bool {
        let narrows = self.rule.is_from_role_policy() && self.rule.effect() == Some(Effect::Deny);
        narrows || self.rule.is_negated()
    }

    /// Returns true if an allow in this scope counts only if a scope above it allows too.
    #[must_use]
    pub fn needs_consent(&self) -> bool {
        let scope = self.session.table.string_id(self.position.scope);
        scope.is_some_and(|scope| needs_consent(self.session.table, scope))
    }

    /// Returns source file and line of the rule.
    #[must_use]
    pub fn source(&self) -> (&'a str, u32) {
        self.rule.file()
    }

    /// Returns the roles that the rule names, or the parent roles of the derived role that it
    /// names.
    #[must_use]
    pub fn roles(&self) -> Vec<&'a str> {
        self.block.named_by(self.rule, block::ROLES).collect()
    }

    /// Returns true if the rule names the action being decided.
    #[must_use]
    pub fn names_the_action(&self) -> bool {
        let matches = |pattern: &str| {
            pattern == self.position.action
                || glob::is_glob(pattern) && glob::matches(pattern, self.position.action)
        };
        self.block.named_by(self.rule, block::ACTIONS).any(matches)
    }

    /// Evaluates the condition of the rule in full, also the parts that the decision skipped.
    #[must_use]
    pub fn condition(&self) -> Option<Finding> {
        let opposite = usize::from(self.is_opposite());
        self.rule.condition().map(|condition| self.find(condition, opposite))
    }

    /// Evaluates the condition of the derived role in full.
    #[must_use]
    pub fn role_condition(&self) -> Option<Finding> {
        self.rule.role_condition().map(|condition| self.find(condition, 0))
    }

    fn find(&self, condition: u32, negations: usize) -> Finding {
        self.session.aside(|| self.session.finding(condition, negations))
    }
}

impl<'a> Session<'a> {
    pub(crate) fn observe_expression(&self, value: &Value<'a>) {
        if let Some(observer) = self.observer {
            observer.expression(Truth::of(value), self.is_in_derived_roles());
        }
    }

    pub(crate) fn observe_rule(
        &self,
        block: Block<'a>,
        position: WalkPosition<'a>,
        rule: &Rule<'a>,
        outcome: &Outcome,
    ) {
        if let Some(observer) = self.observer {
            observer.rule(&Considered { session: self, block, rule, position, outcome });
        }
    }

    pub(crate) fn observe_derived_role(
        &self,
        block: Block<'a>,
        role: DerivedRole<'a>,
        granted: Result<bool, Failure>,
    ) {
        let Some(observer) = self.observer else { return };
        let has_parent = || self.aside(|| self.has_one_of(role.parent_roles()) == Ok(true));
        let grant = match granted {
            Ok(true) => Grant::Granted,
            Ok(false) if has_parent() => Grant::ConditionNotMet,
            Ok(false) => Grant::NoParentRole,
            Err(_) => Grant::Failed,
        };
        observer.derived_role(&Granting { policy: block.policy(), name: role.name(), grant });
    }
}

impl Truth {
    fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Bool(true) => Self::True,
            Value::Error(error) if error.is_partly() => Self::Partly,
            Value::Error(_) => Self::Error,
            _ => Self::False,
        }
    }
}
