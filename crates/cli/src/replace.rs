//! Replacing a file all at once: whoever reads it sees the old content or the new, never a part.
//!
//! The new content is written beside it, reaches the disk, and takes its name in one step. Whatever
//! fails before that leaves the old file as it was.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Status};

/// Writes `bytes` to `path`.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            let message = format!("cannot write `{}`: it is a directory", path.display());
            Err(Failure::Message(Status::BadInputOutput, message))
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

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link keeps pointing where it points; what it points at is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = beside(&target)?;
    let written = write(&temporary, &target, bytes);
    if written.is_err() {
        // The error that counts is the first one; a left-over is in nobody's way.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write(temporary: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    if let Ok(old) = fs::metadata(target) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, target)?;
    // The new name is durable once the directory is; not every system can say so.
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let _ = File::open(directory.unwrap_or(Path::new("."))).and_then(|it| it.sync_all());
    Ok(())
}

/// Returns a hidden name in the same directory: only within one file system is a rename one step.
fn beside(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.new", std::process::id()));
    Ok(target.with_file_name(hidden))
}
