//! Which files are formatted: those that are named, and those of directories that are.
//!
//! A directory is walked as it is for `compile`, but test suites and `testdata` are entered too. Links
//! are not followed, so that nothing outside is written, and nothing is written twice.

use std::fs;
use std::path::{Path, PathBuf};

use wardgate_compiler::walk::walk;

use crate::failure::Failure;

/// Returns the files that a path names, sorted.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let about = fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
    if !about.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let unseen = walk(path, &mut |entry| {
        let name = entry.name.to_string_lossy();
        if entry.kind.is_file() && is_yaml(&name) {
            files.push(entry.location.clone());
        }
        let is_schemas = entry.is_at_root() && name == SCHEMAS;
        Ok(!name.starts_with('.') && !is_schemas)
    });
    if let Some(first) = unseen.first() {
        return Err(Failure::reading(&first.location, &first.error));
    }
    files.sort();
    Ok(files)
}

fn is_yaml(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !name.starts_with('.') && (lower.ends_with(".yaml") || lower.ends_with(".yml"))
}

/// The directory of the schemas, at the root of the policies.
const SCHEMAS: &str = "_schemas";
