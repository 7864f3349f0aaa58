//! A file that takes room on the disk from the start, so that a full disk still has some for the last words of the log.
//!
//! On a full disk the log frees it, and writes what it has taken, a record that says so, and a checkpoint. Then nothing
//! more is written until the file is whole again, so each time the disk is full there is room for last words.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ring::rand::{SecureRandom, SystemRandom};

use super::error::{LogError, Result};
use crate::journal::files::open;
use crate::journal::log::Medium;
use crate::limits::RETRY_PAUSE;

/// The reserve of a log.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    /// The bytes of the whole file; 0 for a log without a reserve.
    whole: u64,
    /// The bytes that it has.
    bytes: u64,
    /// When it may be filled again.
    next: Option<Instant>,
}

impl Reserve {
    /// Returns the reserve of a log, with the room that a process before has left.
    pub(super) fn new(log: &Path, whole: u64) -> Self {
        let path = log.join(NAME);
        let bytes = fs::metadata(&path).map_or(0, |found| found.len().min(whole));
        Self { path, whole, bytes, next: None }
    }

    /// Returns true if the log has a reserve.
    pub(super) const fn is_used(&self) -> bool {
        self.whole > 0
    }

    /// Returns true if all room is taken. If not, the disk is full.
    pub(super) const fn is_whole(&self) -> bool {
        self.bytes >= self.whole
    }

    /// Takes the rest of the room if that was not tried a moment ago. What is taken stays.
    ///
    /// # Errors
    /// There is not enough, or the file cannot be written.
    pub(super) fn fill(&mut self) -> Result<()> {
        if self.is_whole() {
            return Ok(());
        }
        if self.next.is_some_and(|next| Instant::now() < next) {
            return Err(LogError::Full);
        }
        self.pause();
        match self.grow() {
            Ok(()) => Ok(()),
            Err(error) if is_no_room(&error) => Err(LogError::Full),
            Err(error) => Err(LogError::Write(self.path.clone(), error)),
        }
    }

    fn grow(&mut self) -> io::Result<()> {
        let (mut file, random) = (open(&self.path)?, SystemRandom::new());
        // One that was deleted takes no room.
        self.bytes = file.length()?.min(self.whole);
        // A file system that compresses has no room for zeros.
        let mut piece = vec![0; PIECE_BYTES];
        while self.bytes < self.whole {
            let most = usize::try_from(self.whole.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
            let piece = piece.get_mut(..most.min(PIECE_BYTES)).unwrap_or_default();
            random.fill(piece).map_err(|_| io::Error::other("the system has no randomness"))?;
            file.write_at(self.bytes, piece)?;
            let written = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            self.bytes = self.bytes.saturating_add(written);
        }
        // Some file systems find out only now that there is no room.
        Medium::sync(&mut file).inspect_err(|_| {
            file.set_len(0).unwrap_or_default();
            self.bytes = 0;
        })
    }

    /// Lets it be filled only after a moment, so that a disk that is full again and again is not written all the time.
    pub(super) fn pause(&mut self) {
        self.next = Instant::now().checked_add(RETRY_PAUSE);
    }

    /// Gives the room back, and returns true if there was some.
    pub(super) fn free(&mut self) -> bool {
        if self.bytes == 0 {
            return false;
        }
        // Some file systems give back what is free on the disk.
        let freed =
            open(&self.path).and_then(|file| file.set_len(0).and_then(|()| file.sync_all()));
        if freed.is_ok() {
            self.bytes = 0;
        }
        freed.is_ok()
    }

    /// Lets the next call fill it, however soon.
    #[cfg(test)]
    pub(super) fn hurry(&mut self) {
        self.next = None;
    }
}

impl LogError {
    /// Returns true if the disk has no room.
    pub(super) fn is_no_room(&self) -> bool {
        matches!(self, Self::Write(_, error) if is_no_room(error))
    }
}

fn is_no_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The name of the file in the folder of the log.
pub(super) const NAME: &str = "reserve";

/// The bytes that are taken at a time.
const PIECE_BYTES: usize = 64 << 10;
