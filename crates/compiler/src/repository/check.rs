//! The laws among the documents of a repository.
//!
//! A document with an error of its own counts as present, and is not checked further. Each policy
//! is defined once; each import and each ancestor scope is there; and the policies of a scope agree
//! on its permissions, because they are a property of the scope and not of one policy.

use std::collections::{BTreeMap, HashMap, HashSet};

use wardgate_engine::glob;

use crate::diagnostics::{Code, Diagnostic};
use crate::message::joined;
use crate::nearest::suggestion;
use crate::policy::model::{Body, Common, Definitions, Named, Policy, ScopePermissions};
use crate::policy::name::{
    DERIVED_ROLES, EXPORT_CONSTANTS, EXPORT_VARIABLES, ancestors, policy_key, set_key,
};
use crate::source::Location;

pub(super) fn repository(policies: &mut Vec<Policy>, errors: &mut Vec<Diagnostic>) {
    drop_duplicates(policies, errors);
    let keys: HashSet<String> = policies.iter().map(Policy::key).collect();
    let all: Vec<&Policy> = policies.iter().collect();
    missing_imports(&all, &all, &keys, errors);
    missing_ancestors(policies, &keys, errors);
    conflicting_permissions(policies, errors);
}

fn drop_duplicates(policies: &mut Vec<Policy>, errors: &mut Vec<Diagnostic>) {
    let mut first: HashMap<String, Location> = HashMap::new();
    policies.retain(|policy| {
        let key = policy.key();
        let Some(other) = first.get(&key) else {
            first.insert(key, policy.location.clone());
            return true;
        };
        let message = format!("policy `{key}` is defined already, at {}", display(other));
        errors.push(Diagnostic::error(Code::DuplicatePolicy, &policy.location, message));
        false
    });
}

/// Returns an error for each import of some policies that is not among `sets`.
pub(super) fn lacking(importers: &[&Policy], sets: &[&Policy]) -> Vec<Diagnostic> {
    let keys = sets.iter().map(|policy| policy.key()).collect();
    let mut errors = Vec::new();
    missing_imports(importers, sets, &keys, &mut errors);
    errors
}

fn missing_imports(
    importers: &[&Policy],
    policies: &[&Policy],
    keys: &HashSet<String>,
    errors: &mut Vec<Diagnostic>,
) {
    let mut suggestions = Suggestions { policies, known: HashMap::new() };
    for policy in importers.iter().filter(|policy| policy.sound) {
        let (roles, constants, variables) = imports(&policy.body);
        let sets = [
            (roles, DERIVED_ROLES, "derived roles"),
            (constants, EXPORT_CONSTANTS, "constants"),
            (variables, EXPORT_VARIABLES, "variables"),
        ];
        for (imports, kind, what) in sets {
            for import in imports.iter().filter(|i| !keys.contains(&set_key(kind, &i.name))) {
                let message = format!("no file defines the {what} `{}`", import.name);
                let error = Diagnostic::error(Code::MissingImport, &import.location, message);
                errors.push(error.with(None, suggestions.of(kind, &import.name)));
            }
        }
    }
}

/// Suggestions for imports of sets that do not exist, each computed once: thousands of policies may
/// lack the same set.
struct Suggestions<'p> {
    policies: &'p [&'p Policy],
    known: HashMap<(&'static str, &'p str), Option<String>>,
}

impl<'p> Suggestions<'p> {
    fn of(&mut self, kind: &'static str, name: &'p str) -> Option<String> {
        let suggest = || suggestion(name, sets_of(kind, self.policies));
        self.known.entry((kind, name)).or_insert_with(suggest).clone()
    }
}

/// Returns the names of the sets of one kind.
fn sets_of<'p>(kind: &str, policies: &'p [&'p Policy]) -> impl Iterator<Item = &'p str> + Clone {
    let name = move |policy: &'p Policy| match (&policy.body, kind) {
        (Body::DerivedRoles(set), DERIVED_ROLES) => Some(set.name.as_str()),
        (Body::ExportVariables(set), EXPORT_VARIABLES) => Some(set.name.as_str()),
        (Body::ExportConstants(set), EXPORT_CONSTANTS) => Some(set.name.as_str()),
        _ => None,
    };
    policies.iter().copied().filter_map(name)
}

/// Returns the keys of the sets that a policy imports.
pub(super) fn imported(policy: &Policy) -> impl Iterator<Item = String> {
    let (roles, constants, variables) = imports(&policy.body);
    let of = |kind, names: &[Named]| {
        names.iter().map(|named| set_key(kind, &named.name)).collect::<Vec<_>>()
    };
    let sets = [
        of(DERIVED_ROLES, roles),
        of(EXPORT_CONSTANTS, constants),
        of(EXPORT_VARIABLES, variables),
    ];
    sets.into_iter().flatten()
}

type Imports<'p> = (&'p [Named], &'p [Named], &'p [Named]);

/// Returns the imported derived roles, constants and variables.
fn imports(body: &Body) -> Imports<'_> {
    fn of<'p, C, V>(
        roles: &'p [Named],
        constants: &'p Definitions<C>,
        variables: &'p Definitions<V>,
    ) -> Imports<'p> {
        (roles, &constants.imports, &variables.imports)
    }
    match body {
        Body::Resource(body) => {
            of(&body.import_derived_roles, &body.common.constants, &body.common.variables)
        }
        Body::Principal(body) => of(&[], &body.common.constants, &body.common.variables),
        Body::Role(body) => of(&[], &body.common.constants, &body.common.variables),
        Body::DerivedRoles(body) => of(&[], &body.constants, &body.variables),
        Body::Limit(body) => of(&[], &body.constants, &body.variables),
        Body::ExportVariables(_) | Body::ExportConstants(_) => (&[], &[], &[]),
    }
}

/// Reports missing ancestors. A role policy about the resource may also fill a scope above a
/// resource policy.
fn missing_ancestors(policies: &[Policy], keys: &HashSet<String>, errors: &mut Vec<Diagnostic>) {
    let patterns = role_patterns(policies);
    let mut missing: BTreeMap<String, Vec<&Policy>> = BTreeMap::new();
    for policy in policies.iter().filter(|policy| policy.sound) {
        let (kind, common) = match &policy.body {
            Body::Resource(body) => ("resource", &body.common),
            Body::Principal(body) => ("principal", &body.common),
            _ => continue,
        };
        for scope in ancestors(&common.scope) {
            let key = policy_key(kind, &common.name, &common.version, scope);
            let is_filled = || kind == "resource" && fills(&patterns, common, scope);
            if !keys.contains(&key) && !is_filled() {
                missing.entry(key).or_default().push(policy);
            }
        }
    }
    for (key, mut descendants) in missing {
        wardgate_engine::order::sort_by(&mut descendants, |a, b| a.key().cmp(&b.key()));
        let Some(first) = descendants.first() else { continue };
        let names: Vec<_> =
            descendants.iter().map(|policy| format!("`{}`", policy.key())).collect();
        let message = format!("policy `{key}` is missing above {}", joined(&names));
        errors.push(Diagnostic::error(Code::MissingAncestor, &first.location, message));
    }
}

/// The resource patterns of role policies by scope and version.
type Patterns<'p> = HashMap<(&'p str, &'p str), Vec<&'p str>>;

fn role_patterns(policies: &[Policy]) -> Patterns<'_> {
    let mut patterns: Patterns<'_> = HashMap::new();
    for policy in policies {
        if let Body::Role(body) = &policy.body {
            let key = (body.common.scope.as_str(), body.common.version.as_str());
            let resources = body.rules.iter().map(|rule| rule.resource.as_str());
            patterns.entry(key).or_default().extend(resources);
        }
    }
    patterns
}

fn fills(patterns: &Patterns<'_>, common: &Common, scope: &str) -> bool {
    let patterns = patterns.get(&(scope, common.version.as_str()));
    patterns
        .is_some_and(|patterns| patterns.iter().any(|pattern| glob::matches(pattern, &common.name)))
}

fn conflicting_permissions(policies: &[Policy], errors: &mut Vec<Diagnostic>) {
    let mut first: HashMap<&str, (ScopePermissions, &Location)> = HashMap::new();
    for policy in policies.iter().filter(|policy| policy.sound) {
        let common = match &policy.body {
            Body::Resource(body) => &body.common,
            Body::Principal(body) => &body.common,
            _ => continue,
        };
        let permissions = common.scope_permissions.unwrap_or_default();
        let here = &common.scope_permissions_location;
        let (other, there) = *first.entry(&common.scope).or_insert((permissions, here));
        if other != permissions {
            let scope = match common.scope.as_str() {
                "" => "the root scope".to_owned(),
                scope => format!("scope `{scope}`"),
            };
            let message = format!(
                "the policies of {scope} disagree on `scopePermissions`: {} says `{}`",
                display(there),
                name(other)
            );
            let error = Diagnostic::error(Code::ScopePermissionsConflict, here, message);
            errors.push(error.found(format!("`{}`", name(permissions))));
        }
    }
}

const fn name(permissions: ScopePermissions) -> &'static str {
    match permissions {
        ScopePermissions::OverrideParent => "SCOPE_PERMISSIONS_OVERRIDE_PARENT",
        ScopePermissions::RequireParentalConsentForAllows => {
            "SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS"
        }
    }
}

fn display(location: &Location) -> String {
    format!("{}:{}:{}", location.file.path, location.position.line, location.position.column)
}
