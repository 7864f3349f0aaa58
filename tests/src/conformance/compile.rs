//! Suite `cerbos-compile`: a policy with its dependencies, and the result of compiling them: the
//! policy with its imports looked up, or errors with their positions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value as Json;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::policy::model::Policy;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::model::Resolved;
use wardgate_compiler::resolve::resolve;
use wardgate_compiler::{Enforcement, Options, compile_files};

use super::finding::{Finding, compare, list, unsound};
use super::index::compiled_with;
use super::vectors::{self, items, word};
use super::{Case, Failure, Outcome, files, stem, text, tree, txtar, yaml};

mod golden;

/// Reads the cases.
///
/// # Errors
/// If a file is missing, or is not YAML or JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let testdata = corpora.join("cerbos/testdata");
    let schemas = schemas(&testdata.join("schema/fs"))?;
    let mut cases = Vec::new();
    for path in files(&testdata.join("compile"), "yaml")? {
        let mut unit = Unit { test: yaml(&path)?, files: schemas.clone(), golden: None };
        let archive = text(&path.with_extension("yaml.input"))?;
        let sources = txtar::files(&archive).into_iter();
        unit.files.extend(sources.map(|(name, text)| (name, text.into_bytes())));
        unit.stand_in_schemas();
        let golden = path.with_extension("yaml.golden");
        if golden.is_file() {
            let json = serde_json::from_str(&text(&golden)?);
            unit.golden = Some(json.map_err(|error| format!("{}: {error}", golden.display()))?);
        }
        cases.push(Case::new(stem(&path), move || unit.run()));
    }
    Ok(cases)
}

/// Returns the schemas that the policies of all cases may name, as files of one directory.
pub(super) fn schemas(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let paths = vectors::files(&folder.join("_schemas"))?;
    let file = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(folder).map_err(|error| error.to_string())?;
        Ok((name.to_string_lossy().replace('\\', "/"), text(path)?.into_bytes()))
    };
    paths.iter().map(file).collect()
}

struct Unit {
    test: Json,
    files: Vec<(String, Vec<u8>)>,
    golden: Option<Json>,
}

impl Unit {
    /// Adds the schemas that are missing here. The corpus may be a part of the full one: a schema
    /// that is not here, and that the case does not call missing, is replaced by one that accepts
    /// everything. No case of this suite depends on the content of such a schema.
    fn stand_in_schemas(&mut self) {
        let is_reported = |name: &str| {
            let errors = items(&self.test, "wantErrors").iter();
            errors.map(|error| word(error, "description")).any(|text| text.contains(name))
        };
        let texts: Vec<_> =
            self.files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
        let named: BTreeSet<String> = texts
            .iter()
            .flat_map(|text| text.split("ref: cerbos:///").skip(1))
            .filter_map(|rest| rest.split_whitespace().next())
            .filter(|name| !is_reported(name))
            .map(|name| format!("_schemas/{name}"))
            .collect();
        let missing =
            named.into_iter().filter(|name| !self.files.iter().any(|(path, _)| path == name));
        let missing: Vec<_> = missing.map(|name| (name, b"true".to_vec())).collect();
        self.files.extend(missing);
    }

    fn run(&self) -> Outcome {
        let files = self.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let repository = Repository::from_files(files);
        let main = word(&self.test, "mainDef");
        let main = repository.policies.iter().find(|policy| policy.location.file.path == main);
        let Some(main) = main else { return Outcome::failed("the main policy", "none") };
        let errors = self.errors(main, &repository);
        match items(&self.test, "wantErrors") {
            [] if !errors.is_empty() => Outcome::Failed(unsound(&errors)),
            [] => self.result(main, &resolve(&repository).0).into(),
            wanted => {
                let asks_above = wanted.iter().any(|error| word(error, "error") == MISSING);
                compare(&self.wanted(main), &as_reported(errors, asks_above), kind).into()
            }
        }
    }

    /// Compiles everything, and returns the errors of the main policy and of its dependencies.
    fn errors(&self, main: &Policy, repository: &Repository) -> Vec<Diagnostic> {
        let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
        let mut errors = compile_files(&self.files, &options).err().unwrap_or_default();
        let policies: BTreeMap<String, &Policy> =
            repository.policies.iter().map(|policy| (policy.key(), policy)).collect();
        let unit = compiled_with(main, &policies);
        let of_unit: BTreeSet<&str> = policies
            .iter()
            .filter(|(key, _)| unit.contains(*key))
            .map(|(_, policy)| policy.location.file.path.as_str())
            .collect();
        errors.retain(|error| match error.code {
            Code::MissingAncestor => error.message.contains(&format!("`{}`", main.key())),
            // The corpus gives the position within the schema in its sentence.
            Code::InvalidSchema => !error.file.starts_with("_schemas/"),
            Code::Syntax => !error.file.starts_with("_schemas/"),
            _ => of_unit.contains(error.file.as_str()),
        });
        errors
    }

    fn wanted(&self, main: &Policy) -> Vec<Finding> {
        list(&self.test, "wantErrors", |json| {
            let wanted = Finding::wanted(word(json, "error"), word(json, "file"), json);
            if wanted.kind != MISSING {
                return wanted;
            }
            // One error names all the policies below the missing one, and stands in one of their
            // files.
            let missing = word(json, "description").split('"').nth(1).unwrap_or_default();
            Finding { file: String::new(), ..wanted }.naming(missing).naming(main.key())
        })
    }

    fn result(&self, main: &Policy, resolved: &Resolved) -> Result<(), Failure> {
        let found = golden::written(main, resolved);
        if let Some(golden) = &self.golden {
            tree::same(&golden::normal(golden), &found)?;
        }
        golden::names(items(&self.test, "wantVariables"), &found)
    }
}

/// Drops the errors that the corpus does not report: a second error about one expression, an
/// unknown role at its first position, and, once a policy is wrong, that another above it is
/// missing.
fn as_reported(mut errors: Vec<Diagnostic>, asks_above: bool) -> Vec<Diagnostic> {
    errors.retain(|error| asks_above || error.code != Code::MissingAncestor);
    let last: BTreeMap<_, _> = errors
        .iter()
        .map(|error| ((error.file.clone(), error.message.clone()), error.field))
        .collect();
    errors.retain(|error| {
        let last = last.get(&(error.file.clone(), error.message.clone()));
        error.code != Code::UnknownDerivedRole || last == Some(&error.field)
    });
    errors.dedup_by(|later, earlier| {
        later.code == Code::InvalidExpression
            && earlier.code == later.code
            && (&later.file, later.field, &later.path)
                == (&earlier.file, earlier.field, &earlier.path)
    });
    errors
}

fn kind(code: Code) -> &'static str {
    match code {
        Code::AmbiguousDerivedRole => "ambiguous derived role",
        Code::ConstantRedefined => "constant redefined",
        Code::CyclicalVariables => "cyclical variable definitions",
        Code::EmptyOutput => "empty output",
        Code::InvalidConstantName => "invalid constant name",
        Code::InvalidExpression => "invalid expression",
        Code::InvalidSchema => "invalid schema",
        Code::InvalidVariableName => "invalid variable name",
        Code::MissingAncestor => MISSING,
        Code::MissingImport => "import not found",
        Code::ScriptUnsupported => "scripts in conditions are no longer supported",
        Code::UndefinedConstant => "undefined constant",
        Code::UndefinedVariable => "undefined variable",
        Code::UnknownDerivedRole => "unknown derived role",
        Code::Validation => "invalid resource rule",
        Code::VariableRedefined => "variable redefined",
        other => other.name(),
    }
}

const MISSING: &str = "missing policy definition";
