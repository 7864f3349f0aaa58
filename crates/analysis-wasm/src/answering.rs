//! The answers: those of the command, from files in memory.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_analysis::compare as comparing;
use wardgate_analysis::index::Index;
use wardgate_analysis::policies::{DraftError, IndexedPolicies};
use wardgate_analysis::proof::Basis;
use wardgate_analysis::report;
use wardgate_analysis::similar::Query;
use wardgate_analysis::suggestions::{Suggestions, need_proof};
use wardgate_compiler::compile::{FilesByPath, resolve_and_emit};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::PolicyTable;

use crate::message::Message;
use crate::options::{Analyzing, Comparing, Groups, Opening, Similar};
use crate::refusal::Refusal;

/// The policies of an instance.
#[derive(Debug)]
pub(crate) struct Indexed {
    policies: IndexedPolicies,
    directory: String,
}

impl Indexed {
    /// Indexes the files of a message.
    pub(crate) fn open(message: &Message<'_>) -> Result<Self, Refusal> {
        let Opening { table, directory } = message.head()?;
        let policies = IndexedPolicies::read(&message.files, &table.options()?);
        let policies = policies.map_err(|found| below(&directory, found))?;
        Ok(Self { policies, directory })
    }

    /// Returns the policies, which the package has indexed before.
    pub(crate) fn among(indexed: &mut Option<Self>) -> Result<&mut Self, Refusal> {
        indexed.as_mut().ok_or(Refusal::Malformed)
    }

    /// Replaces the policies of the file of a message.
    pub(crate) fn replace(&mut self, message: Message<'_>) -> Result<(), Refusal> {
        let [(path, contents)] = message.files.try_into().map_err(|_| Refusal::Malformed)?;
        let replaced = self.policies.replace(&path, &contents);
        replaced.map_err(|found| below(&self.directory, found))
    }

    /// Returns the policies that are most like a policy or a draft, and the rules that are most like its rules.
    pub(crate) fn similar(&self, message: &Message<'_>) -> Result<String, Refusal> {
        let Similar { to, top } = message.head()?;
        let index = self.policies.index();
        let queries: Vec<Query> = match (&to, message.files.as_slice()) {
            (Some(to), []) => {
                let rules = index.named(to);
                if rules.is_empty() {
                    return Err(Refusal::Range(format!("there is no policy or rule `{to}`")));
                }
                rules.into_iter().filter_map(|rule| index.query(rule)).collect()
            }
            (None, [(path, contents)]) => {
                self.policies.draft(path, contents).map_err(|error| of_draft(path, error))?
            }
            _ => return Err(Refusal::Malformed),
        };
        let is_of_policy = to.is_none_or(|to| !to.contains('#'));
        let alike = if is_of_policy { index.similar_policies(&queries, top) } else { Vec::new() };
        let found: Vec<_> =
            queries.iter().map(|query| (query, index.similar(query, top))).collect();
        let file = |file: &str| join(&self.directory, file);
        Ok(report::similar(index, &alike, &found, &file))
    }

    /// Returns the groups of rules.
    pub(crate) fn groups(&self, message: &Message<'_>) -> Result<String, Refusal> {
        let Groups { only } = message.head()?;
        let index = self.policies.index();
        let mut groups = index.groups();
        groups.retain(|group| only.is_empty() || only.iter().any(|name| name == group.kind.name()));
        let file = |file: &str| join(&self.directory, file);
        Ok(report::groups(index, &groups, &file).collect::<Json>().to_string())
    }
}

/// Returns the suggestions about the rules in the files of a message.
pub(crate) fn analyze(message: &Message<'_>) -> Result<String, Refusal> {
    let Analyzing { table, directory, only } = message.head()?;
    let options = table.options()?;
    let files = FilesByPath::of(&message.files);
    let load = |path: &str| files.schema(path);
    let repository = files.repository();
    let resolved = resolve_and_emit(&repository, &options, &load);
    let (resolved, _) = resolved.map_err(|found| below(&directory, found))?;
    if repository.policies.is_empty() {
        return Err(below(&directory, vec![Diagnostic::no_policies()]));
    }
    let wants = |kind: &str| only.is_empty() || only.iter().any(|name| name == kind);
    let index = Index::new(&resolved);
    let mut basis = if need_proof(wants) { Basis::new(&repository, &options, &load) } else { None };
    let found = Suggestions::of((&index, &resolved), basis.as_mut(), wants);
    let file = |file: &str| join(&directory, file);
    Ok(report::suggestions(&index, &found, &file).to_string())
}

/// Compares the files of a message before and after a change.
pub(crate) fn compare(message: Message<'_>) -> Result<String, Refusal> {
    let Comparing { table, old_files, directories: [old, new], now } = message.head()?;
    let (options, mut files) = (table.options()?, message.files);
    if old_files > files.len() {
        return Err(Refusal::Malformed);
    }
    let new_files = files.split_off(old_files);
    let now = moment(now).ok_or(Refusal::Malformed)?;
    let tables = (compiled(&files, &options), compiled(&new_files, &options));
    let found = match tables {
        (Ok(old), Ok(new)) => comparing::compare(&old, &new, now),
        (before, after) => {
            let errors = |table: Result<PolicyTable, _>, directory: &str| {
                located(directory, table.err().unwrap_or_default())
            };
            return Err(Refusal::Sides([errors(before, &old), errors(after, &new)]));
        }
    };
    let (old, new) = (|file: &str| join(&old, file), |file: &str| join(&new, file));
    Ok(report::comparison(&found, &old, &new).to_string())
}

fn compiled(
    files: &[(String, Vec<u8>)],
    options: &Options,
) -> Result<PolicyTable, Vec<Diagnostic>> {
    let compiled = compile_files(files, options)?;
    if compiled.policies == 0 && compiled.rules.is_empty() {
        return Err(vec![Diagnostic::no_policies()]);
    }
    PolicyTable::from_parts_with_limits(compiled.parts).map_err(|flaw| {
        let message = format!("the compiler wrote a malformed table: {flaw}");
        vec![Diagnostic::in_file(wardgate_compiler::diagnostics::Code::Limit, ".", message)]
    })
}

/// Returns the time in milliseconds since 1970.
fn moment(millis: i64) -> Option<Timestamp> {
    let nanos = u32::try_from(millis.rem_euclid(1000)).ok()?.checked_mul(1_000_000)?;
    Timestamp::new(millis.div_euclid(1000), nanos)
}

fn of_draft(path: &str, error: DraftError) -> Refusal {
    match error {
        DraftError::Diagnostics(found) => Refusal::Diagnostics(found),
        DraftError::NoPolicy => Refusal::Range(format!("the draft `{path}` holds no policy")),
    }
}

fn below(directory: &str, diagnostics: Vec<Diagnostic>) -> Refusal {
    Refusal::Diagnostics(located(directory, diagnostics))
}

/// Names files as the caller does.
fn located(directory: &str, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for diagnostic in &mut diagnostics {
        if diagnostic.file != "." {
            diagnostic.file = join(directory, &diagnostic.file);
        }
    }
    diagnostics
}

/// Returns a path below a folder, as the command writes it.
fn join(directory: &str, file: &str) -> String {
    Path::new(directory).join(file).display().to_string()
}
