//! Resolves the imports of policies.
//!
//! Each policy gets the derived roles that its rules name and the variables and constants that its
//! expressions use, and no others. Imported but unused definitions must still be well formed.

pub mod model;
mod names;
mod order;
mod references;
mod sets;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use self::model::{
    DerivedRole, Head, Limit, PrincipalPolicy, Resolved, ResourcePolicy, RolePolicy, Variable,
};
use self::names::Names;
use self::references::Cache;
use self::sets::Sets;
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::message::joined;
use crate::nearest::suggestion;
use crate::policy::model::{
    Body, Common, LimitBody, Policy, PrincipalBody, ResourceBody, RoleBody, ScopePermissions,
};
use crate::policy::name::{DERIVED_ROLES, set_key};
use crate::repository::Repository;
use crate::source::Location;
use wardgate_engine::attr::Attr;
use wardgate_engine::order::in_order;

/// Resolves the policies of a repository, and returns the errors beside the policies that are
/// sound.
#[must_use]
pub fn resolve(repository: &Repository) -> (Resolved, Vec<Diagnostic>) {
    let mut resolver = Resolver::new(repository.policies.iter());
    let mut resolved = resolver.run(&repository.policies);
    sort(&mut resolved);
    resolved.unused = resolver.unused.into_values().cloned().collect();
    (resolved, resolver.errors)
}

/// Resolves some policies against the sets of others, among which they need not be. Returns the errors of these
/// policies and of what they import.
#[must_use]
pub fn resolve_some<'r>(
    policies: &[&'r Policy],
    sets: &[&'r Policy],
) -> (Resolved, Vec<Diagnostic>) {
    let mut resolver = Resolver::new(sets.iter().copied());
    let mut resolved = resolver.run(policies.iter().copied());
    sort(&mut resolved);
    resolved.unused = resolver.unused.into_values().cloned().collect();
    (resolved, resolver.errors)
}

fn sort(resolved: &mut Resolved) {
    wardgate_engine::order::sort_by(&mut resolved.resource, |a, b| a.head.order(&b.head));
    wardgate_engine::order::sort_by(&mut resolved.principal, |a, b| a.head.order(&b.head));
    wardgate_engine::order::sort_by(&mut resolved.role, |a, b| a.head.order(&b.head));
    wardgate_engine::order::sort_by(&mut resolved.limit, |a, b| a.body.name.cmp(&b.body.name));
}

struct Resolver<'r> {
    sets: Sets<'r>,
    cache: Cache,
    /// The derived roles of each set that was imported, by the key of the set.
    roles: HashMap<String, BTreeMap<&'r str, DerivedRole>>,
    /// Unused expressions by file and offset.
    unused: BTreeMap<(&'r str, usize), &'r ExprSource>,
    errors: Vec<Diagnostic>,
}

/// The names that some expressions use.
#[derive(Default)]
struct UsedNames<'r> {
    variables: BTreeSet<&'r str>,
    constants: BTreeSet<&'r str>,
}

impl<'r> Resolver<'r> {
    fn new(policies: impl Iterator<Item = &'r Policy> + Clone) -> Self {
        Self {
            sets: Sets::new(policies),
            cache: Cache::default(),
            roles: HashMap::new(),
            unused: BTreeMap::new(),
            errors: Vec::new(),
        }
    }

    fn run(&mut self, policies: impl IntoIterator<Item = &'r Policy>) -> Resolved {
        let mut resolved = Resolved::default();
        for policy in policies.into_iter().filter(|policy| policy.sound) {
            self.policy(policy, &mut resolved);
        }
        resolved
    }

    fn policy(&mut self, policy: &'r Policy, resolved: &mut Resolved) {
        match &policy.body {
            Body::Resource(body) => resolved.resource.push(self.resource(policy, body)),
            Body::Principal(body) => resolved.principal.push(self.principal(policy, body)),
            Body::Role(body) => resolved.role.push(self.role(policy, body)),
            Body::Limit(body) => resolved.limit.push(self.limit(policy, body)),
            Body::DerivedRoles(_) | Body::ExportVariables(_) | Body::ExportConstants(_) => return,
        }
        self.errors.extend(policy.deferred.iter().cloned());
    }

    fn resource(&mut self, policy: &'r Policy, body: &'r ResourceBody) -> ResourcePolicy {
        let derived_roles = self.derived_roles(body);
        let expressions = body.rules.iter().flat_map(|rule| {
            let condition = rule.condition.iter().flat_map(|condition| condition.expressions());
            condition.chain(rule.output.expressions())
        });
        ResourcePolicy {
            head: self.head(policy, &body.common, expressions),
            schemas: body.schemas.clone(),
            derived_roles,
            rules: body.rules.clone(),
        }
    }

    fn principal(&mut self, policy: &'r Policy, body: &'r PrincipalBody) -> PrincipalPolicy {
        let rules = body.rules.iter().flat_map(|rule| &rule.actions);
        let expressions = rules.flat_map(|rule| {
            let condition = rule.condition.iter().flat_map(|condition| condition.expressions());
            condition.chain(rule.output.expressions())
        });
        PrincipalPolicy {
            head: self.head(policy, &body.common, expressions),
            rules: body.rules.clone(),
        }
    }

    fn role(&mut self, policy: &'r Policy, body: &'r RoleBody) -> RolePolicy {
        let expressions = body.rules.iter().flat_map(|rule| {
            let condition = rule.condition.iter().flat_map(|condition| condition.expressions());
            condition.chain(rule.output.expressions())
        });
        let mut head = self.head(policy, &body.common, expressions);
        // A role policy narrows the allows of other policies in any scope.
        head.scope_permissions = ScopePermissions::RequireParentalConsentForAllows;
        RolePolicy { head, parent_roles: body.parent_roles.clone(), rules: body.rules.clone() }
    }

    fn limit(&mut self, policy: &'r Policy, body: &'r LimitBody) -> Limit {
        let (constants, variables) = (&body.constants, &body.variables);
        let cache = &mut self.cache;
        let names = Names::resolve(&self.sets, constants, variables, cache, &mut self.errors);
        let used = self.used(&names, body.expressions());
        self.keep_unused(&names, &used);
        Limit {
            body: body.clone(),
            constants: used.constants(&names),
            variables: used.variables(&names),
            location: policy.location.clone(),
        }
    }

    fn head(
        &mut self,
        policy: &'r Policy,
        common: &'r Common,
        expressions: impl Iterator<Item = &'r ExprSource>,
    ) -> Head {
        let names = Names::resolve(
            &self.sets,
            &common.constants,
            &common.variables,
            &mut self.cache,
            &mut self.errors,
        );
        let used = self.used(&names, expressions);
        self.keep_unused(&names, &used);
        Head {
            name: common.name.clone(),
            version: common.version.clone(),
            scope: common.scope.clone(),
            key: policy.key(),
            scope_permissions: common.scope_permissions.unwrap_or_default(),
            constants: used.constants(&names),
            variables: used.variables(&names),
            annotations: policy.annotations.clone(),
            location: policy.location.clone(),
        }
    }

    /// Returns the names that the expressions use, and those that the variables among them use in
    /// turn.
    fn used(
        &mut self,
        names: &Names<'r>,
        expressions: impl Iterator<Item = &'r ExprSource>,
    ) -> UsedNames<'r> {
        let mut used = UsedNames::default();
        let mut pending = Vec::new();
        for expression in expressions {
            self.unknown(names, expression);
            pending.push(expression);
        }
        while let Some(expression) = pending.pop() {
            let references = self.cache.of(&expression.text);
            for (name, _) in &references.constants {
                used.constants
                    .extend(names.constants.get_key_value(name.as_str()).map(|(k, _)| *k));
            }
            for (name, _) in &references.variables {
                if let Some((name, definition)) = names.variables.get_key_value(name.as_str())
                    && used.variables.insert(name)
                {
                    pending.push(&definition.value);
                }
            }
        }
        used
    }

    /// Reports the names in an expression that nothing defines.
    fn unknown(&mut self, names: &Names<'r>, expression: &ExprSource) {
        if names.is_partial {
            return;
        }
        let references = self.cache.of(&expression.text);
        let constants = references.constants.iter();
        let constants = constants.filter(|(name, _)| !names.constants.contains_key(name.as_str()));
        let variables = references.variables.iter();
        let variables = variables.filter(|(name, _)| !names.variables.contains_key(name.as_str()));
        let constants = constants.map(|one| (Code::UndefinedConstant, "constant", one));
        let variables = variables.map(|one| (Code::UndefinedVariable, "variable", one));
        for (code, what, (name, offset)) in constants.chain(variables) {
            let message = format!("no {what} `{name}` is defined or imported");
            let error = Diagnostic::error(code, &expression.at, message);
            let expected = names.suggestion(code, name);
            self.errors.push(error.at(expression.locate(*offset)).with(None, expected));
        }
    }

    fn keep_unused(&mut self, names: &Names<'r>, used: &UsedNames<'r>) {
        for (name, definition) in &names.variables {
            if !used.variables.contains(name) {
                self.keep(&definition.value);
            }
        }
    }

    fn keep(&mut self, expression: &'r ExprSource) {
        let at = (expression.at.file.path.as_str(), expression.scalar.offset);
        self.unused.insert(at, expression);
    }

    /// Returns the derived roles that the rules name.
    fn derived_roles(&mut self, body: &'r ResourceBody) -> BTreeMap<String, DerivedRole> {
        let mut imported: BTreeMap<&'r str, Vec<(&str, &Location)>> = BTreeMap::new();
        for import in &body.import_derived_roles {
            let key = set_key(DERIVED_ROLES, &import.name);
            self.compile_set(&key);
            for name in self.roles.get(&key).into_iter().flat_map(BTreeMap::keys) {
                imported.entry(name).or_default().push((&import.name, &import.location));
            }
        }
        let is_partial = self.sets.any_unsound(DERIVED_ROLES, &body.import_derived_roles);
        let mut roles = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for named in body.rules.iter().flat_map(|rule| &rule.derived_roles) {
            let sets = imported.get(named.name.as_str()).map(Vec::as_slice).unwrap_or_default();
            match sets {
                [] if is_partial => {}
                [] => {
                    let message = format!("no import defines the derived role `{}`", named.name);
                    let expected = suggestion(&named.name, imported.keys().copied());
                    let error =
                        Diagnostic::error(Code::UnknownDerivedRole, &named.location, message);
                    self.errors.push(error.with(None, expected));
                }
                [(set, _)] => {
                    let set = self.roles.get(&set_key(DERIVED_ROLES, set));
                    if let Some(role) = set.and_then(|set| set.get(named.name.as_str())) {
                        roles.insert(named.name.clone(), role.clone());
                    }
                }
                sets if seen.insert(&named.name) => {
                    let error = self.ambiguous(&named.name, &named.location, sets);
                    self.errors.push(error);
                }
                _ => {}
            }
        }
        roles
    }

    fn ambiguous(&self, role: &str, location: &Location, sets: &[(&str, &Location)]) -> Diagnostic {
        let locations: Vec<_> = sets
            .iter()
            .map(|(set, import)| {
                let key = set_key(DERIVED_ROLES, set);
                let file =
                    self.sets.roles.get(&key).map_or("", |(_, policy)| &policy.location.file.path);
                let at = import.position;
                format!("`{set}` in {file} (imported at {}:{})", at.line, at.column)
            })
            .collect();
        let message =
            format!("several imports define the derived role `{role}`: {}", joined(&locations));
        Diagnostic::error(Code::AmbiguousDerivedRole, location, message)
    }

    /// Resolves all roles of a set, once.
    fn compile_set(&mut self, key: &str) {
        let Some(&(body, policy)) = self.sets.roles.get(key) else { return };
        if self.roles.contains_key(key) {
            return;
        }
        self.errors.extend(policy.deferred.iter().cloned());
        let names = Names::resolve(
            &self.sets,
            &body.constants,
            &body.variables,
            &mut self.cache,
            &mut self.errors,
        );
        let mut all = UsedNames::default();
        let mut roles = BTreeMap::new();
        for definition in &body.definitions {
            let conditions = definition.condition.iter();
            let expressions: Vec<_> =
                conditions.flat_map(|condition| condition.expressions()).collect();
            let used = self.used(&names, expressions.iter().copied());
            expressions.iter().for_each(|expression| self.keep(expression));
            roles.insert(
                definition.name.as_str(),
                DerivedRole {
                    name: definition.name.clone(),
                    origin: key.to_owned(),
                    parent_roles: definition.parent_roles.clone(),
                    condition: definition.condition.clone(),
                    constants: used.constants(&names),
                    variables: used.variables(&names),
                },
            );
            all.variables.extend(used.variables);
        }
        self.keep_unused(&names, &all);
        self.roles.insert(key.to_owned(), roles);
    }
}

impl UsedNames<'_> {
    fn constants(&self, names: &Names<'_>) -> BTreeMap<String, Attr> {
        let used = names.constants.iter().filter(|(name, _)| self.constants.contains(*name));
        in_order(used.map(|(name, definition)| ((*name).to_owned(), definition.value.clone())))
    }

    fn variables(&self, names: &Names<'_>) -> Vec<Variable> {
        let used = names.order.iter().filter(|name| self.variables.contains(*name));
        let definition = |name: &&str| {
            let definition = names.variables.get(name)?;
            Some(Variable { name: (*name).to_owned(), expr: definition.value.clone() })
        };
        used.filter_map(definition).collect()
    }
}
