//! A policy repository: the documents of a directory, and the laws among them.
//!
//! The order in which a file system lists its entries reaches no result: files are taken in the
//! order of their paths. All errors of all files are reported together, those of the later stages
//! included as far as they can be found.

mod check;
pub mod files;
pub mod ignore;
mod rules;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use wardgate_spocp::RuleSet;

use crate::diagnostics::{Code, Diagnostic};
use crate::limits::MAX_POLICIES;
use crate::policy::model::Policy;
use crate::policy::parse;
use crate::source::{Location, SourceFile};
use crate::yaml::{self, Node};

/// The policies of a directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repository {
    /// The policies in use, in the order of their files.
    pub policies: Vec<Policy>,
    /// The policies that say `disabled: true`, which count as absent.
    pub disabled: Vec<Disabled>,
    /// The number of files and directories that `.wardgateignore` leaves out.
    pub ignored: usize,
    /// The rules of SPOCP, in the order of their files.
    pub rules: RuleSet,
    /// All errors so far. The policies above are those that could be read all the same, so that
    /// later stages can report their errors too.
    pub errors: Vec<Diagnostic>,
}

/// A policy that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    /// The key that it would go by.
    pub key: String,
    /// The start of its document.
    pub location: Location,
}

impl Repository {
    /// Reads the policies below a directory.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let (mut ignored, mut errors) = (0, Vec::new());
        let files = files::directory(root, &mut ignored, &mut errors);
        let files = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        Self { ignored, ..Self::load(files, errors) }
    }

    /// Reads policies from memory: paths with `/` between their segments, and contents. Files that
    /// a directory may hold beside its policies, such as tests, are passed over in the same way.
    pub fn from_files<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Self {
        let (mut ignored, mut errors) = (0, Vec::new());
        let files = files::select(files, &mut ignored, &mut errors);
        Self { ignored, ..Self::load(files, errors) }
    }

    fn load<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        mut errors: Vec<Diagnostic>,
    ) -> Self {
        let mut repository = Self::default();
        for (path, bytes) in files {
            repository.add_file(path, bytes, &mut errors);
        }
        check::repository(&mut repository.policies, &mut errors);
        repository.errors = errors;
        repository
    }

    fn add_file(&mut self, path: &str, bytes: &[u8], errors: &mut Vec<Diagnostic>) {
        if rules::is_rules_name(path) {
            return rules::read(path, bytes, &mut self.rules, errors);
        }
        let file = match SourceFile::new(path, bytes) {
            Ok(file) => file,
            Err(error) => return errors.push(Diagnostic::refused_source(path, error)),
        };
        let mut read = yaml::read(&file);
        let is_whole = read.errors.is_empty();
        errors.append(&mut read.errors);
        let documents = if is_whole { read.documents } else { Vec::new() };
        if let Some(error) = foreign(&file, &documents) {
            return errors.push(error);
        }
        if let [_, second, ..] = documents.as_slice() {
            errors.push(several(&file, second));
        }
        for document in &documents {
            match parse::policy(&file, document, errors) {
                Some(policy) if policy.disabled => {
                    self.disabled.push(Disabled { key: policy.key(), location: policy.location });
                }
                Some(policy) => self.policies.push(policy),
                None => {}
            }
        }
        if self.policies.len() > MAX_POLICIES {
            let error =
                Diagnostic::in_file(Code::Limit, path, "the directory holds too many policies");
            errors.push(error.expected(format!("at most {}", MAX_POLICIES)));
            self.policies.truncate(MAX_POLICIES);
        }
    }
}

/// Returns an error for each import of some policies that is not among `sets`.
#[must_use]
pub fn missing_imports(importers: &[&Policy], sets: &[&Policy]) -> Vec<Diagnostic> {
    check::lacking(importers, sets)
}

/// Returns the keys of the sets that a policy imports.
pub fn imports(policy: &Policy) -> impl Iterator<Item = String> {
    check::imported(policy)
}

/// Returns the one error of a file in which no document is a policy, for any number of other fields
/// and documents.
fn foreign(file: &Arc<SourceFile>, documents: &[Node]) -> Option<Diagnostic> {
    let first = documents.first()?;
    if !documents.iter().all(parse::is_foreign) {
        return None;
    }
    let location = parse::foreign_field(file, first);
    let error = Diagnostic::error(Code::Validation, &location, "this file holds no policy");
    let expected = format!(
        "`apiVersion: {}`, or a line about the file in `{}`",
        parse::API_VERSION,
        ignore::FILE
    );
    Some(error.with(parse::other_version(first), Some(expected)))
}

/// Cerbos takes one policy from a file and refuses a file that has more, so that none goes unseen.
fn several(file: &Arc<SourceFile>, second: &Node) -> Diagnostic {
    let location =
        Location { file: Arc::clone(file), position: second.position, path: Arc::from("$") };
    let message = "the file holds a second policy: write it into a file of its own";
    Diagnostic::error(Code::SeveralPolicies, &location, message)
}
