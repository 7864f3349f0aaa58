//! The files of a directory that authors write: policies, rules, schemas, suites and fixtures.

use std::path::{Path, PathBuf};

use crate::suite::files::is_suite_file;
use wardgate_compiler::repository::files::{SCHEMAS, is_policy_file};
use wardgate_compiler::repository::ignore::{FILE, Ignore};
use wardgate_compiler::walk::walk;

/// Returns the files below `root` that the compiler, the linter or a test run may read, by their
/// names and `.wardgateignore`. Unreadable directories are passed over: reading them reports the
/// reason.
#[must_use]
pub fn source_files(root: &Path) -> Vec<PathBuf> {
    let ignore = Ignore::below(root, &mut Vec::new());
    let mut found = Vec::new();
    let _ = walk(root, &mut |entry| {
        let (path, is_directory) = (entry.path(), entry.kind.is_dir());
        let is_own = path == FILE || path.split('/').next() == Some(SCHEMAS);
        if !is_own && ignore.leaves_out(&path, is_directory) {
            return Ok(false);
        }
        if !is_directory && (is_own || is_policy_file(&path) || is_suite_file(&path)) {
            found.push(entry.location.clone());
        }
        Ok(true)
    });
    found
}
