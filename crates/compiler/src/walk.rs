//! Walks through a directory, within bounds.
//!
//! The caller chooses the directories to enter; links to directories are never entered. Entries
//! come in the order of the file system, which no result may depend on.
#![expect(
    clippy::disallowed_methods,
    reason = "this module and `reading` are the readers of files"
)]

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use crate::limits::{MAX_DIRECTORY_DEPTH, MAX_ENTRIES};
use crate::reading;

/// An entry of a directory.
#[derive(Debug)]
pub struct Entry<'w> {
    directory: &'w Directory,
    /// Its own name.
    pub name: OsString,
    /// Its path for the file system.
    pub location: PathBuf,
    /// The type of the entry; a link is a link, and not its target.
    pub kind: FileType,
}

impl Entry<'_> {
    /// Returns where the file is, to be read once the walk is over.
    pub fn file(&self) -> WalkedFile {
        WalkedFile {
            path: self.path(),
            location: self.location.clone(),
            is_link: self.kind.is_symlink(),
        }
    }

    /// Returns true if it lies in the directory where the walk began.
    #[must_use]
    pub const fn is_at_root(&self) -> bool {
        self.directory.depth == 0
    }

    /// Returns its path from where the walk began, with `/` between the names.
    #[must_use]
    pub fn path(&self) -> String {
        let name = self.name.to_string_lossy();
        match self.directory.path.as_str() {
            "" => name.into_owned(),
            path => format!("{path}/{name}"),
        }
    }
}

/// Locates a file that a walk over a directory has reached.
#[derive(Debug)]
pub struct WalkedFile {
    /// Its path from where the walk began.
    pub path: String,
    location: PathBuf,
    is_link: bool,
}

impl WalkedFile {
    /// Reads the file. It must lie below `root`, where the walk began: directories are not entered
    /// by links, so only a link in its own place can lead elsewhere.
    pub fn read(&self, root: &Path) -> io::Result<Vec<u8>> {
        match self.is_link {
            true => reading::file_within(root, &self.location),
            false => reading::file(&self.location),
        }
    }
}

/// A directory that the walk could not list, or not in full.
#[derive(Debug)]
pub struct UnreadDirectory {
    /// Its path from where the walk began, `.` for that directory.
    pub path: String,
    /// Its path for the file system.
    pub location: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Calls `look` for everything below `root`; it returns true for a directory that the walk is to
/// enter. An error of `look` ends the listing of that entry's directory.
pub fn walk(
    root: &Path,
    look: &mut dyn FnMut(&Entry<'_>) -> io::Result<bool>,
) -> Vec<UnreadDirectory> {
    let root = Directory { path: String::new(), location: root.to_owned(), depth: 0 };
    let mut walk = Walk { pending: vec![root], seen: 0 };
    let mut unread = Vec::new();
    while let Some(directory) = walk.pending.pop() {
        let Err(error) = walk.enter(&directory, look) else { continue };
        let Directory { path, location, .. } = directory;
        let path = if path.is_empty() { ".".to_owned() } else { path };
        unread.push(UnreadDirectory { path, location, error });
        if walk.seen > MAX_ENTRIES {
            break;
        }
    }
    unread
}

/// Makes the error of a directory that goes beyond the bounds.
pub(crate) fn too_many() -> io::Error {
    io::Error::other("the directory holds too many files, or nests too deeply")
}

struct Walk {
    /// Directories still to be entered.
    pending: Vec<Directory>,
    seen: usize,
}

#[derive(Debug)]
struct Directory {
    path: String,
    location: PathBuf,
    depth: usize,
}

impl Walk {
    fn enter(
        &mut self,
        directory: &Directory,
        look: &mut dyn FnMut(&Entry<'_>) -> io::Result<bool>,
    ) -> io::Result<()> {
        for found in fs::read_dir(&directory.location)? {
            let found = found?;
            self.seen = self.seen.saturating_add(1);
            if self.seen > MAX_ENTRIES || directory.depth > MAX_DIRECTORY_DEPTH {
                return Err(too_many());
            }
            let (name, location, kind) = (found.file_name(), found.path(), found.file_type()?);
            let entry = Entry { directory, name, location, kind };
            if look(&entry)? && kind.is_dir() {
                let (path, depth) = (entry.path(), directory.depth.saturating_add(1));
                self.pending.push(Directory { path, location: entry.location, depth });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that goes away.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Self {
            let name = format!("wardgate-walk-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn write(&self, path: &str) {
            let location = self.0.join(path);
            fs::create_dir_all(location.parent().unwrap()).unwrap();
            fs::write(location, "").unwrap();
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            // A directory that is left behind is no failure of the test.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Checks the paths of the files, and of the directories that could not be listed.
    fn check(root: &Path, enters: &dyn Fn(&Entry<'_>) -> bool, files: &[&str], expected: &[&str]) {
        let mut found = Vec::new();
        let unread = walk(root, &mut |entry| {
            if !entry.kind.is_dir() {
                found.push(entry.path());
            }
            Ok(enters(entry))
        });
        found.sort();
        assert_eq!(found, files);
        let mut unread: Vec<_> = unread.into_iter().map(|one| one.path).collect();
        unread.sort();
        assert_eq!(unread, expected);
    }

    #[test]
    fn all_entries_are_listed_unless_left_out() {
        let root = Temporary::new("all");
        ["a", "b/c", "b/d/e", "f/b/g"].iter().for_each(|path| root.write(path));
        check(&root.0, &|_| true, &["a", "b/c", "b/d/e", "f/b/g"], &[]);
        check(&root.0, &|entry| entry.name != "b", &["a"], &[]);
        check(&root.0, &|entry| entry.name != "b" || !entry.is_at_root(), &["a", "f/b/g"], &[]);
        check(&root.0.join("nowhere"), &|_| true, &[], &["."]);
    }

    #[test]
    fn too_deep_directories_are_reported_and_the_rest_is_listed() {
        let root = Temporary::new("deep");
        let deepest = vec!["d"; MAX_DIRECTORY_DEPTH].join("/");
        let (last, beyond) = (format!("{deepest}/last"), format!("{deepest}/d/beyond"));
        root.write(&last);
        check(&root.0, &|_| true, &[&last], &[]);
        root.write(&beyond);
        check(&root.0, &|_| true, &[&last], &[&format!("{deepest}/d")]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_listed_and_not_followed() {
        let root = Temporary::new("links");
        root.write("a/b");
        std::os::unix::fs::symlink(&root.0, root.0.join("a/up")).unwrap();
        check(&root.0, &|_| true, &["a/b", "a/up"], &[]);
    }

    #[test]
    fn an_error_ends_one_directory() {
        let root = Temporary::new("error");
        ["a/b", "c/d"].iter().for_each(|path| root.write(path));
        let unread = walk(&root.0, &mut |entry| match entry.path().as_str() {
            "a/b" => Err(io::Error::other("no")),
            _ => Ok(true),
        });
        let unread: Vec<_> = unread.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(unread, ["a"]);
    }
}
