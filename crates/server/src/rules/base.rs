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
    let mut waiting: Vec<(PathBuf, usize, &Path)> =
        places.iter().rev().map(|place| (place.clone(), 0, place.as_path())).collect();
    while let Some((place, depth, root)) = waiting.pop() {
        let failed = |error| unreadable(&place, &error);
        if !fs::metadata(&place).map_err(failed)?.is_dir() {
            found.push(place);
        } else if depth < MAX_FOLDER_DEPTH {
            let mut inside: Vec<PathBuf> = Vec::new();
            for entry in fs::read_dir(&place).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let is_link = path.is_symlink();
                if path.is_dir() || path.extension().is_some_and(|extension| extension == "spoc") {
                    if is_link && leads_out(&path, root).map_err(failed)? {
                        let (shown, root) = (path.display(), root.display());
                        return Err(format!("`{shown}` is a link that leads out of `{root}`"));
                    }
                    inside.push(path);
                }
            }
            inside.sort_by(|left, right| right.cmp(left));
            waiting.extend(inside.into_iter().map(|path| (path, depth + 1, root)));
        } else {
            return Err(format!("`{}` is deeper than {MAX_FOLDER_DEPTH} folders", place.display()));
        }
        if found.len() + waiting.len() > MAX_RULE_FILES {
            return Err(format!("there are more than {MAX_RULE_FILES} files of rules"));
        }
    }
    Ok(found)
}

/// Returns true if `path` lies outside of `root`.
fn leads_out(path: &Path, root: &Path) -> std::io::Result<bool> {
    Ok(!fs::canonicalize(path)?.starts_with(fs::canonicalize(root)?))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_leads_out_of_a_folder_of_rules_is_refused() {
        let base = std::env::temp_dir().join(format!("wardgate-base-{}", std::process::id()));
        let root = base.join("rules");
        fs::create_dir_all(root.join("more")).unwrap();
        fs::create_dir_all(base.join("other")).unwrap();
        fs::write(root.join("more/a.spoc"), "(a)\n").unwrap();
        fs::write(base.join("other/b.spoc"), "(secret)\n").unwrap();
        let read = || read(std::slice::from_ref(&root)).map(|rules| rules.len());
        let check = |link: &str, target: &str, expected: Option<usize>| {
            symlink(target, root.join(link)).unwrap();
            let found = read();
            assert_eq!(found.clone().ok(), expected, "{link} {found:?}");
            assert!(!format!("{found:?}").contains("secret"));
            fs::remove_file(root.join(link)).unwrap();
        };
        check("b.spoc", "more/a.spoc", Some(2));
        check("again", "more", Some(2));
        check("b.spoc", "../other/b.spoc", None);
        check("out", "../other", None);
        assert_eq!(read(), Ok(1));
        fs::remove_dir_all(base).unwrap();
    }
}
