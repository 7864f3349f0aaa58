//! A policy repository: the documents of a directory, and what must hold among them.
//!
//! The order in which a file system lists its entries reaches no result: files are taken in the order
//! of their paths. All errors of all files are reported together, those of the later stages included as
//! far as they can be found.

mod check;
pub mod limits;
#[cfg(test)]
mod tests;
mod walk;

use std::path::Path;

use crate::diagnostics::{self, Code, Diagnostic};
use crate::policy::model::Policy;
use crate::policy::parse;
use crate::resolve;
use crate::source::{Place, SourceFile};
use crate::yaml;

/// The policies of a directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repository {
    /// The policies in use, in the order of their files.
    pub policies: Vec<Policy>,
    /// The policies that say `disabled: true`, which count as absent.
    pub disabled: Vec<Disabled>,
}

/// A policy that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    /// The key that it would go by.
    pub key: String,
    /// Where its document starts.
    pub place: Place,
}

impl Repository {
    /// Reads the policies below a directory.
    ///
    /// # Errors
    /// Everything that is wrong with them, sorted; never an empty list.
    pub fn read(root: &Path) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let files = walk::directory(root, &mut errors);
        Self::load(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), errors)
    }

    /// Reads policies from memory: paths with `/` between their segments, and contents. Files that
    /// a directory may hold beside its policies, such as tests, are passed over in the same way.
    ///
    /// # Errors
    /// Everything that is wrong with them, sorted; never an empty list.
    pub fn from_files<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let files = walk::select(files, &mut errors);
        Self::load(files, errors)
    }

    fn load<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        mut errors: Vec<Diagnostic>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut repository = Self::default();
        for (path, bytes) in files {
            repository.add_file(path, bytes, &mut errors);
        }
        check::repository(&mut repository.policies, &mut errors);
        if errors.is_empty() {
            return Ok(repository);
        }
        errors.extend(resolve::errors(&repository.policies));
        diagnostics::sort(&mut errors);
        Err(errors)
    }

    fn add_file(&mut self, path: &str, bytes: &[u8], errors: &mut Vec<Diagnostic>) {
        let file = match SourceFile::new(path, bytes) {
            Ok(file) => file,
            Err(error) => return errors.push(*error),
        };
        let mut read = yaml::read(&file);
        let is_whole = read.errors.is_empty();
        errors.append(&mut read.errors);
        let documents = if is_whole { read.documents } else { Vec::new() };
        for document in &documents {
            match parse::policy(&file, document, errors) {
                Some(policy) if policy.disabled => {
                    self.disabled.push(Disabled { key: policy.key(), place: policy.place });
                }
                Some(policy) => self.policies.push(policy),
                None => {}
            }
        }
        if self.policies.len() > limits::MAX_POLICIES {
            let error =
                Diagnostic::in_file(Code::Limit, path, "the directory holds too many policies");
            errors.push(error.expected(format!("at most {}", limits::MAX_POLICIES)));
            self.policies.truncate(limits::MAX_POLICIES);
        }
    }
}
