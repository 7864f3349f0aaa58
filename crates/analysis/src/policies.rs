//! Policies in memory with the index of their rules, of which one file is replaced at a time: for editors.
//!
//! Policies must compile before they are indexed, as for the command: an index of half of the rules would
//! answer that something is not there. A file that replaces another is resolved against what it imports, and
//! those that import from it are resolved again; what else holds among files is not checked then.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_compiler::compile::{FilesByPath, resolve_and_emit};
use wardgate_compiler::diagnostics::{self, Code, Diagnostic};
use wardgate_compiler::policy::model::Policy;
use wardgate_compiler::repository::{Repository, imports, missing_imports};
use wardgate_compiler::resolve::model::Resolved;
use wardgate_compiler::resolve::resolve_some;
use wardgate_compiler::schema::Unavailable;
use wardgate_compiler::{Enforcement, Options, emit};

use crate::index::Index;
use crate::limits::MAX_RETIRED_RULES;
use crate::similar::Query;

/// Policies with the index of their rules.
#[derive(Debug)]
pub struct IndexedPolicies {
    /// The policies of each file.
    files: BTreeMap<String, Vec<Policy>>,
    /// The files with sets that others import.
    sets: BTreeSet<String>,
    index: Index,
}

/// A draft that cannot be compared.
#[derive(Clone, Debug)]
pub enum DraftError {
    /// The draft has errors, never none; they name its file as it was given.
    Diagnostics(Vec<Diagnostic>),
    /// The file holds no policy.
    NoPolicy,
}

impl IndexedPolicies {
    /// Reads and indexes policies: paths with `/` between their segments, and contents.
    ///
    /// # Errors
    /// All errors of the policies, sorted; never an empty list. Files without a policy are an error.
    pub fn read(files: &[(String, Vec<u8>)], options: &Options) -> Result<Self, Vec<Diagnostic>> {
        let files = FilesByPath::of(files);
        let repository = files.repository();
        let (resolved, _) = resolve_and_emit(&repository, options, &|path| files.schema(path))?;
        if repository.policies.is_empty() {
            return Err(vec![Diagnostic::no_policies()]);
        }
        Ok(Self::new(repository, &resolved))
    }

    /// Indexes policies that compile.
    #[must_use]
    pub fn new(repository: Repository, resolved: &Resolved) -> Self {
        let mut policies =
            Self { files: BTreeMap::new(), sets: BTreeSet::new(), index: Index::new(resolved) };
        for policy in repository.policies {
            let file = policy.location.file.path.clone();
            if policy.is_set() {
                policies.sets.insert(file.clone());
            }
            policies.files.entry(file).or_default().push(policy);
        }
        policies
    }

    /// Returns the index of the rules.
    #[must_use]
    pub const fn index(&self) -> &Index {
        &self.index
    }

    /// Replaces the policies of one file by those in its new contents, or takes a new file. A file without a policy
    /// takes the policies away. What is wrong among files and not within one, such as a policy that two of them
    /// define, is left to the compiler.
    ///
    /// # Errors
    /// The errors of the file, or of files that import from it, sorted; never an empty list. The index is as
    /// before then.
    pub fn replace(&mut self, file: &str, bytes: &[u8]) -> Result<(), Vec<Diagnostic>> {
        let read = Repository::from_files([(file, bytes)]);
        let mut errors = own_errors(&read);
        let old = self.put(file, read.policies);
        let changed = self.changed(file, &old);
        let affected: Vec<&Policy> =
            changed.iter().filter_map(|file| self.files.get(file)).flatten().collect();
        let sets = self.sets();
        errors.extend(missing_imports(&affected, &sets));
        let (resolved, more) = resolve_some(&affected, &sets);
        errors.extend(more);
        // Attributes that a schema lacks are no matter of similar rules.
        let options = Options { schema_enforcement: Enforcement::None, ..Options::default() };
        let emitted = emit::table(&resolved, &options, &|_| Err(Unavailable::Missing));
        errors.extend(emitted.err().unwrap_or_default());
        if !errors.is_empty() {
            self.put(file, old);
            diagnostics::sort(&mut errors);
            return Err(errors);
        }
        self.index.replace_all(&changed, &resolved);
        if self.index.retired() > MAX_RETIRED_RULES {
            self.renew();
        }
        Ok(())
    }

    /// Returns a question about each rule of a draft: a file of one policy that need not be among these. What it
    /// imports comes from them, and the rules of a policy that it would replace are no matches.
    ///
    /// # Errors
    /// The draft has errors, or holds no policy.
    pub fn draft(&self, file: &str, bytes: &[u8]) -> Result<Vec<Query>, DraftError> {
        let read = Repository::from_files([(file, bytes)]);
        let (drafted, sets): (Vec<&Policy>, _) = (read.policies.iter().collect(), self.sets());
        let mut errors = own_errors(&read);
        errors.extend(missing_imports(&drafted, &sets));
        refuse(errors)?;
        if drafted.is_empty() {
            return Err(DraftError::NoPolicy);
        }
        let (resolved, errors) = resolve_some(&drafted, &sets);
        refuse(errors.into_iter().filter(|one| one.file == file).collect())?;
        Ok(self.index.queries_of_draft(&resolved))
    }

    /// Puts policies in the place of those of a file, and returns these.
    fn put(&mut self, file: &str, policies: Vec<Policy>) -> Vec<Policy> {
        if policies.iter().any(Policy::is_set) {
            self.sets.insert(file.to_owned());
        } else {
            self.sets.remove(file);
        }
        if policies.is_empty() {
            return self.files.remove(file).unwrap_or_default();
        }
        self.files.insert(file.to_owned(), policies).unwrap_or_default()
    }

    /// Returns a file that was replaced and the files that import from it, if only by another.
    fn changed(&self, file: &str, old: &[Policy]) -> BTreeSet<String> {
        let mut files = BTreeSet::from([file.to_owned()]);
        let new = self.files.get(file).map_or(&[][..], Vec::as_slice);
        let of_sets = |policies: &[Policy]| -> Vec<String> {
            policies.iter().filter(|policy| policy.is_set()).map(Policy::key).collect()
        };
        let mut keys: BTreeSet<String> =
            [of_sets(old), of_sets(new)].concat().into_iter().collect();
        let mut known = 0;
        // A set imports from others, so that a change goes on to its importers.
        while known < keys.len() {
            known = keys.len();
            for (path, policies) in &self.files {
                let imports = |policy: &Policy| imports(policy).any(|key| keys.contains(&key));
                if policies.iter().any(imports) {
                    files.insert(path.clone());
                    keys.extend(of_sets(policies));
                }
            }
        }
        files
    }

    fn sets(&self) -> Vec<&Policy> {
        let files = self.sets.iter().filter_map(|file| self.files.get(file));
        files.flatten().filter(|policy| policy.is_set()).collect()
    }

    /// Makes the index anew, without what was replaced.
    fn renew(&mut self) {
        let all: Vec<&Policy> = self.files.values().flatten().collect();
        let (resolved, _) = resolve_some(&all, &self.sets());
        self.index = Index::new(&resolved);
    }
}

/// Returns the errors of one file that do not come from the absence of others.
fn own_errors(read: &Repository) -> Vec<Diagnostic> {
    let is_own =
        |one: &&Diagnostic| !matches!(one.code, Code::MissingAncestor | Code::MissingImport);
    read.errors.iter().filter(is_own).cloned().collect()
}

fn refuse(errors: Vec<Diagnostic>) -> Result<(), DraftError> {
    if errors.is_empty() { Ok(()) } else { Err(DraftError::Diagnostics(errors)) }
}
