//! Suite `cerbos-parser`: files of policies, and their content or their errors.
//!
//! Three folders: `parser` has files with the policies that they hold, `policy_formats` the same
//! policies as YAML and as JSON, `parser_wkt` one value of every shape as YAML and as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::repository::Repository;
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::yaml::{self, Kind, Node};

use super::finding::{Finding, compare, list, unsound};
use super::vectors::{items, json, word};
use super::{Case, Failure, Outcome, files, policy_json, stem, text, tree};

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let testdata = corpora.join("cerbos/testdata");
    let mut cases = Vec::new();
    for path in files(&testdata.join("parser"), "json")? {
        let test = json(&path)?;
        let input = text(&path.with_extension("json.input"))?;
        cases.push(Case::new(format!("parser/{}", stem(&path)), move || run(&test, &input)));
    }
    formats(&testdata.join("policy_formats"), &mut cases)?;
    values(&testdata.join("parser_wkt"), &mut cases)?;
    Ok(cases)
}

fn run(test: &Json, input: &str) -> Outcome {
    let read = Read::new("input", input);
    let wanted = list(test, "wantErrors", |error| Finding::wanted(kind_of(error), "input", error));
    if wanted.is_empty() {
        return read.sound(items(test, "want")).into();
    }
    compare(&wanted, &without_unexpected(&read.errors, &wanted, input), kind).into()
}

/// Drops the errors behind the last one that the corpus expects in a document: Cerbos gives up a
/// document at its first error of form, and reads on in the next.
fn without_unexpected(found: &[Diagnostic], wanted: &[Finding], input: &str) -> Vec<Diagnostic> {
    let document = |line: u64| {
        let lines = input.lines().take(usize::try_from(line).unwrap_or(usize::MAX));
        lines.filter(|line| *line == "---").count()
    };
    let mut last: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for at in wanted.iter().filter(|one| one.kind == PARSE).filter_map(|one| one.at) {
        let last = last.entry(document(at.0)).or_default();
        *last = at.max(*last);
    }
    let mut found = found.to_vec();
    found.retain(|error| {
        let at = error.position.map_or((0, 0), |at| (u64::from(at.line), u64::from(at.column)));
        last.get(&document(at.0)).is_none_or(|last| at <= *last)
    });
    found
}

/// The content of a file by itself, with no other file looked up.
struct Read {
    repository: Repository,
    errors: Vec<Diagnostic>,
    /// True if a directory may hold such a file.
    is_alone: bool,
}

impl Read {
    fn new(name: &str, input: &str) -> Self {
        let path = if input.trim_start().starts_with('{') { "input.json" } else { "input.yaml" };
        let mut repository = Repository::from_files([(path, input.as_bytes())]);
        let mut errors = std::mem::take(&mut repository.errors);
        let is_alone = !errors.iter().any(|error| error.code == Code::SeveralPolicies);
        errors.retain(|error| !is_about_others(error.code));
        errors.iter_mut().for_each(|error| error.file = name.to_owned());
        Self { repository, errors, is_alone }
    }

    /// Compares the policies with messages of protobuf, as JSON.
    fn sound(&self, wanted: &[Json]) -> Result<(), Failure> {
        Failure::unless(self.errors.is_empty(), || unsound(&self.errors))?;
        let wanted = wanted.iter().filter_map(|want| want.get("message")).map(policy_json::normal);
        let found = self.repository.policies.iter().map(policy_json::policy);
        tree::same(&wanted.collect(), &found.collect())
    }
}

/// Returns true if an error is about other files, or about the other content of a file.
fn is_about_others(code: Code) -> bool {
    matches!(
        code,
        Code::MissingImport
            | Code::MissingAncestor
            | Code::DuplicatePolicy
            | Code::ScopePermissionsConflict
            | Code::SeveralPolicies
    )
}

fn kind_of(error: &Json) -> &str {
    match word(error, "kind") {
        "KIND_PARSE_ERROR" => PARSE,
        "KIND_VALIDATION_ERROR" => VALIDATION,
        other => other,
    }
}

/// Returns the kind of a diagnostic in the words of the corpus.
#[must_use]
pub fn kind(code: Code) -> &'static str {
    match code {
        Code::Parse | Code::Syntax | Code::Unreadable => PARSE,
        Code::Validation => VALIDATION,
        other => other.name(),
    }
}

/// Adds the cases of `policy_formats`: every file must be in order, and the two forms of a policy
/// must have the same content.
fn formats(folder: &Path, cases: &mut Vec<Case>) -> Result<(), String> {
    for path in files(folder, "yaml")? {
        let name = format!("policy_formats/{}", stem(&path));
        let yaml = text(&path)?;
        let several = stem(&path).starts_with("multiple");
        let json = path.with_extension("json");
        let json = json.is_file().then(|| text(&json)).transpose()?;
        cases.push(Case::new(name, move || {
            let of_yaml = Read::new("yaml", &yaml);
            let Some(json) = &json else { return one_policy(&of_yaml, !several) };
            let of_json = Read::new("json", json);
            let errors = [of_yaml.errors, of_json.errors].concat();
            if !errors.is_empty() {
                return Outcome::Failed(unsound(&errors));
            }
            let write = |read: &Repository| read.policies.iter().map(policy_json::policy).collect();
            tree::same(&write(&of_json.repository), &write(&of_yaml.repository)).into()
        }));
    }
    Ok(())
}

/// Checks the number of policies: a directory takes one from each file, though a file that holds
/// more may be read.
fn one_policy(read: &Read, is_sound: bool) -> Outcome {
    let count = read.repository.policies.len();
    match (read.errors.as_slice(), read.is_alone == is_sound) {
        ([], true) if count > 0 => Outcome::Passed,
        ([], _) => Outcome::failed(format!("one policy: {is_sound}"), format!("{count} policies")),
        (errors, _) => Outcome::Failed(unsound(errors)),
    }
}

/// Adds the cases of `parser_wkt`: the values must be the same from both forms. The corpus reads
/// them as fields of a message that is made for the test, so an error in such a field has no
/// counterpart here.
fn values(folder: &Path, cases: &mut Vec<Case>) -> Result<(), String> {
    let (yaml, json) = (text(&folder.join("valid.yaml"))?, text(&folder.join("valid.json"))?);
    cases.push(Case::new("parser_wkt/valid", move || {
        match (value(&yaml, "valid.yaml"), value(&json, "valid.json")) {
            (Ok(yaml), Ok(json)) => tree::same(&json, &yaml).into(),
            (Err(errors), _) | (_, Err(errors)) => Outcome::Failed(unsound(&errors)),
        }
    }));
    for name in ["invalid.yaml", "invalid.json"] {
        if folder.join(name).is_file() {
            cases.push(Case::new(format!("parser_wkt/{name}"), || {
                Outcome::Skipped(
                    "a field of a message that only the tests of Cerbos have".to_owned(),
                )
            }));
        }
    }
    Ok(())
}

fn value(text: &str, path: &str) -> Result<Json, Vec<Diagnostic>> {
    let file = SourceFile::new(path, text.as_bytes())
        .map_err(|error| vec![Diagnostic::refused_source(path, error)])?;
    let read = yaml::read(&file);
    match read.errors.is_empty() {
        true => Ok(read.documents.iter().map(plain).collect()),
        false => Err(read.errors),
    }
}

fn plain(node: &Node) -> Json {
    match &node.kind {
        Kind::Null => Json::Null,
        Kind::Bool(value) => Json::Bool(*value),
        Kind::Integer(value) => i64::try_from(*value).map_or(Json::Null, Json::from),
        Kind::Float(value) => Json::from(*value),
        Kind::String(text, _) => Json::from(text.as_ref()),
        Kind::Seq(items) => items.iter().map(plain).collect(),
        Kind::Map(entries) => {
            let key = |node: &Node| match plain(node) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            entries.iter().map(|entry| (key(&entry.key), plain(&entry.value))).collect()
        }
    }
}

const PARSE: &str = "parse error";
const VALIDATION: &str = "validation error";
