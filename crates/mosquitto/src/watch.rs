//! Files that are read when they have changed.
//!
//! A look asks for the metadata only. A file is read once it has been the same for two looks: a
//! later write then shows in its time, and a file that is being written is not read half.
#![forbid(unsafe_code)]

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    most: usize,
    /// The state that was read last.
    read: Option<Stamp>,
    /// The state at the last look.
    seen: Option<Stamp>,
}

/// The metadata of a file that change with its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// The file itself, and the time of its last change, which no program can set.
    identity: Identity,
}

impl Watched {
    /// Takes a file of at most `most` bytes.
    pub(crate) const fn new(path: PathBuf, most: usize) -> Self {
        Self { path, most, read: None, seen: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or is too long, in words for the operator.
    pub(crate) fn read(&mut self) -> Result<Vec<u8>, String> {
        // One that cannot be read is not read again before it has changed.
        self.read = Stamp::of(&self.path);
        let (bytes, stamp) = read(&self.path, self.most)?;
        self.read = Some(stamp);
        Ok(bytes)
    }

    /// Reads the file if it has changed since it was read, and not since the last look.
    pub(crate) fn look(&mut self) -> Option<Result<Vec<u8>, String>> {
        let now = Stamp::of(&self.path);
        let is_still = now == self.seen;
        self.seen = now;
        if now == self.read || !is_still {
            return None;
        }
        Some(self.read())
    }

    /// Forgets what was read: the next look reads again.
    pub(crate) const fn forget(&mut self) {
        self.read = None;
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|about| Self::read(&about))
    }

    fn read(about: &Metadata) -> Self {
        Self { modified: about.modified().ok(), length: about.len(), identity: identity(about) }
    }
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// It cannot be read, is no file, or is longer, in words for the operator.
pub(crate) fn read(path: &Path, most: usize) -> Result<(Vec<u8>, Stamp), String> {
    let unreadable = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    // To open a pipe would wait for its writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(format!("cannot read `{}`: it is not a file", path.display()));
    }
    let file = File::open(path).map_err(unreadable)?;
    let stamp = Stamp::read(&file.metadata().map_err(unreadable)?);
    let mut bytes = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(bound).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > most {
        return Err(format!("`{}` has more than {most} bytes", path.display()));
    }
    Ok((bytes, stamp))
}

/// Device, number, and the seconds and nanoseconds of the last change.
#[cfg(unix)]
type Identity = (u64, u64, i64, i64);

#[cfg(unix)]
fn identity(about: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino(), about.ctime(), about.ctime_nsec())
}

#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
const fn identity(_: &Metadata) -> Identity {}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("wardgate-watch-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_file_is_read_once_it_is_still() {
        let path = path("still");
        fs::write(&path, "one").unwrap();
        let mut file = Watched::new(path.clone(), 9);
        assert_eq!(file.read().unwrap(), b"one");
        assert!(file.look().is_none());
        assert!(file.look().is_none());
        fs::write(&path, "three").unwrap();
        assert!(file.look().is_none());
        assert_eq!(file.look().unwrap().unwrap(), b"three");
        assert!(file.look().is_none());
        fs::remove_file(&path).unwrap();
        assert!(file.look().is_none());
        assert!(file.look().unwrap().unwrap_err().starts_with("cannot read `"));
        assert!(file.look().is_none());
        fs::write(&path, "much too long").unwrap();
        assert!(file.look().is_none());
        assert!(file.look().unwrap().unwrap_err().ends_with("has more than 9 bytes"));
        assert!(file.look().is_none());
        file.forget();
        assert!(file.look().is_some());
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_folder_is_no_file() {
        let found = read(&std::env::temp_dir(), 9).unwrap_err();
        assert!(found.ends_with("it is not a file"), "{found}");
    }
}
