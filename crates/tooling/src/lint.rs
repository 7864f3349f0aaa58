//! The linter: probable mistakes of an author, in policies that compile.
//!
//! The linter changes no table. A finding is certain: an unreachable rule decides no request, and a
//! condition that is always false is never true. The merely likely is not reported.

mod allow;
pub(crate) mod comments;
mod conditions;
mod evadable_limit;
mod hot_key;
mod lenient;
mod logic;
mod pattern;
mod roles;
mod rules;
mod schemas;
mod shadowed_limit;
mod strict;
mod topics;
mod unused;

use logic::{Logic, Parsed};
use std::path::Path;
use wardgate_compiler::Options;
use wardgate_compiler::compile::{FilesByPath, resolve_and_emit, schema_in};
pub use wardgate_compiler::diagnostics::Lint;
use wardgate_compiler::diagnostics::{self, Diagnostic};
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::model::{DerivedRole, Head, Resolved};
use wardgate_compiler::schema::{Load, missing_schemas};

/// Compiles the policies below a directory, and returns the findings of the linter, or else the errors
/// of the compiler.
#[must_use]
pub fn lint_dir(root: &Path, options: &Options) -> Vec<Diagnostic> {
    lint(&Repository::read(root), options, &|path| schema_in(root, path))
}

/// Returns the same for policies in memory: paths with `/` between their segments, and contents.
///
/// ```
/// use wardgate_compiler::Options;
/// use wardgate_tooling::lint_files;
///
/// let policy = r#"
/// apiVersion: api.cerbos.dev/v1
/// resourcePolicy:
///   resource: album
///   version: default
///   variables: { local: { unused: P.id } }
///   rules:
///     - { actions: [view], roles: [user], effect: EFFECT_ALLOW }
/// "#;
/// let files = [("album.yaml".to_owned(), policy.into())];
/// let findings = lint_files(&files, &Options::default());
/// assert_eq!(findings[0].code.name(), "unused-variable");
/// ```
#[must_use]
pub fn lint_files(files: &[(String, Vec<u8>)], options: &Options) -> Vec<Diagnostic> {
    let found = FilesByPath::of(files);
    lint(&found.repository(), options, &|path| found.schema(path))
}

fn lint(repository: &Repository, options: &Options, load: &Load<'_>) -> Vec<Diagnostic> {
    match resolve_and_emit(repository, options, load) {
        Ok(_) if repository.policies.is_empty() && repository.rules.is_empty() => {
            vec![Diagnostic::no_policies()]
        }
        Ok((resolved, _)) => findings(repository, &resolved, options, load),
        Err(errors) => errors,
    }
}

/// Returns the findings of policies that compile, except those that comments in them allow.
fn findings(
    repository: &Repository,
    resolved: &Resolved,
    options: &Options,
    load: &Load<'_>,
) -> Vec<Diagnostic> {
    let parsed = Parsed::new();
    let linter = Linter { repository, resolved, options, parsed: &parsed };
    let mut found = linter.unused();
    found.extend(linter.rules());
    found.extend(linter.conditions());
    found.extend(linter.strict(load, &found));
    found.extend(linter.lenient());
    found.extend(missing_schemas(resolved, load));
    found.extend(linter.roles());
    found.extend(linter.schemas(load));
    found.extend(linter.topics());
    found.extend(linter.hot_keys());
    found.extend(linter.evadable_limits());
    found.extend(linter.shadowed_limits());
    let mut found = allow::without_allowed(repository, found);
    diagnostics::sort(&mut found);
    found
}

/// The policies, and the facts derived from them.
struct Linter<'p> {
    repository: &'p Repository,
    resolved: &'p Resolved,
    options: &'p Options,
    parsed: &'p Parsed,
}

impl<'p> Linter<'p> {
    /// Returns the logic of a policy's expressions.
    fn logic(&self, head: &'p Head) -> Logic<'p> {
        Logic::new(self.parsed, &head.constants, &head.variables, self.options)
    }

    /// Returns the logic of a derived role's condition.
    fn role_logic(&self, role: &'p DerivedRole) -> Logic<'p> {
        Logic::new(self.parsed, &role.constants, &role.variables, self.options)
    }
}
