//! Looks policies up: one pass over all of them for each question.

use wardgate_compiler::policy::model::ScopePermissions;
use wardgate_compiler::resolve::model::{
    Head, PrincipalPolicy, Resolved, ResourcePolicy, RolePolicy,
};
use wardgate_engine::names::sanitized;

/// Returns `scope` and the scopes above it, nearest first.
fn upwards(scope: &str) -> Vec<String> {
    let mut scopes = vec![scope.to_owned()];
    let mut rest = scope;
    while let Some((above, _)) = rest.rsplit_once('.') {
        scopes.push(above.to_owned());
        rest = above;
    }
    if !scope.is_empty() {
        scopes.push(String::new());
    }
    scopes
}

/// Returns the scopes to search: those from `scope` upwards for which `has_policies`. Unless the
/// search is lenient there is none when `scope` itself has no policies.
pub(super) fn scopes(
    scope: &str,
    lenient: bool,
    has_policies: impl Fn(&str) -> bool,
) -> Vec<String> {
    if !lenient && !has_policies(scope) {
        return Vec::new();
    }
    upwards(scope).into_iter().filter(|scope| has_policies(scope)).collect()
}

pub(super) fn is_principal_scope(policies: &Resolved, scope: &str) -> bool {
    policies.principal.iter().any(|policy| policy.head.scope == scope)
}

/// Returns true if a policy of resources or roles has this scope. A role policy counts by its
/// rules.
pub(super) fn is_resource_scope(policies: &Resolved, scope: &str) -> bool {
    let by_role = |policy: &RolePolicy| policy.head.scope == scope && !policy.rules.is_empty();
    policies.resource.iter().any(|policy| policy.head.scope == scope)
        || policies.role.iter().any(by_role)
}

pub(super) fn resource<'p>(
    policies: &'p Resolved,
    kind: &str,
    version: &str,
    scope: &str,
) -> Option<&'p ResourcePolicy> {
    let fits = |head: &Head| {
        sanitized(&head.name) == sanitized(kind) && head.version == version && head.scope == scope
    };
    policies.resource.iter().find(|policy| fits(&policy.head))
}

pub(super) fn principal<'p>(
    policies: &'p Resolved,
    id: &str,
    version: &str,
    scope: &str,
) -> Option<&'p PrincipalPolicy> {
    policies.principal.iter().find(|policy| is(&policy.head, id, version, scope))
}

pub(super) fn role<'p>(
    policies: &'p Resolved,
    role: &str,
    version: &str,
    scope: &str,
) -> Option<&'p RolePolicy> {
    policies.role.iter().find(|policy| is(&policy.head, role, version, scope))
}

fn is(head: &Head, name: &str, version: &str, scope: &str) -> bool {
    head.name == name && head.version == version && head.scope == scope
}

/// Returns `role` and all that it inherits from in exactly this scope, each once, parents first
/// followed by their parents.
pub(super) fn with_ancestors(policies: &Resolved, role: &str, scope: &str) -> Vec<String> {
    let mut ancestors = Vec::new();
    inherit(policies, role, scope, &mut ancestors);
    ancestors.insert(0, role.to_owned());
    ancestors
}

fn inherit(policies: &Resolved, role: &str, scope: &str, found: &mut Vec<String>) {
    let of_role = |policy: &&RolePolicy| policy.head.name == role && policy.head.scope == scope;
    for policy in policies.role.iter().filter(of_role) {
        for parent in &policy.parent_roles {
            if !found.contains(parent) {
                found.push(parent.clone());
                inherit(policies, parent, scope, found);
            }
        }
    }
}

/// Returns true if an allow in `scope` counts only if a scope further up allows too.
pub(super) fn needs_consent(policies: &Resolved, scope: &str) -> bool {
    let resource = policies.resource.iter().map(|policy| &policy.head);
    let mut heads = resource.chain(policies.principal.iter().map(|policy| &policy.head));
    heads.any(|head| {
        head.scope == scope
            && head.scope_permissions == ScopePermissions::RequireParentalConsentForAllows
    })
}
