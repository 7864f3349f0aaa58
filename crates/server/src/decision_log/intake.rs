//! The way of entries from rings to the thread that makes frames of them.
//!
//! Where answers wait for their records, the thread that answers takes the entries out of all rings and writes them to the tail
//! of the log, so it writes for all others that wait. Nothing else is done while they do.

use std::sync::{Mutex, MutexGuard, PoisonError};

use wardgate_native::decision_log::{Batch, RingReader};

use super::error::Result;
use super::folder::LockWatch;
use super::tail::{Floor, SharedFile, Tail, TailFile};
use crate::journal::log::Medium;

/// The rings, and the entries that were taken out of them and not made into records.
#[derive(Debug)]
pub(super) struct Intake {
    inner: Mutex<Inner>,
    /// The rounds of the tail that are on the disk, where answers wait for that.
    synced: Option<Mutex<u64>>,
}

#[derive(Debug)]
struct Inner {
    readers: Vec<(u16, RingReader)>,
    batch: Batch,
    /// The bytes of the batch that are in the tail.
    kept: usize,
    tail: Option<Tail<SharedFile>>,
    floor: Floor,
    /// True if entries went on that are neither in the tail nor in frames.
    is_behind: bool,
    lock: LockWatch,
    /// The bytes that were written since the lock was looked at.
    unchecked: usize,
}

/// Which entries are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taking {
    /// Those that are there.
    All,
    /// Those that are there, after which there are none.
    Last,
}

impl Intake {
    pub(super) fn new(lock: LockWatch) -> Self {
        let inner = Inner {
            readers: Vec::new(),
            batch: Batch::default(),
            kept: 0,
            tail: None,
            floor: Floor::default(),
            is_behind: false,
            lock,
            unchecked: 0,
        };
        Self { inner: Mutex::new(inner), synced: None }
    }

    /// Writes entries to a tail before they are made into records, and waits for the disk if `is_synced`.
    pub(super) fn with_tail(mut self, tail: Tail<SharedFile>, is_synced: bool) -> Self {
        self.synced = is_synced.then(Mutex::default);
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).tail = Some(tail);
        self
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties this ring, too.
    pub(super) fn add(&self, stream: u16, reader: RingReader) {
        self.inner().readers.push((stream, reader));
    }

    /// Takes the entries of all rings and writes them to the tail. Returns false if frames must be made first.
    ///
    /// # Errors
    /// They cannot be written, or another process may write the log.
    pub(super) fn keep(&self) -> Result<bool> {
        let mut inner = self.inner();
        let is_kept = inner.keep()?;
        let rounds = inner.rounds();
        drop(inner);
        if is_kept { self.sync(rounds) } else { Ok(false) }
    }

    /// Returns when so many rounds are on the disk. One thread waits for the disk, and the others for it.
    fn sync(&self, rounds: u64) -> Result<bool> {
        let Some(synced) = &self.synced else { return Ok(true) };
        let mut synced = synced.lock().unwrap_or_else(PoisonError::into_inner);
        if *synced >= rounds {
            return Ok(true);
        }
        let inner = self.inner();
        let file = inner.tail.as_ref().map(Tail::file).filter(|_| !inner.is_behind);
        let rounds = inner.rounds();
        drop(inner);
        let Some(mut file) = file else { return Ok(false) };
        file.sync().map_err(|error| self.inner().break_tail(error))?;
        *synced = rounds;
        Ok(true)
    }

    /// Takes all entries, and puts them in the place of those in `taken`, which are records now. `floor` is the end of the
    /// log. Returns the file of the tail that has them, if there is none of before that is not taken back.
    pub(super) fn swap(
        &self,
        taken: &mut Batch,
        floor: Floor,
        taking: Taking,
    ) -> Option<TailFile<SharedFile>> {
        let mut synced = self
            .synced
            .as_ref()
            .map(|synced| synced.lock().unwrap_or_else(PoisonError::into_inner));
        let mut inner = self.inner();
        if inner.tail.is_some() {
            // What cannot be written to the tail goes on all the same.
            inner.keep().unwrap_or(false);
        }
        if inner.tail.is_none() || taking == Taking::Last {
            inner.take(taking, BATCH_BYTES);
        }
        inner.is_behind |= inner.tail.is_some() && !inner.is_all_kept();
        taken.clear();
        std::mem::swap(taken, &mut inner.batch);
        (inner.kept, inner.floor) = (0, floor);
        let rounds = inner.rounds();
        let mut used = inner.tail.as_mut().and_then(Tail::switch);
        drop(inner);
        if let (Some(synced), Some(used)) = (&mut synced, &mut used) {
            match used.sync() {
                Ok(()) => **synced = rounds,
                // Those who wait for it wait for frames.
                Err(_) => self.inner().is_behind = true,
            }
        }
        used
    }

    /// Takes the tail for one whose sync has failed.
    #[cfg(test)]
    pub(super) fn break_tail(&self) {
        self.inner().break_tail(std::io::ErrorKind::Other.into());
    }

    /// Notes that everything which was taken is in frames, and takes back the file of its tail.
    pub(super) fn release(&self, used: Option<TailFile<SharedFile>>) {
        let mut inner = self.inner();
        inner.is_behind = false;
        if let (Some(used), Some(tail)) = (used, &mut inner.tail) {
            tail.take_back(used);
        }
    }
}

impl Inner {
    fn rounds(&self) -> u64 {
        self.tail.as_ref().map_or(0, Tail::rounds)
    }

    fn keep(&mut self) -> Result<bool> {
        if self.unchecked >= CHECKED_BYTES {
            self.lock.check()?;
            self.unchecked = 0;
        }
        self.take(Taking::All, MAX_BATCH_BYTES);
        let Some(tail) = &mut self.tail else { return Ok(false) };
        let new = self.batch.bytes().get(self.kept..).unwrap_or_default();
        if !new.is_empty() {
            tail.write(new, self.floor)?;
            self.unchecked = self.unchecked.saturating_add(new.len());
            self.kept = self.batch.bytes().len();
        }
        Ok(!self.is_behind && self.batch.bytes().len() < MAX_BATCH_BYTES)
    }

    fn is_all_kept(&self) -> bool {
        self.kept == self.batch.bytes().len()
    }

    /// Takes entries until there are none, or the batch has so many bytes. Rings of threads that have ended go.
    fn take(&mut self, taking: Taking, most: usize) {
        let Self { readers, batch, .. } = self;
        readers.retain_mut(|(stream, reader)| {
            // Asked before: what is in the ring then is all that there will be.
            if !reader.is_closed() && taking == Taking::All {
                batch.take(*stream, reader, most);
                return true;
            }
            let is_closed = reader.is_closed();
            batch.finish(*stream, reader, most);
            !is_closed || batch.bytes().len() >= most
        });
    }

    fn break_tail(&mut self, error: std::io::Error) -> super::LogError {
        let tail = self.tail.as_mut();
        tail.map_or(super::LogError::Broken, |tail| tail.break_off(error))
    }
}

/// The bytes of entries that are made into records at a time.
const BATCH_BYTES: usize = 256 << 10;

/// The most bytes of entries in a tail that wait for frames: beyond them answers wait for frames.
const MAX_BATCH_BYTES: usize = 4 << 20;

/// The bytes after which the lock of the log is looked at.
const CHECKED_BYTES: usize = 64 << 10;
