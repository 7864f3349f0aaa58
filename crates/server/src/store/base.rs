//! Rules in files and folders: `.spoc`, as `wardgate_spocp::file` reads them.
//!
//! Folders are read in the order of the names in
//! them. A file that cannot be read in full is an error: half of the rules are other rules.

use std::fs;
use std::path::{Path, PathBuf};

use wardgate_spocp::{Normal, file};

use super::limits::{MAX_FOLDER_DEPTH, MAX_RULE_FILE_BYTES, MAX_RULE_FILES};
use crate::files::{bounded, unreadable};

/// Reads files, and folders of files that end in `.spoc`.
///
/// # Errors
/// Which file or line cannot be read, in words for the operator.
pub fn read(places: &[PathBuf]) -> Result<Vec<Normal>, String> {
    let mut rules = Vec::new();
    for file in files(places)? {
        read_file(&file, &mut rules)?;
    }
    Ok(rules)
}

fn read_file(path: &Path, rules: &mut Vec<Normal>) -> Result<(), String> {
    let text = bounded(path, MAX_RULE_FILE_BYTES).map_err(|error| unreadable(path, &error))?;
    for line in file::rules(&text) {
        let wrong = |error| format!("`{}`, line {}: {error}", path.display(), line.number);
        rules.push(line.rule.map_err(wrong)?);
    }
    Ok(())
}

/// The files of all places, in order.
fn files(places: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut waiting: Vec<(PathBuf, usize)> =
        places.iter().rev().map(|place| (place.clone(), 0)).collect();
    while let Some((place, depth)) = waiting.pop() {
        let failed = |error| unreadable(&place, &error);
        if !fs::metadata(&place).map_err(failed)?.is_dir() {
            found.push(place);
        } else if depth < MAX_FOLDER_DEPTH {
            let mut inside: Vec<PathBuf> = Vec::new();
            for entry in fs::read_dir(&place).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path.is_dir() || path.extension().is_some_and(|extension| extension == "spoc") {
                    inside.push(path);
                }
            }
            inside.sort_by(|left, right| right.cmp(left));
            waiting.extend(inside.into_iter().map(|path| (path, depth + 1)));
        } else {
            return Err(format!("`{}` is deeper than {MAX_FOLDER_DEPTH} folders", place.display()));
        }
        if found.len() + waiting.len() > MAX_RULE_FILES {
            return Err(format!("there are more than {MAX_RULE_FILES} files of rules"));
        }
    }
    Ok(found)
}
