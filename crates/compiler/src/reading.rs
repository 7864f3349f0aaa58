//! Reads files, within the bound of their size.
//!
//! One byte more than the bound is read, so that the caller can recognize a file that is too large.
#![expect(clippy::disallowed_methods, reason = "this module and `walk` are the readers of files")]

#[cfg(target_os = "wasi")]
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
#[cfg(target_os = "wasi")]
use std::path::Component;
use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic};
use crate::limits::MAX_FILE_BYTES;

/// Reads a file of policies, schemas or tests.
///
/// # Errors
/// If it cannot be read, or is something else, such as a pipe, which might be waited for.
pub fn file(location: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(location)?.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    bounded(File::open(location)?, MAX_FILE_BYTES)
}

/// Opens a file to read it, or a pipe.
///
/// # Errors
/// If it cannot be opened. WASI opens directories too, and takes an empty path for the current one: here both are
/// the errors that reading them is elsewhere.
pub fn open(location: &Path) -> io::Result<File> {
    if cfg!(target_os = "wasi") {
        match fs::metadata(location) {
            _ if location.as_os_str().is_empty() => {
                return Err(io::Error::new(io::ErrorKind::NotFound, "no such file or directory"));
            }
            Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            _ => {}
        }
    }
    File::open(location)
}

/// Returns true if there is a file, a directory or a link at `location`.
#[must_use]
pub fn exists(location: &Path) -> bool {
    fs::symlink_metadata(location).is_ok()
}

/// Reads a file below `root`, also through links.
///
/// # Errors
/// The same, or if a link leads out of `root`: then nothing of the file is read.
pub fn file_within(root: &Path, location: &Path) -> io::Result<Vec<u8>> {
    let target = canonical(location)?;
    if !target.starts_with(canonical(root)?) {
        return Err(io::Error::other("a link leads out of the directory"));
    }
    file(&target)
}

/// Returns the path without links, `.` and `..`.
///
/// # Errors
/// If there is nothing at the path, or links lead in a circle.
#[cfg(not(target_os = "wasi"))]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Returns the path without links, `.` and `..`. WASI has no call for it, so this follows each part.
///
/// # Errors
/// If there is nothing at the path, or links lead in a circle.
#[cfg(target_os = "wasi")]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let whole = std::env::current_dir()?.join(path);
    let mut left: Vec<OsString> = whole.iter().rev().map(ToOwned::to_owned).collect();
    let (mut found, mut links) = (PathBuf::from("/"), 0);
    while let Some(part) = left.pop() {
        match Path::new(&part).components().next() {
            Some(Component::Normal(_)) => {}
            Some(Component::ParentDir) => {
                found.pop();
                continue;
            }
            _ => continue,
        }
        let next = found.join(&part);
        if !fs::symlink_metadata(&next)?.is_symlink() {
            found = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(io::Error::other("too many levels of symbolic links"));
        }
        let target = fs::read_link(&next)?;
        if target.is_absolute() {
            found = PathBuf::from("/");
        }
        left.extend(target.iter().rev().map(ToOwned::to_owned));
    }
    Ok(found)
}

/// Bounds the symbolic links that are followed; Linux follows as many.
#[cfg(target_os = "wasi")]
const MAX_LINKS: usize = 40;

/// Reads to the end, or until there is one byte more than `most`.
///
/// # Errors
/// If reading fails.
pub fn bounded(input: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    input.take(bound).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the words of the system without its number, as a part of a sentence.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let mut letters = text.split(" (os error").next().unwrap_or_default().chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// Makes the diagnostic of a file or directory that cannot be read.
pub fn unreadable(path: &str, error: &io::Error) -> Diagnostic {
    let message = format!("cannot be read: {}", reason(error));
    Diagnostic::in_file(Code::Unreadable, path, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_more_than_the_bound_is_read() {
        let check = |length: usize, expected: usize| {
            let found = bounded(vec![b'a'; length].as_slice(), 3).unwrap();
            assert_eq!(found.len(), expected);
        };
        check(0, 0);
        check(3, 3);
        check(4, 4);
        check(100, 4);
    }

    #[test]
    fn reasons_are_parts_of_sentences() {
        let check = |error: io::Error, expected: &str| assert_eq!(reason(&error), expected);
        check(io::Error::other("No space left on device (os error 28)"), "no space left on device");
        check(io::Error::other(""), "");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_of_the_directory_is_not_read() {
        use std::os::unix::fs::symlink;
        let base = std::env::temp_dir().join(format!("wardgate-reading-{}", std::process::id()));
        fs::create_dir_all(base.join("root/inside")).unwrap();
        fs::write(base.join("secret"), "secret").unwrap();
        fs::write(base.join("root/inside/file"), "text").unwrap();
        fs::create_dir_all(base.join("rootless")).unwrap();
        fs::write(base.join("rootless/file"), "beside").unwrap();
        let root = base.join("root");
        symlink("../secret", root.join("out")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("../rootless/file", root.join("beside")).unwrap();
        symlink("inside/file", root.join("in")).unwrap();
        symlink(&root, base.join("link")).unwrap();
        let read = |root: &Path, path: &str| file_within(root, &root.join(path)).ok();
        for root in [&root, &base.join("link")] {
            assert_eq!(read(root, "inside/file").as_deref(), Some(&b"text"[..]));
            assert_eq!(read(root, "in").as_deref(), Some(&b"text"[..]));
            for path in ["out", "up/secret", "beside", "nowhere"] {
                assert_eq!(read(root, path), None, "{path}");
            }
        }
        fs::remove_dir_all(base).unwrap();
    }
}
