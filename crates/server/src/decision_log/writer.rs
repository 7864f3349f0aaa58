//! The one writer of a log: records into frames, frames into segments, and checkpoints over them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wardgate_decision_log::frame::{Draft, FramePosition, HEAD_BYTES, Head};
use wardgate_decision_log::signer::LogSigner;

use super::ed25519::{self, SecondKey};
use super::error::{LogError, Result};
use super::folder::{Folder, Lock, LockWatch};
use super::opening::Found;
use super::pauses::Pauses;
use super::segments::{FailedSync, Last, Segments};
use super::tree::Tree;
use crate::limits::RETRY_PAUSE;

/// The settings of a writer.
#[derive(Clone, Copy, Debug)]
pub struct LogSettings {
    /// The bytes after which a new segment begins.
    pub segment_bytes: u64,
    /// The pause after the second failed sync in a row, before a new segment begins again. It doubles after each.
    pub pause: Duration,
    /// True if checkpoints are signed with Ed25519, too.
    pub also_ed25519: bool,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { segment_bytes: 64 << 20, pause: RETRY_PAUSE, also_ed25519: false }
    }
}

/// The writer of a log. Frames whose writing fails are kept, and written before all later ones.
#[derive(Debug)]
pub struct LogWriter {
    folder: Folder,
    signer: LogSigner,
    /// The key of the second signature of checkpoints, if they have one.
    second: Option<SecondKey>,
    /// INVARIANT: held as long as this writes.
    lock: Lock,
    segments: Segments<Folder>,
    /// Those after failed syncs.
    pauses: Pauses,
    tree: Tree,
    draft: Draft,
    /// The bytes and the head of a frame that is not in a file yet.
    frame: Option<(Head, Vec<u8>)>,
    /// The frame before which the next segment begins.
    rolls: Rolls,
    /// The place of the next frame.
    position: FramePosition,
    /// The size of the newest checkpoint.
    sealed: u64,
    /// The time at which the segment began that was found.
    begun: Option<i64>,
}

/// The frame before which a segment begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rolls {
    /// The first one after its segment is full.
    WhenFull,
    /// The one that [`LogWriter::begin_segment`] names: it was not called yet.
    WhenAsked,
    /// The next one.
    Now,
}

impl LogWriter {
    /// Opens the log in a folder, or makes it. `instance` is a random number for a new log. The second value is the file to
    /// which an unfinished end went, if there was one.
    ///
    /// # Errors
    /// Another process writes it, it is of another key, a file is damaged or cannot be written, or its end is missing.
    pub fn open(
        path: &Path,
        signer: LogSigner,
        settings: LogSettings,
        instance: &[u8; 16],
    ) -> Result<(Self, Option<PathBuf>)> {
        let found = Found::open(path, &signer, instance)?;
        let tree = found.tree(signer.origin())?;
        let Found { folder, lock, mut segments, last, sealed, torn, .. } = found;
        let heads = last.as_ref().map(|last| last.heads.as_slice()).unwrap_or_default();
        let position = heads.last().map_or(BEGINNING, behind);
        let begun = heads.first().map(|head| head.lowest);
        segments.set_segment_bytes(settings.segment_bytes);
        let second = settings.also_ed25519.then(|| SecondKey::of(&signer)).transpose()?;
        ed25519::publish(&folder, second.as_ref())?;
        let writer = Self {
            folder,
            signer,
            second,
            lock,
            segments,
            pauses: Pauses::new(settings.pause),
            tree,
            draft: Draft::default(),
            frame: None,
            rolls: Rolls::WhenFull,
            position,
            sealed: sealed.size,
            begun,
        };
        Ok((writer, torn))
    }

    /// Opens a log whose end is missing, to go on behind its newest checkpoint. The second value is the number of frames that
    /// were found. What is missing stays missing, but the log of frames is the same one: its tiles tell it.
    pub(super) fn open_truncated(path: &Path, signer: LogSigner) -> Result<(Self, u64)> {
        let found = Found::open(path, &signer, &[0; 16])?;
        let (tree, last) = found.tree_of_truncated(signer.origin())?;
        let Found { folder, lock, mut segments, last: segment, .. } = found;
        let (position, sealed) = (behind(&last), tree.head());
        let found = segment.as_ref().map_or(0, Last::end);
        let settings = LogSettings::default();
        segments.set_segment_bytes(settings.segment_bytes);
        segments.skip_to(sealed.size);
        let second = ed25519::is_used(&folder).then(|| SecondKey::of(&signer)).transpose()?;
        let writer = Self {
            folder,
            signer,
            second,
            lock,
            segments,
            pauses: Pauses::new(settings.pause),
            tree,
            draft: Draft::default(),
            frame: None,
            rolls: Rolls::WhenFull,
            position,
            sealed: sealed.size,
            begun: None,
        };
        Ok((writer, found))
    }

    /// Returns the number of frames.
    pub(super) const fn frames(&self) -> u64 {
        self.tree.size()
    }

    /// Returns the number of the next record.
    #[must_use]
    pub fn next(&self) -> u64 {
        let unwritten = self.frame.as_ref().map_or(self.position.first, |(head, _)| head.next());
        unwritten.saturating_add(u64::try_from(self.draft.count()).unwrap_or(u64::MAX))
    }

    /// Returns the time at which the segment began that was found at the start, in microseconds since 1970.
    pub(super) const fn begun(&self) -> Option<i64> {
        self.begun
    }

    /// Returns what checks that no other process writes the log.
    pub(super) const fn lock(&self) -> &LockWatch {
        self.lock.watch()
    }

    /// Returns the folder of the log.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the number of the first frame of the segment that has the next frame.
    pub(super) fn segment(&self) -> u64 {
        match self.rolls {
            Rolls::Now => self.segments.frames(),
            Rolls::WhenFull if self.segments.is_full() => self.segments.frames(),
            Rolls::WhenFull | Rolls::WhenAsked => self.segments.current(),
        }
    }

    /// Returns true if the segment that grows takes no more frames, since what is on the disk is unknown.
    pub(super) fn is_broken(&self) -> bool {
        self.segments.is_broken()
    }

    /// Returns true if no record was added that is not in a file.
    pub(super) fn is_empty(&self) -> bool {
        self.frame.is_none() && self.draft.count() == 0
    }

    /// Returns true if records can be added. If not, [`LogWriter::write`] must succeed before.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.frame.is_none()
    }

    /// Lets segments begin only where [`LogWriter::begin_segment`] says so, since records define what later ones of the
    /// segment mean.
    pub(super) fn roll_when_asked(&mut self) {
        self.rolls = Rolls::WhenAsked;
    }

    /// Returns true if the segment of the records that were added is full with them.
    pub(super) fn is_full(&self) -> bool {
        match self.rolls {
            Rolls::Now => self.segments.would_fill(self.draft.bytes()),
            Rolls::WhenFull | Rolls::WhenAsked => self.segments.is_full_with(self.draft.bytes()),
        }
    }

    /// Begins a segment with the next frame, of which no record was added yet.
    pub(super) fn begin_segment(&mut self) {
        self.rolls = Rolls::Now;
    }

    /// Adds a record with its time, in microseconds since 1970. Returns false, and adds nothing, if the frame is full:
    /// it must be written before.
    pub fn add(&mut self, record: &[u8], micros: i64) -> bool {
        self.is_ready() && self.draft.add(record, micros)
    }

    /// Writes the records that were added as a frame, also if there are none. `now` is in microseconds since 1970.
    ///
    /// # Errors
    /// The frame cannot be written. It is kept for the next try.
    pub fn write(&mut self, now: i64) -> Result<()> {
        self.write_kept()?;
        let mut bytes = Vec::with_capacity(HEAD_BYTES.saturating_add(self.draft.bytes()));
        let head = self.draft.write(self.position, now, &mut bytes);
        self.frame = Some((head, bytes));
        self.write_kept()
    }

    fn write_kept(&mut self) -> Result<()> {
        let Some((head, mut bytes)) = self.frame.take() else { return Ok(()) };
        let appended = self.on_disk(|writer| writer.append(&head, &mut bytes));
        if appended.is_err() {
            self.frame = Some((head, bytes));
            return appended;
        }
        self.tree.append(&head);
        self.position.first = head.next();
        self.position.before = head.digest();
        self.position.durable = self.segments.first_unsynced().unwrap_or(self.position.first);
        Ok(())
    }

    fn append(&mut self, head: &Head, bytes: &mut Vec<u8>) -> Result<()> {
        match self.rolls {
            Rolls::Now => {
                self.segments.close()?;
                self.rolls = Rolls::WhenAsked;
            }
            Rolls::WhenFull if self.segments.is_full() => self.segments.close()?,
            Rolls::WhenFull | Rolls::WhenAsked => {}
        }
        self.segments.append(head, bytes)
    }

    /// Does something to the segments, if no other process writes them, and no pause after a failed sync is on.
    fn on_disk(&mut self, act: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.lock.watch().check()?;
        if self.segments.is_broken() && !self.pauses.is_over(Instant::now()) {
            return Err(LogError::Broken);
        }
        let done = act(self);
        if self.segments.is_broken() {
            self.pauses.begin(Instant::now());
        }
        done
    }

    /// Returns when all frames are on the disk.
    ///
    /// # Errors
    /// The system reports a failure. The content of the disk is unknown then, so a later try begins a new segment with
    /// the frames that are not known to be there: the next one, or the first one after a pause if syncs have failed in a row.
    pub fn sync(&mut self) -> Result<()> {
        self.on_disk(|writer| writer.segments.sync())?;
        self.position.durable = self.position.first;
        Ok(())
    }

    /// Returns the last failed sync after which the log went on, once.
    pub(super) const fn take_failed_sync(&mut self) -> Option<FailedSync> {
        self.segments.take_failed_sync()
    }

    /// Takes the segment that grows for one whose sync has failed.
    #[cfg(test)]
    pub(super) fn break_off(&mut self) {
        self.segments.break_off();
        self.pauses.begin(Instant::now());
    }

    /// Returns the number of frames that the newest checkpoint covers.
    pub(super) const fn sealed(&self) -> u64 {
        self.sealed
    }

    /// Returns true if there are frames that the newest checkpoint does not cover.
    #[must_use]
    pub const fn is_unsealed(&self) -> bool {
        self.sealed < self.tree.size()
    }

    /// Seals all frames: they are on the disk, then their tiles, then the checkpoint. The time is in seconds since 1970.
    ///
    /// # Errors
    /// A file cannot be written. The checkpoint before is unchanged.
    pub fn seal(&mut self, seconds: u64, randomness: &[u8; 32]) -> Result<()> {
        self.sync()?;
        self.tree.write()?;
        let head = self.tree.head();
        let note = self.signer.sign(head, seconds, randomness);
        let mut note =
            note.map_err(|_| LogError::Checkpoint("the library found no signature".to_owned()))?;
        let second = self.second.as_ref().map(|second| second.sign(&note.text));
        note.signatures.extend(second);
        self.folder.replace("checkpoint", note.to_string().as_bytes())?;
        self.sealed = head.size;
        Ok(())
    }
}

/// Returns the place of the frame after one.
fn behind(head: &Head) -> FramePosition {
    FramePosition { first: head.next(), durable: head.next(), before: head.digest() }
}

/// The place of the first frame of a log.
const BEGINNING: FramePosition = FramePosition { first: 0, durable: 0, before: [0; 32] };
