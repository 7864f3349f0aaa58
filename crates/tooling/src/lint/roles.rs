//! Roles and actions that the policies mention and no rule grants.
//!
//! A principal may have several roles, and an allow for one of them wins. So a role that is never
//! allowed anything changes no answer, however much it is denied; only a role policy of another
//! role, which takes it for a parent, can give it a meaning.

mod kinds;

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::glob::is_glob;
use wardgate_engine::names::sanitized;

use super::pattern::{disjoint, fits};
use super::{Lint, Linter};
use kinds::{Actions, ByKind, Kinds};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::policy::model::{Body, Effect, Schemas};
use wardgate_compiler::source::Location;

impl<'p> Linter<'p> {
    pub(super) fn roles(&self) -> Vec<Diagnostic> {
        let mut found = self.never_allowed();
        let kinds = Kinds::of(&self.resolved.resource);
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
        for (role, location) in self.mentioned() {
            if !is_allowed(role) && !related.contains(role) {
                let message = format!(
                    "no rule allows the role `{role}` anything, and a deny for one role never takes away what another is allowed"
                );
                found.push(Diagnostic::lint(Lint::RoleNeverAllowed, location, message));
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

    /// Returns the roles in rules, in derived roles that rules name, and in role policies, each
    /// with the location of its first mention.
    fn mentioned(&self) -> BTreeMap<&'p str, &'p Location> {
        let named = self.resolved.resource.iter().flat_map(|policy| policy.derived_roles.values());
        let named: BTreeSet<(&str, &str)> = wardgate_engine::order::in_order(
            named.map(|role| (role.origin.as_str(), role.name.as_str())),
        );
        let mut mentioned = BTreeMap::new();
        for policy in &self.repository.policies {
            match &policy.body {
                Body::Resource(body) => {
                    for rule in &body.rules {
                        for role in rule.roles.iter().filter(|role| !is_glob(role)) {
                            mentioned.entry(role.as_str()).or_insert(&rule.location);
                        }
                    }
                }
                Body::DerivedRoles(body) => {
                    let key = policy.key();
                    let is_named = |name: &str| named.contains(&(key.as_str(), name));
                    for role in body.definitions.iter().filter(|role| is_named(&role.name)) {
                        for parent in role.parent_roles.iter().filter(|role| !is_glob(role)) {
                            mentioned.entry(parent.as_str()).or_insert(&role.location);
                        }
                    }
                }
                Body::Role(body) => {
                    mentioned.entry(&body.common.name).or_insert(&policy.location);
                }
                Body::Principal(_)
                | Body::ExportVariables(_)
                | Body::ExportConstants(_)
                | Body::Limit(_) => {}
            }
        }
        mentioned
    }

    /// Returns the roles that role policies link, as parents or children and over any number of
    /// others, to a role with an allow: they take part in the allows of that role.
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

    fn unknown_to_role_policies(&self, kinds: &Kinds<'_>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for rule in self.resolved.role.iter().flat_map(|policy| &policy.rules) {
            let Some(actions) = kinds.actions(&rule.resource) else {
                let message = format!("there is no resource policy for `{}`", rule.resource);
                found.push(Diagnostic::lint(Lint::UnknownResource, &rule.location, message));
                continue;
            };
            let unknown = rule.allow_actions.iter();
            let unknown = unknown.filter(|action| is_unknown(&actions, [].into_iter(), action));
            found.extend(
                unknown.map(|action| unknown_action(action, &rule.resource, &rule.location)),
            );
        }
        found
    }

    /// Reports actions of principal policies. A principal policy may well allow an action that no
    /// other policy names. But it need not deny an action that no policy allows.
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
                let resource = &rule.resource;
                let Some(actions) = kinds.actions(&sanitized(resource)) else { continue };
                let own = own.iter().filter(|(allowed, _)| !disjoint(allowed, resource));
                let own = own.map(|(_, action)| *action);
                let denies = rule.actions.iter().filter(|one| one.effect == Effect::Deny);
                let unknown = denies.filter(|one| is_unknown(&actions, own.clone(), &one.action));
                found.extend(
                    unknown.map(|one| unknown_action(&one.action, resource, &one.location)),
                );
            }
        }
        found
    }

    /// Reports actions of schemas. A schema can be ignored for actions of rules, of principal
    /// policies included.
    fn unknown_to_schemas(&self, kinds: &Kinds<'_>) -> Vec<Diagnostic> {
        let rules = self.resolved.principal.iter().flat_map(|policy| &policy.rules);
        let of_principals = ByKind::of(rules.map(|rule| {
            let actions = rule.actions.iter().map(|one| one.action.as_str());
            (sanitized(&rule.resource), actions.collect())
        }));
        let mut found = Vec::new();
        for policy in &self.resolved.resource {
            let Schemas { principal, resource } = &policy.schemas;
            let ignored = principal.iter().chain(resource);
            let ignored = ignored.filter(|schema| !schema.ignore_when_actions.is_empty());
            for schema in ignored {
                let kind = sanitized(&policy.head.name);
                let Some(actions) = kinds.actions(&kind) else { continue };
                let unknown = schema.ignore_when_actions.iter();
                let more = of_principals.actions(&kind);
                let unknown = unknown.filter(|action| is_unknown(&actions, more.clone(), action));
                let name = &policy.head.name;
                found.extend(unknown.map(|action| unknown_action(action, name, &schema.location)));
            }
        }
        found
    }
}

/// Returns true if `action` fits none of the known actions, and there are some.
fn is_unknown<'a>(
    actions: &Actions<'_>,
    more: impl Iterator<Item = &'a str>,
    action: &str,
) -> bool {
    // An exact name is the common case, and quickly found.
    if actions.contains(action) || actions.iter().any(|known| !disjoint(known, action)) {
        return false;
    }
    let mut are_some = !actions.is_empty();
    for known in more {
        are_some = true;
        if !disjoint(known, action) {
            return false;
        }
    }
    are_some
}

fn unknown_action(action: &str, resource: &str, location: &Location) -> Diagnostic {
    let message =
        format!("no rule of a resource policy for `{resource}` mentions the action `{action}`");
    Diagnostic::lint(Lint::UnknownAction, location, message)
}
