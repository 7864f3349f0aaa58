//! Atomic replacement of files: a reader sees the old content or the new, never a part.
//!
//! The new content is written beside the file, reaches the disk, and takes its name in one step. A
//! failure before that leaves the old file as it was. Missing folders are made.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wardgate_compiler::reading;

use crate::failure::{Failure, Result};
use crate::output::InOneLine;

/// Writes `new` to a file whose content is still `read`.
pub(crate) fn unchanged(path: &Path, read: &[u8], new: &[u8]) -> Result<()> {
    let now = reading::file(path).map_err(|error| Failure::reading(path, &error))?;
    if now != read {
        let shown = path.in_one_line();
        let message = format!("`{shown}` has changed since it was read; it was left as it is");
        return Err(Failure::system(message));
    }
    file(path, new)
}

/// Writes `bytes` to `path`.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<()> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            Err(Failure::writing(path, &io::ErrorKind::IsADirectory.into()))
        }
        // A device or a pipe cannot be replaced, only written to.
        Ok(about) if !about.is_file() => {
            let written = OpenOptions::new().write(true).open(path);
            written
                .and_then(|mut file| file.write_all(bytes))
                .map_err(|e| Failure::writing(path, &e))
        }
        _ => replace(path, bytes).map_err(|error| Failure::writing(path, &error)),
    }
}

/// Returns the file that is written for `path`: the target of a link, even if it is missing.
pub(crate) fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match reading::canonical(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        let Ok(next) = fs::read_link(&path) else {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
            return Ok(whole(directory(&path))?.join(name));
        };
        path = directory(&path).join(next);
    }
    reading::canonical(&path)
}

/// Makes the folder of a file that will be written, and those above it.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let folder = directory(path);
    // A file in its place is reported by the writer.
    if folder.exists() { Ok(()) } else { fs::create_dir_all(folder) }
}

/// Returns the path of a directory without links, also of one that is missing yet.
fn whole(path: &Path) -> io::Result<PathBuf> {
    match (reading::canonical(path), path.file_name()) {
        (Err(error), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(whole(directory(path))?.join(name))
        }
        (found, _) => found,
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = target(path)?;
    make_folder(&target)?;
    let temporary = beside(&target)?;
    let written = write(&temporary, &target, bytes);
    if written.is_err() {
        // The first error counts; a left-over file does no harm.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write(temporary: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    // WASI has no permissions of files.
    #[cfg(not(target_os = "wasi"))]
    if let Ok(old) = fs::metadata(target) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, target)?;
    // The new name is durable once the directory is synced; not every system can do that.
    let _ = File::open(directory(target)).and_then(|it| it.sync_all());
    Ok(())
}

/// Returns the directory of a file.
fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Returns a hidden name in the same directory: only within one file system is a rename one step.
fn beside(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.new", own_number()));
    Ok(target.with_file_name(hidden))
}

/// Returns a number that no other process has now.
#[cfg(not(target_os = "wasi"))]
fn own_number() -> u64 {
    std::process::id().into()
}

/// Returns a number that hardly another process has now: WASI has no ids of processes, and a name that exists is an
/// error.
#[cfg(target_os = "wasi")]
fn own_number() -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    u64::try_from(since).unwrap_or(u64::MAX)
}

/// Bounds the symbolic links followed to a file that does not exist yet; Linux follows as many. A
/// loop is an error of the system before that.
const MAX_LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Status;

    #[test]
    fn a_file_that_changed_meanwhile_is_left_as_it_is() {
        let name = format!("wardgate-replace-{}.yaml", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, "theirs").unwrap();
        let Err(Failure::Message(status, message)) = unchanged(&path, b"mine", b"new") else {
            unreachable!()
        };
        let expected =
            format!("`{}` has changed since it was read; it was left as it is", path.display());
        assert_eq!((status, message), (Status::BadInputOutput, expected));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        unchanged(&path, b"theirs", b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_file(&path).unwrap();
        assert!(unchanged(&path, b"new", b"newer").is_err());
        assert!(!path.exists());
    }
}
