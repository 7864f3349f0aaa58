//! The keys of subjects, and the sealed values of records, beside the log.
//!
//! `private/keys.wgk` has the keys of subjects. `private/NUMBER.wgv` has the sealed values of the records in the segment of that number. They are written before
//! their records. A value whose record is not there goes at the start, since another record gets its number.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ring::rand::{SecureRandom, SystemRandom};
use wardgate_decision_log::redaction::{LogSecret, Sealed, SubjectKey};
use wardgate_decision_log::subjects::{ENTRY_BYTES, SubjectName, SubjectSecret, entry, read_entry};

use super::error::{LogError, Result};
use crate::journal::files::{open, sync_names};
use crate::journal::log::Medium;

/// The most subjects that have keys. Values of others are left out of the log.
const MAX_SUBJECTS: usize = 10_000_000;

/// The most subjects whose keys are found by their ids: ids have 1 KiB at most.
const MAX_RECENT: usize = 4096;

/// The keys of subjects, by their names.
type Keys = HashMap<SubjectName, SubjectSecret>;

/// The keys of subjects and the values of a log.
#[derive(Debug)]
pub(super) struct Private {
    folder: PathBuf,
    /// Names the keys of subjects.
    secret: LogSecret,
    keys: Keys,
    file: File,
    /// The values of the segment that grows.
    values: Option<Values>,
    /// The keys that are not in the file yet.
    unwritten: Vec<u8>,
    /// The keys of subjects that were asked for lately.
    recent: HashMap<Box<str>, Arc<SubjectKey>>,
    random: SystemRandom,
}

/// The file of the sealed values of one segment.
#[derive(Debug)]
struct Values {
    first_frame: u64,
    path: PathBuf,
    file: File,
    /// The bytes of the file.
    end: u64,
    is_synced: bool,
}

impl Private {
    /// Returns the folder of the files of a log.
    pub(super) fn folder(log: &Path) -> PathBuf {
        log.join("private")
    }

    /// Opens the files of a log whose next record has this number, or makes them.
    pub(super) fn open(log: &Path, secret: LogSecret, next: u64) -> Result<Self> {
        let folder = Self::folder(log);
        make_folder(&folder).map_err(LogError::write(&folder))?;
        let path = folder.join("keys.wgk");
        let mut file = open(&path).map_err(LogError::write(&path))?;
        let keys = recover_keys(&mut file, &path)?;
        drop_values_from(&folder, next)?;
        let (unwritten, recent, random) = (Vec::new(), HashMap::new(), SystemRandom::new());
        Ok(Self { folder, secret, keys, file, values: None, unwritten, recent, random })
    }

    /// Returns the key of a subject, a new one if it has none. `None` if there are too many, or no randomness.
    pub(super) fn key(&mut self, subject: &str) -> Option<Arc<SubjectKey>> {
        if let Some(key) = self.recent.get(subject) {
            return Some(Arc::clone(key));
        }
        let name = self.secret.subject(subject);
        let key = match self.keys.get(&name) {
            Some(key) => *key,
            None => self.add(name)?,
        };
        let key = Arc::new(SubjectKey::new(key));
        if self.recent.len() >= MAX_RECENT {
            self.recent.clear();
        }
        self.recent.insert(subject.into(), Arc::clone(&key));
        Some(key)
    }

    fn add(&mut self, name: SubjectName) -> Option<SubjectSecret> {
        if self.keys.len() >= MAX_SUBJECTS {
            return None;
        }
        let mut key = SubjectSecret::default();
        self.random.fill(&mut key).ok()?;
        self.keys.insert(name, key);
        self.unwritten.extend(entry(&name, &key));
        Some(key)
    }

    /// Deletes the keys of subjects, and returns how many of them had one. The file without them is on the disk
    /// before the old one goes.
    pub(super) fn erase(&mut self, subjects: &[&str]) -> Result<u32> {
        let names = subjects.iter().map(|subject| self.secret.subject(subject));
        let erased: HashSet<_> = names.filter(|name| self.keys.contains_key(name)).collect();
        if erased.is_empty() {
            return Ok(0);
        }
        let kept = self.keys.iter().filter(|(name, _)| !erased.contains(*name));
        let bytes: Vec<u8> = kept.flat_map(|(name, key)| entry(name, key)).collect();
        let path = self.folder.join("keys.wgk");
        let new = replace(&path, &bytes).map_err(LogError::write(&path))?;
        overwrite(std::mem::replace(&mut self.file, new));
        self.keys.retain(|name, _| !erased.contains(name));
        self.unwritten.clear();
        self.recent.clear();
        Ok(u32::try_from(erased.len()).unwrap_or(u32::MAX))
    }

    /// Writes new keys. A record whose values they seal is written afterwards.
    pub(super) fn write_keys(&mut self) -> Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let path = self.folder.join("keys.wgk");
        let end = self.file.seek(SeekFrom::End(0)).map_err(LogError::write(&path))?;
        #[cfg(test)]
        crate::journal::volume::check(self.unwritten.len()).map_err(LogError::write(&path))?;
        let written = self.file.write_all(&self.unwritten).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // The rest of an entry would hide those behind it.
            self.file.set_len(end).unwrap_or_default();
            return Err(LogError::Write(path, error));
        }
        self.unwritten.clear();
        Ok(())
    }

    /// Writes values, as their file has them, of the segment whose first frame has this number.
    pub(super) fn write_values(&mut self, first_frame: u64, values: &[u8]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        if self.values.as_ref().is_some_and(|values| values.first_frame != first_frame) {
            self.sync_values()?;
        }
        // After an error the file is opened anew.
        let known = self.values.take().filter(|known| known.first_frame == first_frame);
        let mut file = match known {
            Some(known) => known,
            None => Values::open(&self.folder, first_frame)?,
        };
        file.append(values)?;
        self.values = Some(file);
        Ok(())
    }

    /// Returns when all values are on the disk.
    ///
    /// # Errors
    /// The system reports a failure: some values may be missing after a loss of power. It is told once.
    pub(super) fn sync_values(&mut self) -> Result<()> {
        let Some(values) = self.values.as_mut().filter(|values| !values.is_synced) else {
            return Ok(());
        };
        values.is_synced = true;
        let synced = values.file.sync().and_then(|()| sync_names(&self.folder));
        synced.map_err(LogError::write(&values.path))
    }
}

impl Values {
    fn open(folder: &Path, first_frame: u64) -> Result<Self> {
        let path = values_path(folder, first_frame);
        let opened = open(&path).and_then(|mut file| file.length().map(|end| (file, end)));
        let (file, end) = opened.map_err(LogError::write(&path))?;
        Ok(Self { first_frame, path, file, end, is_synced: false })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { path, file, end, is_synced, .. } = self;
        *is_synced = false;
        if let Err(error) = file.write_at(*end, bytes) {
            // The rest of a value would hide those behind it.
            file.truncate(*end).unwrap_or_default();
            return Err(LogError::Write(path.clone(), error));
        }
        *end = end.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }
}

/// Returns the path of the values of a segment.
pub(super) fn values_path(folder: &Path, first_frame: u64) -> PathBuf {
    folder.join(format!("{first_frame:012}.wgv"))
}

/// Reads all keys of a file, and cuts off an entry that was not written in full.
fn recover_keys(file: &mut File, path: &Path) -> Result<Keys> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_SUBJECTS.saturating_mul(ENTRY_BYTES)).unwrap_or(u64::MAX);
    Read::by_ref(file).take(most).read_to_end(&mut bytes).map_err(LogError::read(path))?;
    let (keys, rest) = read_keys(&bytes, path)?;
    if rest > 0 {
        let whole = u64::try_from(bytes.len().saturating_sub(rest)).unwrap_or(u64::MAX);
        file.set_len(whole).map_err(LogError::write(path))?;
    }
    Ok(keys)
}

/// Reads the entries of `keys.wgk`. Returns how many bytes are left of one that was not written in full.
pub(super) fn read_keys(bytes: &[u8], path: &Path) -> Result<(Keys, usize)> {
    let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    let mut keys = HashMap::with_capacity(entries.len());
    let mut offset = 0_u64;
    for found in entries {
        let changed = || LogError::damaged(path, offset, "the key of a subject has changed");
        let (name, key) = read_entry(found).ok_or_else(changed)?;
        keys.insert(name, key);
        offset = offset.saturating_add(u64::try_from(ENTRY_BYTES).unwrap_or(u64::MAX));
    }
    Ok((keys, rest.len()))
}

/// Replaces a file: after a crash it is the old one or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let beside = path.with_added_extension("new");
    let mut file = open(&beside)?;
    file.set_len(0)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_names(path.parent().unwrap_or(path))?;
    Ok(file)
}

/// Writes zeros over a file that has no name any more. A disk may keep what was there, but no program finds it: so
/// nothing is lost if this fails.
fn overwrite(mut file: File) {
    let length = file.metadata().map_or(0, |found| found.len());
    let zeros = file
        .rewind()
        .and_then(|()| io::copy(&mut io::repeat(0).take(length), &mut file))
        .and_then(|_| file.sync_data());
    zeros.unwrap_or_default();
}

/// Drops the values of records that the log does not have.
fn drop_values_from(folder: &Path, next: u64) -> Result<()> {
    for found in fs::read_dir(folder).map_err(LogError::read(folder))? {
        let path = found.map_err(LogError::read(folder))?.path();
        if path.extension().is_none_or(|end| end != "wgv") {
            continue;
        }
        let bytes = fs::read(&path).map_err(LogError::read(&path))?;
        let (mut kept, mut rest) = (0_usize, bytes.as_slice());
        // Records are in their order, so the first value of a later one is behind all that stay.
        let is_kept = |value: &Sealed| value.place.record < next;
        while let Some((_, after)) = Sealed::read(rest).filter(|(value, _)| is_kept(value)) {
            kept = bytes.len().saturating_sub(after.len());
            rest = after;
        }
        if kept < bytes.len() {
            let length = u64::try_from(kept).unwrap_or(u64::MAX);
            let cut = open(&path).and_then(|file| {
                file.set_len(length)?;
                file.sync_all()
            });
            cut.map_err(LogError::write(&path))?;
        }
    }
    Ok(())
}

/// Makes the folder, for its owner alone.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
