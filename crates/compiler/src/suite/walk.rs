//! Reads the files of suites and fixtures below a directory.
//!
//! Hidden directories are entered too, as Cerbos does; links to directories are not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::Files;
use crate::diagnostics::{Diagnostic, sort};
use crate::reading::{self, unreadable};
use crate::repository::limits::{MAX_DIRECTORY_DEPTH, MAX_ENTRIES};
use crate::repository::walk::too_many;

/// Reads the files below `root` that `wanted` says yes to, by their paths.
pub(super) fn directory(
    root: &Path,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Files, Vec<Diagnostic>> {
    let mut walk = Walk { open: vec![(String::new(), root.to_owned(), 0)], seen: 0 };
    let (mut files, mut errors) = (Files::new(), Vec::new());
    while let Some((path, directory, depth)) = walk.open.pop() {
        match walk.enter(&path, &directory, depth) {
            Ok(found) => {
                for (path, location) in found.into_iter().filter(|(path, _)| wanted(path)) {
                    match reading::file(&location) {
                        Ok(bytes) => drop(files.insert(path, bytes)),
                        Err(error) => errors.push(unreadable(&path, &error)),
                    }
                }
            }
            Err(error) => {
                errors.push(unreadable(if path.is_empty() { "." } else { &path }, &error));
            }
        }
    }
    sort(&mut errors);
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}

struct Walk {
    /// Directories still to be entered: path below the root, location, depth.
    open: Vec<(String, PathBuf, usize)>,
    seen: usize,
}

impl Walk {
    /// Returns the files of one directory.
    fn enter(
        &mut self,
        path: &str,
        directory: &Path,
        depth: usize,
    ) -> io::Result<Vec<(String, PathBuf)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            self.seen = self.seen.saturating_add(1);
            if self.seen > MAX_ENTRIES || depth > MAX_DIRECTORY_DEPTH {
                return Err(too_many());
            }
            let name = entry.file_name();
            // A name that is no text is none that a suite or fixture can have.
            let Some(name) = name.to_str() else { continue };
            let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            match entry.file_type()?.is_dir() {
                true => self.open.push((below, entry.path(), depth.saturating_add(1))),
                false => files.push((below, entry.path())),
            }
        }
        Ok(files)
    }
}
