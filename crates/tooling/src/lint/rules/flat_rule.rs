//! A rule of a resource or principal policy, as far as other rules can cover it.

use std::collections::BTreeMap;

use wardgate_engine::names::sanitized;

use crate::lint::Linter;
use crate::lint::logic::Logic;
use crate::lint::pattern::covers;
use wardgate_compiler::policy::model::{Condition, Effect, Output, ResourceRule, ScopePermissions};
use wardgate_compiler::resolve::model::{DerivedRole, Head, PrincipalPolicy, ResourcePolicy};
use wardgate_compiler::source::Location;

/// One rule.
pub(super) struct FlatRule<'r> {
    pub(super) name: &'r str,
    pub(super) location: &'r Location,
    pub(super) effect: Effect,
    /// The pattern of the resource, which only principal policies have.
    pub(super) resource: Option<String>,
    pub(super) actions: Vec<&'r str>,
    /// The roles and derived roles that the rule applies to.
    pub(super) grantees: Vec<Grantee>,
    /// True if it applies to all it is about.
    pub(super) is_certain: bool,
    /// True if its evaluation can end the search with an error.
    pub(super) can_fail: bool,
    /// The key of its condition, if it has one; `None` without a condition.
    pub(super) condition: Option<Option<String>>,
    pub(super) has_output: bool,
    /// True if an allow in its scope needs the consent of a parent scope.
    pub(super) needs_consent: bool,
    /// True if the answer to a condition may hang on the derived roles that it names.
    pub(super) is_watched: bool,
}

/// The way of a principal to a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Grantee {
    /// With a role of this pattern.
    Role(String),
    /// With a derived role.
    Derived {
        name: String,
        parents: Vec<String>,
        /// True if everyone with a parent role has it.
        is_certain: bool,
        can_fail: bool,
    },
}

impl Grantee {
    /// Returns the role that every such principal has, whose role policy is then evaluated.
    pub(super) fn role(&self) -> Option<&str> {
        match self {
            Self::Role(role) => Some(role),
            Self::Derived { parents, .. } => {
                let first = parents.first()?;
                parents.iter().all(|parent| parent == first).then_some(first)
            }
        }
    }

    /// Returns true if every principal of `inner` is one of this grantee too.
    pub(super) fn covers(&self, inner: &Self) -> bool {
        match (self, inner) {
            (Self::Role(outer), Self::Role(inner)) => covers(outer, inner),
            (Self::Derived { name: a, .. }, Self::Derived { name: b, .. }) if a == b => true,
            (Self::Derived { is_certain: true, parents, .. }, Self::Role(inner)) => {
                parents.iter().any(|outer| covers(outer, inner))
            }
            (Self::Role(outer), Self::Derived { parents, .. }) => {
                parents.iter().all(|inner| covers(outer, inner))
            }
            (
                Self::Derived { is_certain: true, parents: outer, .. },
                Self::Derived { parents, .. },
            ) => parents.iter().all(|inner| outer.iter().any(|outer| covers(outer, inner))),
            _ => false,
        }
    }

    pub(super) const fn can_fail(&self) -> bool {
        matches!(self, Self::Derived { can_fail: true, .. })
    }
}

impl<'p> Linter<'p> {
    pub(super) fn flat_resource_rules(&self, policy: &'p ResourcePolicy) -> Vec<FlatRule<'p>> {
        let logic = self.logic(&policy.head);
        let reads_roles = self.reads_derived_roles(policy);
        let derived: BTreeMap<&str, Grantee> = wardgate_engine::order::in_order(
            policy
                .derived_roles
                .iter()
                .map(|(name, role)| (name.as_str(), self.derived_grantee(role))),
        );
        let line = |rule: &'p ResourceRule| {
            let named = rule.derived_roles.iter();
            let grantees = named.filter_map(|named| derived.get(named.name.as_str()).cloned());
            let grantees = rule.roles.iter().cloned().map(Grantee::Role).chain(grantees).collect();
            let facts = ConditionFacts::of(&logic, rule.condition.as_ref());
            FlatRule {
                actions: rule.actions.iter().map(String::as_str).collect(),
                grantees,
                is_watched: reads_roles && !rule.derived_roles.is_empty(),
                ..facts.line(&policy.head, rule.effect, &rule.output, (&rule.name, &rule.location))
            }
        };
        policy.rules.iter().map(line).collect()
    }

    fn derived_grantee(&self, role: &'p DerivedRole) -> Grantee {
        let logic = self.role_logic(role);
        let facts = ConditionFacts::of(&logic, role.condition.as_ref());
        Grantee::Derived {
            name: role.name.clone(),
            parents: role.parent_roles.clone(),
            is_certain: facts.is_certain,
            can_fail: facts.can_fail,
        }
    }

    pub(super) fn flat_principal_rules(&self, policy: &'p PrincipalPolicy) -> Vec<FlatRule<'p>> {
        let logic = self.logic(&policy.head);
        let mut rules = Vec::new();
        for rule in &policy.rules {
            for action in &rule.actions {
                let facts = ConditionFacts::of(&logic, action.condition.as_ref());
                let name = (action.name.as_str(), &action.location);
                rules.push(FlatRule {
                    resource: Some(sanitized(&rule.resource).into_owned()),
                    actions: vec![&action.action],
                    ..facts.line(&policy.head, action.effect, &action.output, name)
                });
            }
        }
        rules
    }
}

/// The facts about a condition.
struct ConditionFacts {
    is_certain: bool,
    can_fail: bool,
    key: Option<Option<String>>,
}

impl ConditionFacts {
    fn of(logic: &Logic<'_>, condition: Option<&Condition>) -> Self {
        let Some(condition) = condition else {
            return Self { is_certain: true, can_fail: false, key: None };
        };
        let found = logic.condition(condition);
        logic.refuel();
        Self {
            is_certain: found.is_always() && !found.fails.any(),
            can_fail: found.fails.any(),
            key: Some(logic.condition_key(condition)),
        }
    }

    fn line<'r>(
        self,
        head: &'r Head,
        effect: Effect,
        output: &Output,
        (name, location): (&'r str, &'r Location),
    ) -> FlatRule<'r> {
        let needs_consent =
            head.scope_permissions == ScopePermissions::RequireParentalConsentForAllows;
        FlatRule {
            name,
            location,
            effect,
            resource: None,
            actions: Vec::new(),
            grantees: vec![Grantee::Role("*".to_owned())],
            is_certain: self.is_certain,
            can_fail: self.can_fail,
            condition: self.key,
            has_output: *output != Output::default(),
            needs_consent,
            is_watched: false,
        }
    }
}
