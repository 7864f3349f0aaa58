//! Roles and actions that the policies mention and no rule grants.
//!
//! A principal may have several roles, and an allow for one of them wins. So a role that is never allowed
//! anything changes no answer, however much it is denied; only a role policy of another role, which takes
//! it for a parent, can give it a meaning.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::glob::is_glob;
use wardgate_engine::names::sanitized;

use super::pattern::{disjoint, fits};
use super::{Lint, Linter};
use crate::diagnostics::Diagnostic;
use crate::policy::model::{Body, Effect, Schemas};
use crate::resolve::model::ResourcePolicy;
use crate::source::Place;

impl<'p> Linter<'p> {
    pub(super) fn roles(&self) -> Vec<Diagnostic> {
        let mut found = self.never_allowed();
        let kinds = self.kinds();
        found.extend(self.unknown_to_role_policies(&kinds));
        found.extend(self.unknown_to_principal_policies(&kinds));
        found.extend(self.unknown_to_schemas(&kinds));
        found
    }

    fn never_allowed(&self) -> Vec<Diagnostic> {
        let allowed = self.allowed_roles();
        let globs: Vec<&str> = allowed.iter().copied().filter(|role| is_glob(role)).collect();
        let is_allowed =
            |role: &str| allowed.contains(role) || globs.iter().any(|glob| fits(glob, role));
        let related = self.related(is_allowed);
        let mut found = Vec::new();
        for (role, place) in self.mentioned() {
            if !is_allowed(role) && !related.contains(role) {
                let message = format!(
                    "no rule allows the role `{role}` anything, and a deny for one role never takes away what another is allowed"
                );
                found.push(Diagnostic::lint(Lint::RoleNeverAllowed, place, message));
            }
        }
        found
    }

    /// Returns the patterns of roles that some rule allows something.
    fn allowed_roles(&self) -> BTreeSet<&'p str> {
        let mut allowed = BTreeSet::new();
        for policy in &self.resolved.resource {
            for rule in policy.rules.iter().filter(|rule| rule.effect == Effect::Allow) {
                allowed.extend(rule.roles.iter().map(String::as_str));
                let named = rule.derived_roles.iter();
                let derived = named.filter_map(|named| policy.derived_roles.get(&named.name));
                allowed.extend(derived.flat_map(|role| &role.parent_roles).map(String::as_str));
            }
        }
        allowed
    }

    /// Returns the roles that stand in rules, in derived roles that rules name, and in role policies, each
    /// where it does first.
    fn mentioned(&self) -> BTreeMap<&'p str, &'p Place> {
        let named = self.resolved.resource.iter().flat_map(|policy| policy.derived_roles.values());
        let named: BTreeSet<(&str, &str)> =
            named.map(|role| (role.origin.as_str(), role.name.as_str())).collect();
        let mut mentioned = BTreeMap::new();
        for policy in &self.repository.policies {
            match &policy.body {
                Body::Resource(body) => {
                    for rule in &body.rules {
                        for role in rule.roles.iter().filter(|role| !is_glob(role)) {
                            mentioned.entry(role.as_str()).or_insert(&rule.place);
                        }
                    }
                }
                Body::DerivedRoles(body) => {
                    let key = policy.key();
                    let is_named = |name: &str| named.contains(&(key.as_str(), name));
                    for role in body.definitions.iter().filter(|role| is_named(&role.name)) {
                        for parent in role.parent_roles.iter().filter(|role| !is_glob(role)) {
                            mentioned.entry(parent.as_str()).or_insert(&role.place);
                        }
                    }
                }
                Body::Role(body) => {
                    mentioned.entry(&body.common.name).or_insert(&policy.place);
                }
                Body::Principal(_) | Body::ExportVariables(_) | Body::ExportConstants(_) => {}
            }
        }
        mentioned
    }

    /// Returns the roles that role policies link, as parents or children and over any number of others, to
    /// one that is allowed something: they take part in what that one may do.
    fn related(&self, is_allowed: impl Fn(&str) -> bool) -> BTreeSet<&'p str> {
        let linked = self.linked();
        let mut related = BTreeSet::new();
        let mut pending: Vec<&str> =
            linked.keys().copied().filter(|role| is_allowed(role)).collect();
        while let Some(role) = pending.pop() {
            if related.insert(role) {
                pending.extend(linked.get(role).into_iter().flatten());
            }
        }
        related
    }

    /// Returns the parents and the children that role policies give to each role.
    fn linked(&self) -> BTreeMap<&'p str, BTreeSet<&'p str>> {
        let mut linked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for policy in &self.resolved.role {
            for parent in &policy.parent_roles {
                linked.entry(parent).or_default().insert(&policy.head.name);
                linked.entry(&policy.head.name).or_default().insert(parent);
            }
        }
        linked
    }

    /// Returns the actions that resource policies speak of, by kind.
    fn kinds(&self) -> BTreeMap<String, BTreeSet<&'p str>> {
        let mut kinds: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for policy in &self.resolved.resource {
            let actions = policy.rules.iter().flat_map(|rule| &rule.actions).map(String::as_str);
            kinds.entry(kind_of(policy)).or_default().extend(actions);
        }
        kinds
    }

    fn unknown_to_role_policies(&self, kinds: &Kinds<'_>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for rule in self.resolved.role.iter().flat_map(|policy| &policy.rules) {
            let Some(actions) = actions_of(kinds, &rule.resource) else {
                let message = format!("no resource policy is about `{}`", rule.resource);
                found.push(Diagnostic::lint(Lint::UnknownResource, &rule.place, message));
                continue;
            };
            let unknown = rule.allow_actions.iter().filter(|action| is_unknown(&actions, action));
            found.extend(unknown.map(|action| unknown_action(action, &rule.resource, &rule.place)));
        }
        found
    }

    /// A principal policy may well allow what no other policy speaks of. But what nobody allows, it need
    /// not deny.
    fn unknown_to_principal_policies(&self, kinds: &Kinds<'_>) -> Vec<Diagnostic> {
        let mut allowed: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for policy in &self.resolved.principal {
            let own = allowed.entry(&policy.head.name).or_default();
            for rule in &policy.rules {
                let allows = rule.actions.iter().filter(|one| one.effect == Effect::Allow);
                own.extend(allows.map(|one| (rule.resource.as_str(), one.action.as_str())));
            }
        }
        let mut found = Vec::new();
        for policy in &self.resolved.principal {
            let own = allowed.get(policy.head.name.as_str()).map(Vec::as_slice).unwrap_or_default();
            for rule in &policy.rules {
                let Some(mut actions) = actions_of(kinds, &sanitized(&rule.resource)) else {
                    continue;
                };
                let own = own.iter().filter(|(resource, _)| !disjoint(resource, &rule.resource));
                actions.extend(own.map(|(_, action)| *action));
                let denies = rule.actions.iter().filter(|one| one.effect == Effect::Deny);
                let unknown = denies.filter(|one| is_unknown(&actions, &one.action));
                let resource = &rule.resource;
                found.extend(unknown.map(|one| unknown_action(&one.action, resource, &one.place)));
            }
        }
        found
    }

    /// A schema can be ignored for actions of rules, of principal policies included.
    fn unknown_to_schemas(&self, kinds: &Kinds<'_>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let ignores = |policy: &&ResourcePolicy| {
            let Schemas { principal, resource } = &policy.schemas;
            principal.iter().chain(resource).any(|schema| !schema.ignore_when_actions.is_empty())
        };
        for policy in self.resolved.resource.iter().filter(ignores) {
            let kind = kind_of(policy);
            let Some(mut actions) = actions_of(kinds, &kind) else { continue };
            let rules = self.resolved.principal.iter().flat_map(|policy| &policy.rules);
            let rules = rules.filter(|rule| fits(&sanitized(&rule.resource), &kind));
            actions.extend(rules.flat_map(|rule| &rule.actions).map(|one| one.action.as_str()));
            for schema in policy.schemas.principal.iter().chain(&policy.schemas.resource) {
                let ignored = schema.ignore_when_actions.iter();
                let unknown = ignored.filter(|action| is_unknown(&actions, action));
                let name = &policy.head.name;
                found.extend(unknown.map(|action| unknown_action(action, name, &schema.place)));
            }
        }
        found
    }
}

/// The actions that resource policies speak of, by kind.
type Kinds<'p> = BTreeMap<String, BTreeSet<&'p str>>;

fn kind_of(policy: &ResourcePolicy) -> String {
    sanitized(&policy.head.name).into_owned()
}

/// Returns the actions of all kinds that fit a pattern; nothing if no kind fits.
fn actions_of<'p>(kinds: &Kinds<'p>, pattern: &str) -> Option<BTreeSet<&'p str>> {
    if !is_glob(pattern) {
        return kinds.get(pattern).cloned();
    }
    let mut fitting = kinds.iter().filter(|(kind, _)| fits(pattern, kind)).peekable();
    fitting.peek()?;
    Some(fitting.flat_map(|(_, actions)| actions.iter().copied()).collect())
}

fn is_unknown(actions: &BTreeSet<&str>, action: &str) -> bool {
    // To be named is the common case, and quickly told.
    let is_named = actions.contains(action);
    !is_named && !actions.is_empty() && actions.iter().all(|known| disjoint(known, action))
}

fn unknown_action(action: &str, resource: &str, place: &Place) -> Diagnostic {
    let message =
        format!("no rule of a resource policy for `{resource}` mentions the action `{action}`");
    Diagnostic::lint(Lint::UnknownAction, place, message)
}
