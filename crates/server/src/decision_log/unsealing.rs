//! Opening the values that records commit to, for whoever has the files beside the log.
//!
//! Keys are found by the numbers that sealed values name, so neither the key of the log nor the id of a subject is needed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use wardgate_decision_log::redaction::{Sealed, SubjectKey, ValuePosition};

use super::error::{LogError, Result};
use super::private::{Private, read_keys};

/// The keys of subjects and the sealed values beside a log. Values are asked for in the order of their records, so
/// those of few segments are in memory at a time.
#[derive(Debug)]
pub struct Unsealer {
    keys: HashMap<[u8; 16], SubjectKey>,
    /// The files that are not read yet, the first one last.
    files: Vec<PathBuf>,
    /// The values that were read and not passed by, by their record.
    values: HashMap<u64, Vec<Sealed>>,
    /// The last record of which a value was read.
    last: u64,
}

/// What is behind a commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsealed {
    /// The value.
    Value(Vec<u8>),
    /// Nobody can read the value: the key of its subject is deleted.
    Erased,
    /// The value is not beside the log.
    Missing,
    /// What is beside the log is not the value that the record commits to.
    Changed,
}

impl Unsealer {
    /// Reads the keys beside the log in a folder. A log without such files has no values.
    ///
    /// # Errors
    /// A file cannot be read or is damaged.
    pub fn open(log: &Path) -> Result<Self> {
        let folder = Private::folder(log);
        let (mut keys, mut files) = (HashMap::new(), Vec::new());
        if folder.is_dir() {
            let path = folder.join("keys.wgk");
            let bytes = fs::read(&path).map_err(LogError::read(&path))?;
            let (found, _) = read_keys(&bytes, &path)?;
            let found = found.into_values().map(SubjectKey::new);
            keys.extend(found.map(|key| (key.number(), key)));
            for found in fs::read_dir(&folder).map_err(LogError::read(&folder))? {
                files.push(found.map_err(LogError::read(&folder))?.path());
            }
            files.retain(|path| path.extension().is_some_and(|end| end == "wgv"));
            files.sort_unstable_by(|one, other| other.cmp(one));
        }
        Ok(Self { keys, files, values: HashMap::new(), last: 0 })
    }

    /// Opens the value of a commitment. Each record is at or after the one of the call before.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn open_value(&mut self, place: ValuePosition, commitment: &[u8; 32]) -> Result<Unsealed> {
        self.read_until(place.record)?;
        let values = self.values.get(&place.record);
        let sealed = values.and_then(|values| values.iter().find(|one| one.place == place));
        let Some(sealed) = sealed else { return Ok(Unsealed::Missing) };
        let Some(key) = self.keys.get(&sealed.key) else { return Ok(Unsealed::Erased) };
        let value = key.unseal(place, commitment, &sealed.bytes);
        Ok(value.map_or(Unsealed::Changed, Unsealed::Value))
    }

    /// Reads files until one has a value behind those of a record.
    fn read_until(&mut self, record: u64) -> Result<()> {
        while self.last <= record
            && let Some(path) = self.files.pop()
        {
            self.values.retain(|known, _| *known >= record);
            let bytes = fs::read(&path).map_err(LogError::read(&path))?;
            let mut rest = bytes.as_slice();
            while let Some((sealed, behind)) = Sealed::read(rest) {
                rest = behind;
                self.last = self.last.max(sealed.place.record);
                if sealed.place.record >= record {
                    self.values.entry(sealed.place.record).or_default().push(sealed);
                }
            }
        }
        Ok(())
    }
}
