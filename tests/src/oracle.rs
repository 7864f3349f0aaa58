//! The obvious evaluator: the decision algorithm as a person would carry it out on paper.
//!
//! It reads the resolved policies rule by rule for each action, role and scope; nothing is indexed
//! or interned, and no answer is remembered. Conditions are walked as trees. It does not use the
//! policy table, so all that it has in common with the engine is the algorithm itself.

mod calls;
mod cel;
mod pattern;
mod policies;
mod report;
mod schema;
mod trees;
mod value;
mod walk;

use std::collections::BTreeMap;

use wardgate_compiler::Options;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::{model::Resolved, resolve};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::names::trimmed_scope;
use wardgate_engine::request::Request;

pub use report::{Decided, Emitted, Report};
use trees::Trees;
use walk::Walk;

/// The policies, as they are read.
#[derive(Debug)]
pub struct Oracle {
    policies: Resolved,
    options: Options,
    trees: Trees,
}

impl Oracle {
    /// Reads policies.
    ///
    /// # Errors
    /// If the policies have errors; expressions are not looked into.
    pub fn new(files: &[(String, Vec<u8>)], options: &Options) -> Result<Self, Vec<Diagnostic>> {
        let files: BTreeMap<&str, &[u8]> =
            files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        let repository = Repository::from_files(files);
        let (policies, mut errors) = resolve(&repository);
        errors.extend(repository.errors);
        if errors.is_empty() {
            Ok(Self { policies, options: options.clone(), trees: Trees::default() })
        } else {
            Err(errors)
        }
    }

    /// Decides on every action of `request`.
    #[must_use]
    pub fn check(&self, request: &Request, now: Timestamp) -> Report {
        let mut request = request.clone();
        request.principal.scope = trimmed_scope(&request.principal.scope).to_owned();
        request.resource.scope = trimmed_scope(&request.resource.scope).to_owned();
        let mut walk = Walk::new(self, &request, now);
        for (at, action) in request.actions.iter().enumerate() {
            if !request.actions.iter().take(at).any(|before| before == action) {
                walk.action(action);
            }
        }
        walk.report
    }
}
