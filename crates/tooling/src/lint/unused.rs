//! Definitions, exported sets, imports and derived roles that nothing uses.
//!
//! A use counts if it is in an expression that a rule or a derived role needs, directly or through
//! variables. A policy that is disabled uses nothing.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::attr::Attr;

use super::{Lint, Linter};
use wardgate_compiler::cel::references;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{
    Body, Definition, Definitions, DerivedRolesBody, Export, Named, Policy, ResourceBody,
    RoleDefinition,
};
use wardgate_compiler::source::Location;

/// The origin of a name: a set by its name, or the policy itself.
type Origin<'p> = Option<&'p str>;

/// Names that one policy uses.
type UsedNames<'p> = BTreeSet<(Origin<'p>, &'p str)>;

/// The used definitions of exported sets: the name of the set, and the name of the definition.
type Uses<'p> = BTreeSet<(&'p str, &'p str)>;

#[derive(Default)]
struct Usage<'p> {
    variables: Uses<'p>,
    constants: Uses<'p>,
    roles: Uses<'p>,
    imported_variables: BTreeSet<&'p str>,
    imported_constants: BTreeSet<&'p str>,
    imported_roles: BTreeSet<&'p str>,
}

/// The exported sets by their names.
#[derive(Default)]
struct Sets<'p> {
    variables: BTreeMap<&'p str, &'p Export<ExprSource>>,
    constants: BTreeMap<&'p str, &'p Export<Attr>>,
    roles: BTreeMap<&'p str, &'p DerivedRolesBody>,
}

impl Linter<'_> {
    pub(super) fn unused(&self) -> Vec<Diagnostic> {
        let policies = &self.repository.policies;
        let mut search = Search {
            linter: self,
            sets: Sets::of(policies),
            used: Usage::default(),
            found: Vec::new(),
        };
        policies.iter().for_each(|policy| search.policy(policy));
        policies.iter().for_each(|policy| search.set(policy));
        search.found
    }
}

impl<'p> Sets<'p> {
    fn of(policies: &'p [Policy]) -> Self {
        let mut sets = Self::default();
        for policy in policies {
            match &policy.body {
                Body::ExportVariables(set) => drop(sets.variables.insert(&set.name, set)),
                Body::ExportConstants(set) => drop(sets.constants.insert(&set.name, set)),
                Body::DerivedRoles(set) => drop(sets.roles.insert(&set.name, set)),
                Body::Resource(_) | Body::Principal(_) | Body::Role(_) | Body::Limit(_) => {}
            }
        }
        sets
    }
}

struct Search<'l, 'p> {
    linter: &'l Linter<'p>,
    sets: Sets<'p>,
    used: Usage<'p>,
    found: Vec<Diagnostic>,
}

impl<'p> Search<'_, 'p> {
    fn policy(&mut self, policy: &'p Policy) {
        let (variables, constants) = match &policy.body {
            Body::Resource(body) => {
                self.roles(body);
                (&body.common.variables, &body.common.constants)
            }
            Body::Principal(body) => (&body.common.variables, &body.common.constants),
            Body::Role(body) => (&body.common.variables, &body.common.constants),
            Body::DerivedRoles(body) => (&body.variables, &body.constants),
            Body::Limit(body) => (&body.variables, &body.constants),
            Body::ExportVariables(_) | Body::ExportConstants(_) => return,
        };
        let names = Names {
            variables: origins(variables, |set| Some(&self.sets.variables.get(set)?.definitions)),
            constants: origins(constants, |set| Some(&self.sets.constants.get(set)?.definitions)),
        };
        let (used_variables, used_constants) = self.closure(&names, expressions(&policy.body));
        self.used.imported_variables.extend(variables.imports.iter().map(|set| set.name.as_str()));
        self.used.imported_constants.extend(constants.imports.iter().map(|set| set.name.as_str()));
        self.count("variable", Lint::UnusedVariable, variables, &used_variables);
        self.count("constant", Lint::UnusedConstant, constants, &used_constants);
        self.used.variables.extend(exported(&used_variables));
        self.used.constants.extend(exported(&used_constants));
    }

    /// Reports the definitions and imports that a policy does not use.
    fn count<T>(
        &mut self,
        what: &str,
        lint: Lint,
        definitions: &'p Definitions<T>,
        used: &UsedNames<'p>,
    ) {
        for one in &definitions.local {
            if !used.contains(&(None, one.name.as_str())) {
                self.found.push(unused(what, lint, one));
            }
        }
        let sets: BTreeSet<&str> =
            wardgate_engine::order::in_order(used.iter().filter_map(|(origin, _)| *origin));
        for import in definitions.imports.iter().filter(|it| !sets.contains(it.name.as_str())) {
            self.found.push(unused_import(import, &format!("{what}s")));
        }
    }

    /// Returns the names that expressions use, and those that the variables among them use in turn.
    fn closure(
        &self,
        names: &Names<'p>,
        expressions: Vec<&'p ExprSource>,
    ) -> (UsedNames<'p>, UsedNames<'p>) {
        let (mut variables, mut constants) = (BTreeSet::new(), BTreeSet::new());
        let mut pending = expressions;
        while let Some(expression) = pending.pop() {
            let Some(tree) = self.linter.parsed.tree(&expression.text) else { continue };
            let read = references(&tree);
            for name in &read.constants {
                if let Some((name, (origin, _))) = names.constants.get_key_value(name.as_str()) {
                    constants.insert((*origin, *name));
                }
            }
            for name in &read.variables {
                if let Some((name, (origin, value))) = names.variables.get_key_value(name.as_str())
                    && variables.insert((*origin, *name))
                {
                    pending.push(value);
                }
            }
        }
        (variables, constants)
    }

    fn roles(&mut self, body: &'p ResourceBody) {
        let named = body.rules.iter().flat_map(|rule| &rule.derived_roles);
        let named: BTreeSet<&str> =
            wardgate_engine::order::in_order(named.map(|role| role.name.as_str()));
        for import in &body.import_derived_roles {
            self.used.imported_roles.insert(&import.name);
            let Some(set) = self.sets.roles.get(import.name.as_str()) else { continue };
            let used = set.definitions.iter().filter(|role| named.contains(role.name.as_str()));
            let used: Vec<_> = used.map(|role| (set.name.as_str(), role.name.as_str())).collect();
            if used.is_empty() {
                self.found.push(unused_import(import, "derived roles"));
            }
            self.used.roles.extend(used);
        }
    }

    /// Reports a set that no policy imports, or else its definitions that no policy uses.
    fn set(&mut self, policy: &'p Policy) {
        let used = &self.used;
        let (what, name, imported, unused) = match &policy.body {
            Body::ExportVariables(set) => {
                let unused = unused_of(set, &used.variables, "variable", Lint::UnusedVariable);
                ("variables", &set.name, &used.imported_variables, unused)
            }
            Body::ExportConstants(set) => {
                let unused = unused_of(set, &used.constants, "constant", Lint::UnusedConstant);
                ("constants", &set.name, &used.imported_constants, unused)
            }
            Body::DerivedRoles(set) => {
                ("derived roles", &set.name, &used.imported_roles, unused_roles(set, &used.roles))
            }
            Body::Resource(_) | Body::Principal(_) | Body::Role(_) | Body::Limit(_) => return,
        };
        if imported.contains(name.as_str()) {
            return self.found.extend(unused);
        }
        let message = format!("no policy imports the {what} `{name}`");
        self.found.push(Diagnostic::lint(Lint::UnusedExport, &policy.location, message));
    }
}

/// The definitions of names in one policy, and their origins.
struct Names<'p> {
    variables: BTreeMap<&'p str, (Origin<'p>, &'p ExprSource)>,
    constants: BTreeMap<&'p str, (Origin<'p>, &'p Attr)>,
}

fn origins<'p, T>(
    definitions: &'p Definitions<T>,
    set: impl Fn(&str) -> Option<&'p Vec<Definition<T>>>,
) -> BTreeMap<&'p str, (Origin<'p>, &'p T)> {
    let mut names = BTreeMap::new();
    for import in &definitions.imports {
        for one in set(&import.name).into_iter().flatten() {
            names.insert(one.name.as_str(), (Some(import.name.as_str()), &one.value));
        }
    }
    let local = definitions.local.iter();
    names.extend(local.map(|one| (one.name.as_str(), (None, &one.value))));
    names
}

/// Returns the expressions of a policy's rules or derived roles.
fn expressions(body: &Body) -> Vec<&ExprSource> {
    let (conditions, outputs): (Vec<_>, Vec<_>) = match body {
        Body::Resource(body) => {
            body.rules.iter().map(|rule| (&rule.condition, Some(&rule.output))).unzip()
        }
        Body::Principal(body) => {
            let rules = body.rules.iter().flat_map(|rule| &rule.actions);
            rules.map(|rule| (&rule.condition, Some(&rule.output))).unzip()
        }
        Body::Role(body) => {
            body.rules.iter().map(|rule| (&rule.condition, Some(&rule.output))).unzip()
        }
        Body::DerivedRoles(body) => {
            body.definitions.iter().map(|role| (&role.condition, None)).unzip()
        }
        Body::Limit(body) => return body.expressions().collect(),
        Body::ExportVariables(_) | Body::ExportConstants(_) => (Vec::new(), Vec::new()),
    };
    let conditions = conditions.into_iter().flatten().flat_map(|one| one.expressions());
    let outputs = outputs.into_iter().flatten().flat_map(|one| one.expressions());
    conditions.chain(outputs).collect()
}

fn exported<'p>(used: &UsedNames<'p>) -> Vec<(&'p str, &'p str)> {
    used.iter().filter_map(|(origin, name)| Some(((*origin)?, *name))).collect()
}

fn unused<T>(what: &str, lint: Lint, one: &Definition<T>) -> Diagnostic {
    let message = format!("this policy does not use the {what} `{}`", one.name);
    Diagnostic::lint(lint, &key_location(one), message)
}

fn unused_of<T>(set: &Export<T>, used: &Uses<'_>, what: &str, lint: Lint) -> Vec<Diagnostic> {
    let is_used = |one: &&Definition<T>| used.contains(&(set.name.as_str(), one.name.as_str()));
    let unused = set.definitions.iter().filter(|one| !is_used(one));
    let diagnostic = |one: &Definition<T>| {
        let message = format!("no policy uses the exported {what} `{}`", one.name);
        Diagnostic::lint(lint, &key_location(one), message)
    };
    unused.map(diagnostic).collect()
}

fn unused_roles(set: &DerivedRolesBody, used: &Uses<'_>) -> Vec<Diagnostic> {
    let is_used = |one: &&RoleDefinition| used.contains(&(set.name.as_str(), one.name.as_str()));
    let unused = set.definitions.iter().filter(|one| !is_used(one));
    let diagnostic = |one: &RoleDefinition| {
        let message = format!("no rule names the derived role `{}`", one.name);
        Diagnostic::lint(Lint::UnusedDerivedRole, &one.location, message)
    };
    unused.map(diagnostic).collect()
}

fn unused_import(import: &Named, what: &str) -> Diagnostic {
    let message =
        format!("this policy uses none of the {what} that it imports from `{}`", import.name);
    Diagnostic::lint(Lint::UnusedImport, &import.location, message)
}

fn key_location<T>(one: &Definition<T>) -> Location {
    Location { position: one.key, ..one.location.clone() }
}
