//! The journal of changes on its disk: locked, made, and replaced as a whole.
//!
//! The lock is a file of its own beside it, because a replacement is another file. No byte of the
//! file is dropped silently: an end that is cut off is saved beside it.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::frame::{self, Record};
use super::log::Log;
use super::recover::Torn;
use crate::journal::error::{JournalError, Result};

/// The path of the journal of changes, and the lock against other writers.
#[derive(Debug)]
pub(crate) struct Files {
    path: PathBuf,
    /// INVARIANT: locked as long as this lives.
    _lock: File,
}

/// Changes that go into one frame of a file that is written anew.
const FRAME_BYTES: usize = 1 << 20;

/// How often a lock is tried.
const LOCK_TRIES: u32 = 50;

/// The pause after each try: a second in all.
const BETWEEN_LOCK_TRIES: Duration = Duration::from_millis(20);

impl Files {
    /// Locks and opens the file, or makes it, and hands every change of it to `each`.
    ///
    /// Returns where the torn end went, if there was one.
    ///
    /// # Errors
    /// If another process has it, or it cannot be read, or is damaged.
    pub(crate) fn open<R: Record>(
        path: &Path,
        each: &mut dyn FnMut(R),
    ) -> Result<(Self, Log<File>, Option<PathBuf>)> {
        let files = Self { path: path.to_owned(), _lock: lock(&beside(path, "lock"))? };
        let is_new = !path.exists();
        let file = open(path).map_err(JournalError::Write)?;
        let (mut log, torn) = Log::open(file, each)?;
        if is_new {
            files.sync_folder().map_err(JournalError::Write)?;
        }
        let torn_path =
            torn.map(|torn| save_torn(path, &torn)).transpose().map_err(JournalError::Write)?;
        log.cut()?;
        Ok((files, log, torn_path))
    }

    /// Replaces the file by one that holds only `changes`, of which there are no more than `next`
    /// numbers.
    ///
    /// The old file stays in use until the new one is on the disk.
    ///
    /// # Errors
    /// The new file cannot be written. The old file is unchanged.
    pub(crate) fn replace<R: Record>(
        &self,
        changes: &mut dyn Iterator<Item = R>,
        count: u64,
        next: u64,
    ) -> Result<Log<File>> {
        let path = beside(&self.path, "new");
        let written = write(&path, changes, next.saturating_sub(count));
        let replaced = written.map_err(JournalError::Write).and_then(|file| {
            // Read again before it counts.
            let (log, _) = Log::open(file, &mut |_: R| {})?;
            fs::rename(&path, &self.path).map_err(JournalError::Write)?;
            Ok(log)
        });
        let mut log = replaced.inspect_err(|_| {
            // It is only in the way: the next try begins with an empty one.
            fs::remove_file(&path).unwrap_or_default();
        })?;
        // From here on the new file counts, even if the folder cannot be synced.
        if self.sync_folder().is_err() {
            log.break_off();
        }
        Ok(log)
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_names(folder_of(&self.path))
    }
}

/// Locks a file as long as the result lives, and makes the file if it is missing.
///
/// Another process that has the lock gets a second to end: a program that is being started has the open files of its
/// parent, and with them the lock, until it is loaded.
///
/// # Errors
/// Another process has the lock after that second, or the file cannot be made.
pub(crate) fn lock(path: &Path) -> Result<File> {
    let file = open(path).map_err(JournalError::Write)?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_LOCK_TRIES),
            Err(TryLockError::Error(error)) => return Err(JournalError::Write(error)),
        }
    }
    Err(JournalError::Locked)
}

/// Returns what tells a file from all others, also from a later one of its name. `None` where the system has no such
/// number: there a file that is open is not deleted.
pub(crate) fn file_id(found: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        None
    }
}

/// Saves the end of a file that is about to be cut off, and returns where.
pub(crate) fn save_torn(path: &Path, torn: &Torn) -> io::Result<PathBuf> {
    let saved = beside(path, &format!("torn-{}", torn.offset));
    let mut file = open(&saved)?;
    file.set_len(0)?;
    file.write_all(&torn.bytes)?;
    file.sync_all()?;
    sync_names(folder_of(path))?;
    Ok(saved)
}

/// Makes the names in a folder durable, where folders can be opened.
pub(crate) fn sync_names(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes changes to a file, from number `first` on, and waits for the disk.
fn write<R: Record>(
    path: &Path,
    changes: &mut dyn Iterator<Item = R>,
    first: u64,
) -> io::Result<File> {
    let mut file = open(path)?;
    file.set_len(0)?;
    file.write_all(R::START)?;
    let (mut next, mut pending, mut bytes, mut buffer) = (first, Vec::new(), 0_usize, Vec::new());
    loop {
        let change = changes.next();
        let more = change.as_ref().map_or(usize::MAX, R::bytes);
        let is_full =
            bytes.saturating_add(more) > FRAME_BYTES || !frame::fits(pending.len(), bytes, more);
        if is_full && !pending.is_empty() {
            buffer.clear();
            frame::write(&pending, next, next.saturating_sub(1), &mut buffer);
            file.write_all(&buffer)?;
            next = next.saturating_add(u64::try_from(pending.len()).unwrap_or(u64::MAX));
            (pending, bytes) = (Vec::new(), 0);
        }
        let Some(change) = change else { break };
        bytes = bytes.saturating_add(change.bytes());
        pending.push(change);
    }
    file.sync_all()?;
    Ok(file)
}

/// Writes a file as a whole, for its owner alone: after a crash it is the old one or the new one.
///
/// # Errors
/// It cannot be written, with the path that failed. What was there may have been replaced already.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::result::Result<(), (PathBuf, io::Error)> {
    let new = path.with_added_extension("new");
    let written = open(&new).and_then(|mut file| {
        file.set_len(0)?;
        #[cfg(test)]
        super::volume::check(bytes.len())?;
        file.write_all(bytes)?;
        file.sync_all()
    });
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    written.map_err(failed(&new))?;
    fs::rename(&new, path).map_err(failed(path))?;
    sync_names(folder_of(path)).map_err(failed(path))
}

/// Opens a file to read and write, and makes it if it is missing, for its owner alone: rules are
/// policy, and logs tell who did what.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    PathBuf::from(name)
}
