//! The journal of changes: opened, read again after a kill, and written at its end.
//!
//! Changes are durable when `sync` has returned, and the file never holds one that failed: a
//! partial write to a full disk is cut off again, and if that fails too, nothing is written any
//! more. The next start judges the end of the file. Bytes that were never known to be on the disk
//! may be cut off; others must be whole, or the start fails. `recover` explains how it tells the
//! two apart.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::format::Format;
use super::frame::{self, Changes, Record};
use super::recover::{self, Torn};
use crate::journal::error::{JournalError, Result};

/// The bytes of the journal: a file, or a simulation of its failures in tests.
pub(crate) trait Medium: Send {
    /// Returns how many bytes there are.
    ///
    /// # Errors
    /// Those of the file.
    fn length(&mut self) -> io::Result<u64>;

    /// Reads up to the length of `into`, and returns the number of bytes.
    ///
    /// # Errors
    /// Those of the file.
    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all bytes. After an error some of them may be there.
    ///
    /// # Errors
    /// Those of the file.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts off the bytes behind `to`.
    ///
    /// # Errors
    /// Those of the file.
    fn truncate(&mut self, to: u64) -> io::Result<()>;

    /// Returns when everything is on the disk.
    ///
    /// # Errors
    /// Those of the file. The content of the disk is unknown then.
    fn sync(&mut self) -> io::Result<()>;
}

/// The open journal of changes.
#[derive(Debug)]
pub(crate) struct Log<M> {
    medium: M,
    /// The offset of the next frame.
    end: u64,
    /// The number of the next change.
    next: u64,
    /// All changes before this one are on the disk for certain.
    durable: u64,
    /// The bytes that are on the disk for certain.
    synced: u64,
    /// A failure that could not be undone. INVARIANT: nothing is written after it.
    broken: bool,
    buffer: Vec<u8>,
}

impl<M: Medium> Log<M> {
    /// Opens a file of changes and passes every one to `each`, in order. A new file gets its
    /// beginning.
    ///
    /// Returns a torn end, which stays in the file until `cut`.
    ///
    /// # Errors
    /// The file has another format, is damaged, or cannot be read.
    pub(crate) fn open<R: Record>(
        medium: M,
        each: &mut dyn FnMut(R),
    ) -> Result<(Self, Option<Torn>)> {
        let mut all = |changes: Vec<R>| changes.into_iter().for_each(&mut *each);
        Self::open_frames::<Changes<R>>(medium, 1, &mut all)
    }

    /// Opens a file of frames and passes the content of every one to `each`, in order. A new file gets its
    /// beginning, and its first record the number `first`.
    ///
    /// Returns a torn end, which stays in the file until `cut`.
    ///
    /// # Errors
    /// The file has another format, is damaged, or cannot be read.
    pub(crate) fn open_frames<F: Format>(
        mut medium: M,
        first: u64,
        each: &mut dyn FnMut(F::Content),
    ) -> Result<(Self, Option<Torn>)> {
        let start = start(&mut medium, F::START)?;
        let recovered = recover::frames::<M, F>(&mut medium, (start, first), each)?;
        let recover::Recovered { end, next, torn } = recovered;
        let log = Self {
            medium,
            end,
            next,
            durable: next,
            synced: end,
            broken: false,
            buffer: Vec::new(),
        };
        Ok((log, torn))
    }

    /// Cuts off a torn end and waits for the disk. Changes read before count as durable only after
    /// that.
    ///
    /// # Errors
    /// The file cannot be cut.
    pub(crate) fn cut(&mut self) -> Result<()> {
        self.medium
            .truncate(self.end)
            .and_then(|()| self.medium.sync())
            .map_err(JournalError::Write)
    }

    /// Writes the changes as one, behind all others. They are not durable yet.
    ///
    /// # Errors
    /// If they cannot be written. Then the file is as it was before.
    pub(crate) fn append<R: Record>(&mut self, changes: &[R]) -> Result<()> {
        let count = u64::try_from(changes.len()).unwrap_or(u64::MAX);
        let (next, durable) = (self.next, self.durable.saturating_sub(1));
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        frame::write(changes, next, durable, &mut buffer);
        let written = self.append_frame(&buffer, next.saturating_add(count));
        self.buffer = buffer;
        written
    }

    /// Writes a frame behind all others, after which `next` is the number of the next record. It is not
    /// durable yet.
    ///
    /// # Errors
    /// If it cannot be written. Then the file is as it was before.
    pub(crate) fn append_frame(&mut self, frame: &[u8], next: u64) -> Result<()> {
        if self.broken {
            return Err(JournalError::Broken);
        }
        if let Err(error) = self.medium.write_at(self.end, frame) {
            self.undo(self.end);
            return Err(JournalError::Write(error));
        }
        self.end = self.end.saturating_add(u64::try_from(frame.len()).unwrap_or(u64::MAX));
        self.next = next;
        Ok(())
    }

    /// Writes the changes as one frame and returns when they are on the disk.
    ///
    /// # Errors
    /// They cannot be written or synced. The file is as it was before.
    pub(crate) fn append_durably<R: Record>(&mut self, changes: &[R]) -> Result<()> {
        let (end, next) = (self.end, self.next);
        self.append(changes)?;
        let synced = self.sync();
        if synced.is_err() {
            (self.end, self.next) = (end, next);
            self.undo(end);
            self.broken = true;
        }
        synced
    }

    /// Returns when all written frames are on the disk.
    ///
    /// # Errors
    /// The system reports a failure. The content of the disk is unknown then, so nothing is written
    /// any more.
    pub(crate) fn sync(&mut self) -> Result<()> {
        if self.broken {
            return Err(JournalError::Broken);
        }
        if self.synced == self.end {
            return Ok(());
        }
        self.medium.sync().map_err(|error| {
            self.broken = true;
            JournalError::Write(error)
        })?;
        (self.durable, self.synced) = (self.next, self.end);
        Ok(())
    }

    /// Writes nothing any more.
    pub(crate) fn break_off(&mut self) {
        self.broken = true;
    }

    /// Returns true if nothing is written any more.
    pub(crate) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Returns the number of the next change.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the bytes of the file.
    pub(crate) const fn bytes(&self) -> u64 {
        self.end
    }

    /// Removes the rest of a failed write.
    fn undo(&mut self, end: u64) {
        self.broken = self.medium.truncate(end).is_err();
    }
}

/// Makes sure that the file begins as it must, and returns where the frames begin.
fn start<M: Medium>(medium: &mut M, expected: &[u8; 16]) -> Result<u64> {
    let mut found = [0; 16];
    let read = read_up_to(medium, 0, &mut found)?;
    let found = found.get(..read).unwrap_or_default();
    if found != expected {
        // A kill while the file was made leaves a part of the beginning, or the place for it.
        let unfinished = found.len() < expected.len() && expected.starts_with(found)
            || found.iter().all(|byte| *byte == 0);
        let empty = medium.length().map_err(JournalError::Read)?
            <= u64::try_from(expected.len()).unwrap_or(0);
        if !(unfinished && empty) {
            return Err(JournalError::Foreign);
        }
        medium.write_at(0, expected).and_then(|()| medium.sync()).map_err(JournalError::Write)?;
    }
    Ok(u64::try_from(expected.len()).unwrap_or(0))
}

/// Reads until `into` is full or the file ends.
pub(super) fn read_up_to<M: Medium>(medium: &mut M, at: u64, into: &mut [u8]) -> Result<usize> {
    let mut done = 0_usize;
    while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let from = at.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
        match medium.read_at(from, rest) {
            Ok(0) => break,
            Ok(read) => done = done.saturating_add(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(JournalError::Read(error)),
        }
    }
    Ok(done)
}

impl Medium for File {
    fn length(&mut self) -> io::Result<u64> {
        self.metadata().map(|data| data.len())
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.seek(SeekFrom::Start(at))?;
        self.read(into)
    }

    #[cfg(unix)]
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        super::volume::check(bytes.len())?;
        std::os::unix::fs::FileExt::write_all_at(self, bytes, at)
    }

    #[cfg(not(unix))]
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        io::Write::write_all(self, bytes)
    }

    fn truncate(&mut self, to: u64) -> io::Result<()> {
        self.set_len(to)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

#[cfg(test)]
mod tests;
