//! The segments that were shipped, in a file of the log, so that a restart goes on. Without the file the target is asked
//! again.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::decision_log::error::{LogError, Result};
use crate::decision_log::folder::Folder;

/// The segments that are at the target.
#[derive(Debug)]
pub(in crate::decision_log) struct Shipped {
    folder: Folder,
    /// The digest of the target.
    target: String,
    /// The numbers of the first frames of segments.
    segments: Mutex<BTreeSet<u64>>,
}

impl Shipped {
    /// Reads what was shipped to a target.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub(super) fn read(log: &Path, target: String) -> Result<Self> {
        let path = log.join(NAME);
        let bytes = match crate::files::bounded(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(LogError::Read(path, error)),
        };
        let segments = segments(&String::from_utf8(bytes).unwrap_or_default(), &target);
        let segments = Mutex::new(segments.unwrap_or_default());
        Ok(Self { folder: Folder::new(log), target, segments })
    }

    /// Returns true if the segment is at the target whose first frame has this number.
    pub(in crate::decision_log) fn contains(&self, first_frame: u64) -> bool {
        self.segments().contains(&first_frame)
    }

    /// Adds a segment, and forgets those that are not among the present ones.
    ///
    /// # Errors
    /// The file cannot be written. The segment counts as shipped until the server ends.
    pub(super) fn add(&self, first_frame: u64, present: &BTreeSet<u64>) -> Result<()> {
        let mut text = format!("{IDENTITY}\n{}\n", self.target);
        {
            let mut segments = self.segments();
            segments.retain(|segment| present.contains(segment));
            segments.insert(first_frame);
            segments.iter().for_each(|segment| text.push_str(&format!("{segment:012}\n")));
        }
        self.folder.replace(NAME, text.as_bytes())
    }

    fn segments(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the segments of a file. Returns `None` if it is about another target, or is no such file.
fn segments(text: &str, target: &str) -> Option<BTreeSet<u64>> {
    let mut lines = text.lines();
    let is_ours = lines.next() == Some(IDENTITY) && lines.next() == Some(target);
    let numbers = lines.map(|line| line.parse().ok());
    is_ours.then(|| numbers.collect())?
}

/// The name of the file in the folder of the log.
const NAME: &str = "shipped";

/// The first line of the file.
const IDENTITY: &str = "wardgate shipped segments 1";

/// The most bytes of the file: a line for each of a million segments.
const MAX_BYTES: u64 = 1 << 24;
