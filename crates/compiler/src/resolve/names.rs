//! The variables and constants that the expressions of one policy may name.
//!
//! Imports come first, then the policy's own. A name has one definition; variables may name each
//! other in any order, but not in a circle.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::attr::Attr;

use super::order;
use super::references::Cache;
use super::sets::Sets;
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::message::joined;
use crate::nearest::suggestion;
use crate::policy::model::{Definition, Definitions, Export, Origin};
use crate::policy::name::{EXPORT_CONSTANTS, EXPORT_VARIABLES, is_identifier};
use crate::source::Location;

/// The definitions that names mean in one policy.
pub(super) struct Names<'r> {
    pub(super) constants: BTreeMap<&'r str, &'r Definition<Attr>>,
    pub(super) variables: BTreeMap<&'r str, &'r Definition<ExprSource>>,
    /// All variables, each after those it names.
    pub(super) order: Vec<&'r str>,
    /// True if an imported set could not be read in full.
    pub(super) is_partial: bool,
}

/// A definition, and where it entered the policy.
struct Candidate<'r, T> {
    definition: &'r Definition<T>,
    import: Option<&'r str>,
    at: &'r Location,
}

impl<'r> Names<'r> {
    pub(super) fn resolve(
        sets: &Sets<'r>,
        constants: &'r Definitions<Attr>,
        variables: &'r Definitions<ExprSource>,
        cache: &mut Cache,
        errors: &mut Vec<Diagnostic>,
    ) -> Self {
        let is_partial = sets.any_unsound(EXPORT_CONSTANTS, &constants.imports)
            || sets.any_unsound(EXPORT_VARIABLES, &variables.imports);
        let constants = gather(constants, |name| sets.constants(name));
        let variables = gather(variables, |name| sets.variables(name));
        let mut names = Self {
            constants: unique("constant", Code::ConstantRedefined, &constants, errors),
            variables: unique("variable", Code::VariableRedefined, &variables, errors),
            order: Vec::new(),
            is_partial,
        };
        valid_names(Code::InvalidConstantName, names.constants.values().copied(), errors);
        valid_names(Code::InvalidVariableName, names.variables.values().copied(), errors);
        let edges = names.edges(cache, errors);
        names.order = order::sort(&edges, &names.variables, errors);
        names
    }

    /// Returns the definition that an unknown name is nearest to.
    pub(super) fn suggestion(&self, code: Code, name: &str) -> Option<String> {
        match code {
            Code::UndefinedConstant => suggestion(name, self.constants.keys().copied()),
            _ => suggestion(name, self.variables.keys().copied()),
        }
    }

    /// Returns which variables each variable names, and reports the names that nothing defines.
    fn edges(
        &self,
        cache: &mut Cache,
        errors: &mut Vec<Diagnostic>,
    ) -> BTreeMap<&'r str, BTreeSet<&'r str>> {
        let mut edges = BTreeMap::new();
        for (name, definition) in &self.variables {
            let references = cache.of(&definition.value.text);
            let mut error = |code, offset, message: String, expected| {
                if self.is_partial && code != Code::CyclicalVariables {
                    return;
                }
                let position = definition.value.locate(offset);
                let error = Diagnostic::error(code, &definition.location, message).at(position);
                errors.push(error.with(None, expected));
            };
            for (constant, offset) in &references.constants {
                if !self.constants.contains_key(constant.as_str()) {
                    let message =
                        format!("variable `{name}` names the unknown constant `{constant}`");
                    let expected = self.suggestion(Code::UndefinedConstant, constant);
                    error(Code::UndefinedConstant, *offset, message, expected);
                }
            }
            let mut named = BTreeSet::new();
            for (variable, offset) in &references.variables {
                match self.variables.get_key_value(variable.as_str()) {
                    Some((key, _)) if key == name => {
                        let message = format!("variable `{name}` names itself");
                        error(Code::CyclicalVariables, *offset, message, None);
                    }
                    Some((key, _)) => {
                        named.insert(*key);
                    }
                    None => {
                        let message =
                            format!("variable `{name}` names the unknown variable `{variable}`");
                        let others = self.variables.keys().filter(|other| *other != name);
                        let expected = suggestion(variable, others.copied());
                        error(Code::UndefinedVariable, *offset, message, expected);
                    }
                }
            }
            edges.insert(*name, named);
        }
        edges
    }
}

fn gather<'r, T>(
    definitions: &'r Definitions<T>,
    set: impl Fn(&str) -> Option<&'r Export<T>>,
) -> Vec<Candidate<'r, T>> {
    let mut found = Vec::new();
    for import in &definitions.imports {
        let exported = set(&import.name).map(|set| set.definitions.as_slice()).unwrap_or_default();
        found.extend(exported.iter().map(|definition| Candidate {
            definition,
            import: Some(&import.name),
            at: &import.location,
        }));
    }
    let own = definitions.local.iter();
    found.extend(own.map(|definition| Candidate {
        definition,
        import: None,
        at: &definition.location,
    }));
    found
}

/// Keeps the last definition of each name and reports the names that have more than one.
fn unique<'r, T>(
    what: &str,
    code: Code,
    found: &[Candidate<'r, T>],
    errors: &mut Vec<Diagnostic>,
) -> BTreeMap<&'r str, &'r Definition<T>> {
    let mut by_name: BTreeMap<&str, Vec<&Candidate<'r, T>>> = BTreeMap::new();
    for one in found {
        by_name.entry(&one.definition.name).or_default().push(one);
    }
    let mut names = BTreeMap::new();
    for definitions in by_name.values() {
        let Some(last) = definitions.last() else { continue };
        names.insert(last.definition.name.as_str(), last.definition);
        if definitions.len() > 1 {
            let locations: Vec<_> = definitions.iter().map(|one| origin(one)).collect();
            let name = &last.definition.name;
            let message =
                format!("{what} `{name}` has several definitions: {}", joined(&locations));
            errors.push(Diagnostic::error(code, last.at, message));
        }
    }
    names
}

fn origin<T>(found: &Candidate<'_, T>) -> String {
    let Location { file, position, .. } = &found.definition.location;
    let what = match (found.import, found.definition.origin) {
        (Some(import), _) => format!("import `{import}`"),
        (None, Origin::TopLevel) => "the deprecated `variables` of the document".to_owned(),
        (None, _) => "`local`".to_owned(),
    };
    format!("{what} ({}:{}:{})", file.path, position.line, position.column)
}

fn valid_names<'r, T: 'r>(
    code: Code,
    definitions: impl Iterator<Item = &'r Definition<T>>,
    errors: &mut Vec<Diagnostic>,
) {
    for definition in definitions.filter(|definition| !is_identifier(&definition.name)) {
        let location = Location { position: definition.key, ..definition.location.clone() };
        let message = format!("`{}` cannot be named in an expression", definition.name);
        let error = Diagnostic::error(code, &location, message);
        errors.push(
            error.expected("letters, digits and `_`, a letter or `_` first, and no reserved word"),
        );
    }
}
