//! The frames of a log as they come, with the names that earlier ones define.

use std::path::{Path, PathBuf};

use wardgate_decision_log::record::Record;

use super::position::Position;
use crate::decision_log::error::Result;
use crate::decision_log::folder::Folder;
use crate::decision_log::names::Names;
use crate::decision_log::reading::{LogReader, StoredFrame};
use crate::decision_log::segments::Disk;

/// A reader that waits for more at the end of a log.
#[derive(Debug)]
pub(super) struct Tail {
    log: PathBuf,
    reader: LogReader,
    names: Names,
}

impl Tail {
    /// Reads a log from a position on. Names come from the beginning of its segment.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn open(log: &Path, position: Position) -> Result<Self> {
        let reader = LogReader::open_at(log, position.frame)?;
        Ok(Self { log: log.to_owned(), reader, names: Names::default() })
    }

    /// Returns the end of a log that is not being written.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn end(log: &Path) -> Result<Position> {
        if !log.exists() {
            return Ok(Position::default());
        }
        let last = Folder::new(log).segments()?.last().map_or(0, |segment| segment.first_frame);
        let mut reader = LogReader::open_at(log, last)?;
        let mut end = Position { frame: last, record: 0 };
        while let Some(stored) = reader.next_frame()? {
            let next = stored.frame()?.head.next();
            end = Position { frame: stored.number.saturating_add(1), record: next };
        }
        Ok(end)
    }

    /// Returns the next frame that is not before a position, if it is there.
    ///
    /// # Errors
    /// A file cannot be read, or is not as it was written.
    pub(super) fn next(&mut self, position: Position) -> Result<Option<StoredFrame>> {
        let found = self.find(position);
        if found.is_err() {
            // After a failure of the disk frames are in a segment that begins before the end of the last one.
            *self = Self::open(&self.log, position)?;
            return self.find(position);
        }
        found
    }

    fn find(&mut self, position: Position) -> Result<Option<StoredFrame>> {
        loop {
            let mut found = self.reader.next_frame()?;
            if found.is_none() {
                self.reader.look_again()?;
                found = self.reader.next_frame()?;
            }
            let Some(stored) = found else { return Ok(None) };
            if stored.number >= position.frame {
                return Ok(Some(stored));
            }
            let frame = stored.frame()?;
            for record in frame.records.iter().filter_map(|bytes| Record::read(bytes)) {
                self.names.learn(&record.body);
            }
        }
    }

    /// Returns the names, which the caller learns from the frames that it gets.
    pub(super) fn names(&mut self) -> &mut Names {
        &mut self.names
    }
}
