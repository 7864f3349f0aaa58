//! Definitions, exported sets, imports and derived roles that nothing uses.
//!
//! A use counts if it is in an expression that a rule or a derived role needs, directly or through
//! variables. A policy that is disabled uses nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Lint, Linter};
use crate::cel::references;
use crate::diagnostics::Diagnostic;
use crate::expression::ExprSource;
use crate::policy::model::{
    Body, Definition, Definitions, DerivedRolesBody, Export, Named, Policy,
};
use crate::source::Place;
use wardgate_engine::attr::Attr;

/// Where a name comes from: a set by its name, or the policy itself.
type Origin<'p> = Option<&'p str>;

/// Names that one policy uses.
type UsedHere<'p> = BTreeSet<(Origin<'p>, &'p str)>;

/// What is used of the exported sets: the name of the set, and the name of the definition.
type Uses<'p> = BTreeSet<(&'p str, &'p str)>;

#[derive(Default)]
struct Used<'p> {
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
            used: Used::default(),
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
                Body::Resource(_) | Body::Principal(_) | Body::Role(_) => {}
            }
        }
        sets
    }
}

struct Search<'l, 'p> {
    linter: &'l Linter<'p>,
    sets: Sets<'p>,
    used: Used<'p>,
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

    /// Reports what a policy defines or imports and does not use.
    fn count<T>(
        &mut self,
        what: &str,
        lint: Lint,
        definitions: &'p Definitions<T>,
        used: &UsedHere<'p>,
    ) {
        for one in &definitions.local {
            if !used.contains(&(None, one.name.as_str())) {
                self.found.push(unused(what, lint, one));
            }
        }
        let uses = |set: &str| used.iter().any(|(origin, _)| *origin == Some(set));
        for import in definitions.imports.iter().filter(|import| !uses(&import.name)) {
            self.found.push(unused_import(import, &format!("{what}s")));
        }
    }

    /// Returns what expressions use, and what the variables among it use in turn.
    fn closure(
        &self,
        names: &Names<'p>,
        expressions: Vec<&'p ExprSource>,
    ) -> (UsedHere<'p>, UsedHere<'p>) {
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

    fn roles(&mut self, body: &'p crate::policy::model::ResourceBody) {
        for import in &body.import_derived_roles {
            self.used.imported_roles.insert(&import.name);
            let Some(set) = self.sets.roles.get(import.name.as_str()) else { continue };
            let named = |name: &str| {
                body.rules.iter().flat_map(|rule| &rule.derived_roles).any(|role| role.name == name)
            };
            let used = set.definitions.iter().filter(|role| named(&role.name));
            let used: Vec<_> = used.map(|role| (set.name.as_str(), role.name.as_str())).collect();
            if used.is_empty() {
                self.found.push(unused_import(import, "derived roles"));
            }
            self.used.roles.extend(used);
        }
    }

    /// Reports a set that nobody imports, or else what nobody uses of it.
    fn set(&mut self, policy: &'p Policy) {
        let used = &self.used;
        match &policy.body {
            Body::ExportVariables(set) => {
                let imported = used.imported_variables.contains(set.name.as_str());
                let unused = set
                    .definitions
                    .iter()
                    .filter(|one| !used.variables.contains(&(&set.name, &one.name)));
                let unused = unused
                    .map(|one| unused_export("variable", Lint::UnusedVariable, one))
                    .collect();
                self.report_set(policy, imported, "variables", &set.name, unused);
            }
            Body::ExportConstants(set) => {
                let imported = used.imported_constants.contains(set.name.as_str());
                let unused = set
                    .definitions
                    .iter()
                    .filter(|one| !used.constants.contains(&(&set.name, &one.name)));
                let unused = unused
                    .map(|one| unused_export("constant", Lint::UnusedConstant, one))
                    .collect();
                self.report_set(policy, imported, "constants", &set.name, unused);
            }
            Body::DerivedRoles(set) => {
                let imported = used.imported_roles.contains(set.name.as_str());
                let unused = set
                    .definitions
                    .iter()
                    .filter(|one| !used.roles.contains(&(&set.name, &one.name)));
                let message = |name: &str| format!("no rule names the derived role `{name}`");
                let unused = unused.map(|one| {
                    Diagnostic::lint(Lint::UnusedDerivedRole, &one.place, message(&one.name))
                });
                let unused = unused.collect();
                self.report_set(policy, imported, "derived roles", &set.name, unused);
            }
            Body::Resource(_) | Body::Principal(_) | Body::Role(_) => {}
        }
    }

    fn report_set(
        &mut self,
        policy: &Policy,
        imported: bool,
        what: &str,
        name: &str,
        unused: Vec<Diagnostic>,
    ) {
        if imported {
            return self.found.extend(unused);
        }
        let message = format!("no policy imports the {what} `{name}`");
        self.found.push(Diagnostic::lint(Lint::UnusedExport, &policy.place, message));
    }
}

/// What names stand for in one policy, and where they come from.
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
        Body::ExportVariables(_) | Body::ExportConstants(_) => (Vec::new(), Vec::new()),
    };
    let conditions = conditions.into_iter().flatten().flat_map(|one| one.expressions());
    let outputs = outputs.into_iter().flatten().flat_map(|one| one.expressions());
    conditions.chain(outputs).collect()
}

fn exported<'p>(used: &UsedHere<'p>) -> Vec<(&'p str, &'p str)> {
    used.iter().filter_map(|(origin, name)| Some(((*origin)?, *name))).collect()
}

fn unused<T>(what: &str, lint: Lint, one: &Definition<T>) -> Diagnostic {
    let message = format!("nothing in this policy uses the {what} `{}`", one.name);
    Diagnostic::lint(lint, &key_place(one), message)
}

fn unused_export<T>(what: &str, lint: Lint, one: &Definition<T>) -> Diagnostic {
    let message = format!("no policy uses the exported {what} `{}`", one.name);
    Diagnostic::lint(lint, &key_place(one), message)
}

fn unused_import(import: &Named, what: &str) -> Diagnostic {
    let message =
        format!("this policy uses none of the {what} that it imports from `{}`", import.name);
    Diagnostic::lint(Lint::UnusedImport, &import.place, message)
}

fn key_place<T>(one: &Definition<T>) -> Place {
    Place { position: one.key, ..one.place.clone() }
}
