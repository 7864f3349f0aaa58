//! The folder of a log: its lock, its identity, and the names of its files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use wardgate_decision_log::checkpoint::LogKey;

use super::error::{LogError, Result};
use super::segments::Disk;
use crate::journal::error::JournalError;
use crate::journal::files::{file_id, lock, open, replace, save_torn, sync_names};
use crate::journal::recover::Torn;

/// The first line of the file `identity`.
const IDENTITY: &str = "wardgate decision log 1";

/// The most bytes of the file `identity`: a key of ML-DSA-44 in Base64, and a few words.
const MAX_IDENTITY_BYTES: u64 = 8192;

/// The folder of a log.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

/// The lock of the one writer, as long as this lives.
#[derive(Debug)]
pub(super) struct Lock {
    /// The system unlocks it.
    _file: File,
    watch: LockWatch,
}

/// A lock that may be deleted meanwhile.
#[derive(Clone, Debug)]
pub(super) struct LockWatch {
    path: PathBuf,
    id: Option<(u64, u64)>,
}

impl Lock {
    /// Returns what checks the lock.
    pub(super) const fn watch(&self) -> &LockWatch {
        &self.watch
    }
}

impl LockWatch {
    /// Checks that no other process can have locked the log meanwhile.
    ///
    /// # Errors
    /// The file was deleted or replaced.
    pub(super) fn check(&self) -> Result<()> {
        let is_same = fs::metadata(&self.path).is_ok_and(|found| file_id(&found) == self.id);
        if is_same { Ok(()) } else { Err(LogError::LockLost(self.path.clone())) }
    }
}

/// A segment: the number of its first frame, and its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    pub(super) first_frame: u64,
    pub(super) path: PathBuf,
}

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the folder if it is missing, and locks it.
    pub(super) fn lock(&self) -> Result<Lock> {
        fs::create_dir_all(&self.0).map_err(LogError::write(&self.0))?;
        let path = self.0.join(".lock");
        let file = lock(&path).map_err(|error| match error {
            JournalError::Locked => LogError::InUse(self.0.clone()),
            error => LogError::segment(&path)(error),
        })?;
        let id = file.metadata().map(|found| file_id(&found)).map_err(LogError::read(&path))?;
        Ok(Lock { _file: file, watch: LockWatch { path, id } })
    }

    /// Writes the identity of a new log, or compares it with that of the log which is there.
    pub(super) fn identify(&self, verifier: &str, instance: &[u8; 16]) -> Result<()> {
        if let Some(found) = self.verifier()? {
            let is_same = found == verifier;
            let what = || {
                format!(
                    "the log in `{}` is of another key: expected `{verifier}`",
                    self.0.display()
                )
            };
            return if is_same { Ok(()) } else { Err(LogError::Foreign(what())) };
        }
        let instance: String = instance.iter().map(|byte| format!("{byte:02x}")).collect();
        self.replace("identity", format!("{IDENTITY}\n{verifier}\n{instance}\n").as_bytes())
    }

    /// Returns the key of the log in its text form, or `None` if there is no log yet.
    pub(super) fn verifier(&self) -> Result<Option<String>> {
        let path = self.0.join("identity");
        let bytes = match crate::files::bounded(&path, MAX_IDENTITY_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::Read(path, error)),
        };
        let text = String::from_utf8(bytes).unwrap_or_default();
        let mut lines = text.lines();
        let is_log = lines.next() == Some(IDENTITY);
        let key = lines.next().filter(|key| is_log && LogKey::read(key).is_some());
        key.map(|key| Some(key.to_owned())).ok_or_else(|| {
            LogError::Foreign(format!(
                "`{}` is no identity of a decision log: expected `{IDENTITY}` and its key",
                path.display()
            ))
        })
    }

    /// Returns the newest checkpoint, if there is one.
    pub(super) fn checkpoint(&self) -> Result<Option<Vec<u8>>> {
        self.note("checkpoint")
    }

    /// Returns a file with a signed note, if there is one.
    pub(super) fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.0.join(name);
        let most = wardgate_decision_log::limits::MAX_NOTE_BYTES;
        match crate::files::bounded(&path, u64::try_from(most).unwrap_or(u64::MAX)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::Read(path, error)),
        }
    }

    /// Returns the notes that are named by their size and this end, as they are shipped, the smallest first.
    pub(super) fn shipped_notes(&self, end: &str) -> Result<Vec<(u64, PathBuf)>> {
        let mut notes = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(LogError::read(&self.0))? {
            let path = entry.map_err(LogError::read(&self.0))?.path();
            if let Some(size) = number(&path, end) {
                notes.push((size, path));
            }
        }
        notes.sort();
        Ok(notes)
    }

    /// Returns the bytes of the segments and of the values beside them.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        let mut bytes = 0_u64;
        for folder in [&self.0, &self.0.join("private")] {
            let entries = match fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let entry = entry?;
                let is_counted =
                    entry.path().extension().is_some_and(|end| end == "wgl" || end == "wgv");
                if is_counted {
                    // One that is deleted at this moment has none.
                    bytes = bytes.saturating_add(entry.metadata().map_or(0, |found| found.len()));
                }
            }
        }
        Ok(bytes)
    }

    /// Writes a file as a whole: after a crash it is the old one or the new one.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        replace(&self.0.join(name), bytes).map_err(|(path, error)| LogError::Write(path, error))
    }
}

impl Disk for Folder {
    type File = File;

    fn segments(&self) -> Result<Vec<Segment>> {
        let mut segments = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(LogError::read(&self.0))? {
            let path = entry.map_err(LogError::read(&self.0))?.path();
            if let Some(first_frame) = number(&path, ".wgl") {
                segments.push(Segment { first_frame, path });
            }
        }
        segments.sort();
        Ok(segments)
    }

    fn segment(&self, first_frame: u64) -> PathBuf {
        self.0.join(format!("{first_frame:0width$}.wgl", width = NAME_DIGITS))
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_names(&self) -> io::Result<()> {
        sync_names(&self.0)
    }

    fn save_torn(&self, path: &Path, torn: &Torn) -> io::Result<PathBuf> {
        save_torn(path, torn)
    }
}

/// Returns the number that is the name of a file with this end.
fn number(path: &Path, end: &str) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_suffix(end)?;
    name.parse().ok().filter(|_| name.len() == NAME_DIGITS)
}

/// Returns the name under which a note about so many frames is shipped.
pub(super) fn note_name(size: u64, end: &str) -> String {
    format!("{size:0NAME_DIGITS$}{end}")
}

/// The end of the names of shipped checkpoints.
pub(super) const CHECKPOINT: &str = ".checkpoint";

/// The end of the names of shipped checkpoints that enough witnesses have cosigned.
pub(super) const WITNESSED: &str = ".witnessed";

/// The digits of the number in the name of a segment.
const NAME_DIGITS: usize = 12;
