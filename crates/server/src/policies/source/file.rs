//! A bundle in a file.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use wardgate_bundle::limits::{MAX_BUNDLE_BYTES, MAX_SEAL_BYTES};

use super::{Lookup, Source, SourceError};
use crate::files::{reason, rest};

/// A bundle in a file. Replace it by a rename: a file that is written in place may be read half.
/// Half a bundle is refused, and read again once the file has changed.
#[derive(Debug)]
pub struct FileSource {
    path: PathBuf,
    seen: Option<Stamp>,
}

/// The metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
}

impl FileSource {
    /// Takes the path of the file.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path, seen: None }
    }

    fn read(&mut self, anyway: bool) -> io::Result<Lookup> {
        let file = File::open(&self.path)?;
        let about = file.metadata()?;
        let stamp = Stamp { modified: about.modified()?, length: about.len() };
        if !anyway && self.seen == Some(stamp) && stamp.is_settled() {
            return Ok(Lookup::Unchanged);
        }
        let most = MAX_BUNDLE_BYTES.saturating_add(MAX_SEAL_BYTES);
        let bytes = rest(file, u64::try_from(most).unwrap_or(u64::MAX))?;
        self.seen = Some(stamp);
        Ok(Lookup::Bundle(bytes))
    }
}

impl Source for FileSource {
    fn look(&mut self, anyway: bool) -> Result<Lookup, SourceError> {
        let name = self.name();
        self.read(anyway)
            .map_err(|error| SourceError::new(format!("cannot read {name}: {}", reason(&error))))
    }

    fn name(&self) -> String {
        format!("the bundle `{}`", self.path.display())
    }
}

impl Stamp {
    /// Returns true if the clock of the file system has advanced since: only then would another
    /// write show.
    fn is_settled(self) -> bool {
        SystemTime::now().duration_since(self.modified).is_ok_and(|age| age > TICK)
    }
}

/// The coarsest clock of a file system in use.
const TICK: Duration = Duration::from_secs(2);
