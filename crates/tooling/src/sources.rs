//! Which files of a directory somebody has written: policies, rules, schemas, suites and fixtures.

use std::path::{Path, PathBuf};

use crate::suite::files::is_suite_file;
use wardgate_compiler::repository::files::{SCHEMAS, is_policy_file};
use wardgate_compiler::repository::ignore::{FILE, Ignore};
use wardgate_compiler::walk::walk;

/// Returns where the files below `root` are that compiling, looking through or testing may read, by their names
/// and what `.wardgateignore` leaves out. What cannot be looked at is passed over: reading it tells why.
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
