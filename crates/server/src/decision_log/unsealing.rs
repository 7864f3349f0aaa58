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
    /// The first record of which the segment that was read last has a value.
    first: u64,
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
        Ok(Self { keys, files, values: HashMap::new(), first: 0 })
    }

    /// Opens the value of a commitment. Each record is at or after the one of the call before.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn open_value(&mut self, place: ValuePosition, commitment: &[u8; 32]) -> Result<Unsealed> {
        self.read_until(place.record)?;
        let values = self.values.get(&place.record).into_iter().flatten();
        let mut found = Unsealed::Missing;
        // A sequencer that another one outran leaves other values for the place: the commitment tells.
        for sealed in values.filter(|sealed| sealed.place == place) {
            let Some(key) = self.keys.get(&sealed.key) else {
                found = Unsealed::Erased;
                continue;
            };
            match key.unseal(place, commitment, &sealed.bytes) {
                Some(value) => return Ok(Unsealed::Value(value)),
                None if found == Unsealed::Missing => found = Unsealed::Changed,
                None => {}
            }
        }
        Ok(found)
    }

    /// Reads segments until one has only values behind a record. Values of the record are then read: those of a
    /// segment are behind those of the segments before.
    fn read_until(&mut self, record: u64) -> Result<()> {
        self.values.retain(|known, _| *known >= record);
        while self.first <= record
            && let Some(path) = self.files.pop()
        {
            let mut first = self.read(&path, record)?;
            // Where sequencers outran each other a segment has several files, whose names begin with its number.
            while let Some(beside) =
                self.files.pop_if(|beside| beside.file_prefix() == path.file_prefix())
            {
                first = first.min(self.read(&beside, record)?);
            }
            if first < u64::MAX {
                self.first = first;
            }
        }
        Ok(())
    }

    /// Reads the values of a file that are of a record or of later ones. Returns the first record of which it has a value, or the
    /// largest number if it has none.
    fn read(&mut self, path: &Path, record: u64) -> Result<u64> {
        let bytes = fs::read(path).map_err(LogError::read(path))?;
        let (mut first, mut rest) = (u64::MAX, bytes.as_slice());
        while let Some((sealed, behind)) = Sealed::read(rest) {
            rest = behind;
            let of = sealed.place.record;
            first = first.min(of);
            if of >= record {
                self.values.entry(of).or_default().push(sealed);
            }
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use wardgate_decision_log::redaction::Field;
    use wardgate_decision_log::subjects::entry;

    use super::super::tests::Temporary;
    use super::*;

    fn place(record: u64) -> ValuePosition {
        ValuePosition { record, field: Field::Principal }
    }

    /// Writes the values of a segment under a key, each in the place of the record of that number.
    fn write(folder: &Path, name: &str, key: &SubjectKey, values: &[(u64, &str)]) {
        let mut bytes = Vec::new();
        for (record, value) in values {
            let (_, sealed) = key.seal(place(*record), value.as_bytes()).unwrap();
            let sealed = Sealed { place: place(*record), key: key.number(), bytes: sealed };
            sealed.write(&mut bytes);
        }
        fs::write(folder.join(name), bytes).unwrap();
    }

    #[test]
    fn values_of_a_sequencer_that_was_outrun_hide_no_others() {
        let temporary = Temporary::new();
        let folder = Private::folder(&temporary.0);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("keys.wgk"), entry(&[1; 16], &[7; 32])).unwrap();
        let [key, erased] = [[7; 32], [8; 32]].map(SubjectKey::new);
        // Two sequencers wrote the first segment; the outrun one has values for later records too.
        write(&folder, "000000000000.aa.wgv", &key, &[(3, "another"), (9, "late")]);
        write(&folder, "000000000000.bb.wgv", &key, &[(3, "ada"), (4, "bo")]);
        write(&folder, "000000000001.cc.wgv", &key, &[(8, "cleo"), (9, "dan")]);
        write(&folder, "000000000002.dd.wgv", &erased, &[(12, "eve")]);
        let mut values = Unsealer::open(&temporary.0).unwrap();
        let mut open = |record, of: &SubjectKey, value: &str| {
            let commitment = of.commit(place(record), value.as_bytes());
            values.open_value(place(record), &commitment).unwrap()
        };
        for (record, value) in [(3, "ada"), (4, "bo"), (8, "cleo"), (9, "dan")] {
            assert_eq!(open(record, &key, value), Unsealed::Value(value.into()), "{record}");
        }
        assert_eq!(open(9, &key, "none"), Unsealed::Changed);
        assert_eq!(open(10, &key, "none"), Unsealed::Missing);
        assert_eq!(open(12, &erased, "eve"), Unsealed::Erased);
    }
}
