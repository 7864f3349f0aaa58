//! The files to format: those of the command line, and those of its directories.
//!
//! A directory is walked as for `compile`, but test suites and `testdata` are entered too. Links
//! are not followed, so that nothing outside is written, and nothing is written twice. A link to a
//! file of the directory is skipped; one that `compile` could not read is reported.

use std::fs;
use std::path::{Path, PathBuf};

use wardgate_compiler::reading;
use wardgate_compiler::walk::walk;

use crate::failure::Failure;

/// The files that a path names.
#[derive(Default)]
pub(crate) struct Files {
    /// Sorted.
    pub(crate) files: Vec<PathBuf>,
    /// The failures to read files and directories.
    pub(crate) failures: Vec<Failure>,
}

/// Returns the files that a path names.
pub(crate) fn files(path: &Path) -> Files {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => below(path),
        Ok(_) => Files { files: vec![path.to_owned()], ..Files::default() },
        Err(error) => Files { failures: vec![Failure::reading(path, &error)], ..Files::default() },
    }
}

fn below(path: &Path) -> Files {
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    let unseen = walk(path, &mut |entry| {
        let name = entry.name.to_string_lossy();
        if entry.kind.is_file() && is_yaml(&name) {
            files.push(entry.location.clone());
        } else if !entry.kind.is_dir() && is_yaml(&name) {
            let error = reading::file_within(path, &entry.location).err();
            unread.extend(error.map(|error| (entry.location.clone(), error)));
        }
        let is_schemas = entry.is_at_root() && name == SCHEMAS;
        Ok(!name.starts_with('.') && !is_schemas)
    });
    files.sort();
    unread.extend(unseen.into_iter().map(|it| (it.location, it.error)));
    unread.sort_by(|(one, _), (other, _)| one.cmp(other));
    let failures = unread.iter().map(|(path, error)| Failure::reading(path, error)).collect();
    Files { files, failures }
}

fn is_yaml(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !name.starts_with('.') && (lower.ends_with(".yaml") || lower.ends_with(".yml"))
}

/// The directory of the schemas, at the root of the policies.
const SCHEMAS: &str = "_schemas";
