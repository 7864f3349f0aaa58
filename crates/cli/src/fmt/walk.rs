//! Which files are formatted: those that are named, and those of directories that are.
//!
//! A directory is walked as it is for `compile`, but test suites and `testdata` are entered too. Links
//! are not followed, so that nothing outside is written, and nothing is written twice.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wardgate_compiler::repository::limits::{MAX_DIRECTORY_DEPTH, MAX_ENTRIES};

use crate::failure::Failure;

/// Returns the files that a path names, sorted.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let about = fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
    if !about.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut pending = vec![(path.to_owned(), 0_usize)];
    let mut files = Vec::new();
    let mut seen = 0_usize;
    while let Some((directory, depth)) = pending.pop() {
        let failed = |error: io::Error| Failure::reading(&directory, &error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            seen = seen.saturating_add(1);
            if seen > MAX_ENTRIES || depth > MAX_DIRECTORY_DEPTH {
                let message = "it holds too many files, or nests too deeply";
                return Err(failed(io::Error::other(message)));
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().map_err(failed)?;
            let is_schemas = depth == 0 && name == SCHEMAS;
            if kind.is_dir() && !name.starts_with('.') && !is_schemas {
                pending.push((entry.path(), depth.saturating_add(1)));
            } else if kind.is_file() && is_yaml(&name) {
                files.push(entry.path());
            }
        }
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
