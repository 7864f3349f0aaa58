//! The way of entries to the log: made into records, and added to frames.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use wardgate_decision_log::record::{Body, Clock, Lost, Policies, Settings, ShortText, Text};
use wardgate_decision_log::redaction::{HiddenValue, SubjectKey};
use wardgate_native::decision_log::{Assembler, Batch, Drained, Items, LOG_STREAM, Sink};

use super::by_rules;
use super::error::{LogError, Result};
use super::folder::LockWatch;
use super::intake::{Intake, Taking};
use super::private::Private;
use super::recorder::RecorderSettings;
use super::recovering::Left;
use super::reserve::Reserve;
use super::segments::FailedSync;
use super::tail::{self, Floor, SharedFile, TailFile};
use super::writer::LogWriter;
use crate::config::{Filter, Keep};

/// The log, and the entries that go into it.
#[derive(Debug)]
pub(super) struct Core {
    /// The entries that were taken, and how many of their bytes are made into records.
    taken: Batch,
    done: usize,
    /// The file of the tail that has these entries, until they are in frames.
    used: Option<TailFile<SharedFile>>,
    /// True if frames must be on the disk before the tail may forget their entries.
    is_synced: bool,
    assembler: Assembler,
    /// The decisions that are recorded.
    filter: Filter,
    /// The policies that decisions may name: those in force, and before them those of requests that are decided now.
    policies: VecDeque<Policies>,
    output: Output,
    /// The room for last words on a full disk. While it is not whole, nothing is written.
    reserve: Reserve,
    counts: Counts,
    /// The time of the last tick.
    now: i64,
    age: SegmentAge,
    intervals: Intervals,
}

/// The entries that were taken out of rings since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) recorded: u64,
    pub(super) lost: u64,
}

/// The age at which a segment ends that is not full.
#[derive(Debug)]
struct SegmentAge {
    /// The longest time, in microseconds; `None` for any.
    most: Option<i64>,
    /// When the segment began, in microseconds since 1970.
    begun: i64,
    /// The number of the first record behind those that each segment repeats.
    first: u64,
}

/// The intervals of syncs, checkpoints and frames, and when each was done last.
#[derive(Debug)]
struct Intervals {
    sync: Duration,
    synced: Instant,
    checkpoint: Duration,
    sealed: Instant,
    heartbeat: Duration,
    written: Instant,
    random: SystemRandom,
}

/// Records and values that are not written yet.
#[derive(Debug)]
struct Output {
    writer: LogWriter,
    private: Private,
    /// The records for which the frame has no room.
    waiting: VecDeque<(Vec<u8>, i64)>,
    /// The values of records that are not in a file yet, as it has them.
    values: Vec<u8>,
    /// The record of each of these values, and its end.
    ends: VecDeque<(u64, usize)>,
}

impl Core {
    pub(super) fn new(mut writer: LogWriter, private: Private, settings: RecorderSettings) -> Self {
        let assembler = Assembler::new(settings.redaction, writer.next());
        writer.roll_when_asked();
        let micros = |most: Duration| i64::try_from(most.as_micros()).unwrap_or(i64::MAX);
        let age = SegmentAge {
            most: settings.segment.map(micros),
            begun: writer.begun().unwrap_or(i64::MAX),
            first: writer.next(),
        };
        let now = Instant::now();
        let reserve = Reserve::new(writer.path(), settings.reserve);
        Self {
            taken: Batch::default(),
            done: 0,
            used: None,
            is_synced: settings.keep == Keep::Disk,
            assembler,
            filter: settings.filter,
            policies: VecDeque::new(),
            output: Output {
                writer,
                private,
                waiting: VecDeque::new(),
                values: Vec::new(),
                ends: VecDeque::new(),
            },
            reserve,
            counts: Counts::default(),
            now: 0,
            age,
            intervals: Intervals {
                sync: settings.sync,
                synced: now,
                checkpoint: settings.checkpoint,
                sealed: now,
                heartbeat: settings.heartbeat,
                written: now,
                random: SystemRandom::new(),
            },
        }
    }

    /// Reads the entries that a process left in the tail of the log when it was killed.
    ///
    /// # Errors
    /// A file cannot be read or is damaged.
    pub(super) fn left(&self) -> Result<Option<Left>> {
        Left::read(self.output.writer.path(), self.output.writer.frames())
    }

    /// Makes frames of the entries that a process left, and removes the tail.
    ///
    /// # Errors
    /// A file cannot be written. The next start tries again.
    pub(super) fn recover(&mut self, left: Option<Left>, now: i64) -> Result<()> {
        if let Some(left) = left {
            // Whether the disk is full is not known yet, and a part of it must not be recorded twice.
            self.reserve.free();
            let forms = self.assembler.restart(left.sequence(), left.forms());
            for (stream, drained) in left.unrecorded() {
                self.counts.add(&drained);
                self.assembler.drained(stream, &drained, now, &mut self.output);
                self.output.settle(now)?;
            }
            self.assembler.flush(&mut self.output);
            if !self.output.is_empty() {
                self.output.write(now)?;
            }
            self.sync()?;
            self.output.private.sync_values()?;
            self.assembler.restart(0, forms);
        }
        tail::remove(self.output.writer.path())
    }

    pub(super) const fn counts(&self) -> Counts {
        self.counts
    }

    /// Records an event of the log itself.
    pub(super) fn event(&mut self, body: Body, micros: i64) {
        if self.output.is_empty() && self.output.writer.is_full() {
            self.begin_segment(micros);
        }
        if let Body::Policies(policies) = &body {
            self.policies.push_front(policies.clone());
            // Rules that are often read anew do not take the place of the policies beside them.
            let is_alike = |one: &Policies| {
                (one.number >= by_rules::FIRST) == (policies.number >= by_rules::FIRST)
            };
            let mut left = MAX_POLICIES;
            self.policies.retain(|one| {
                !is_alike(one) || left.checked_sub(1).map(|less| left = less).is_some()
            });
        }
        self.assembler.event(body, micros, &mut self.output);
    }

    /// Begins a segment if the one that grows is full or old, and defines again what later records name: so each can be read alone.
    fn roll(&mut self, now: i64) -> Result<()> {
        self.age.begun = self.age.begun.min(now);
        if !self.output.writer.is_full() && !self.age.is_over(now, self.assembler.next()) {
            return Ok(());
        }
        if !self.output.is_empty() {
            self.output.write(now)?;
        }
        self.begin_segment(now);
        self.output.settle(now)
    }

    fn begin_segment(&mut self, now: i64) {
        self.output.writer.begin_segment();
        self.assembler.forget_targets();
        if let Some(settings) = self.filter.settings(now) {
            self.assembler.event(settings, now, &mut self.output);
        }
        for policies in self.policies.iter().rev() {
            self.assembler.event(Body::Policies(policies.clone()), now, &mut self.output);
        }
        (self.age.begun, self.age.first) = (now, self.assembler.next());
    }

    /// Records the last failed sync after which the log went on, so that whoever reads the segment knows.
    fn mark_failed_sync(&mut self, now: i64) {
        let Some(FailedSync { segment, frame }) = self.output.writer.take_failed_sync() else {
            return;
        };
        let text = format!("failed-sync = {{ segment = {segment}, frame = {frame} }}");
        tracing::warn!(
            segment,
            frame,
            "a sync of the decision log failed; it goes on in a new segment"
        );
        self.event(Body::Settings(Settings { micros: now, text: Text::cut(&text) }), now);
    }

    /// Takes the room for last words, as long as it is not whole.
    ///
    /// # Errors
    /// There is not enough room, or the file cannot be written: then nothing else is.
    pub(super) fn fill_reserve(&mut self) -> Result<()> {
        self.reserve.fill()
    }

    /// Looks at how a write went. Where the disk has no room, the reserve is freed for last words: what was taken, a record that
    /// says so, and a checkpoint.
    pub(super) fn after(&mut self, done: Result<()>, now: i64) -> Result<()> {
        let is_first = self.reserve.is_used() && self.reserve.is_whole();
        match done {
            Err(error) if error.is_no_room() && is_first => {
                self.reserve.pause();
                let told = if self.reserve.free() { self.tell_full(now) } else { Err(error) };
                if let Err(error) = told {
                    tracing::error!(code = error.code(), "the reserve was not enough: {error}");
                }
                Err(LogError::Full)
            }
            done => done,
        }
    }

    /// Writes and seals what was taken, and a record that says that the disk is full.
    fn tell_full(&mut self, now: i64) -> Result<()> {
        self.assemble(now)?;
        let reason = ShortText::cut(NO_ROOM);
        let (stream, first) = (LOG_STREAM, self.assembler.sequence());
        let lost = Lost { micros: now, stream, first, count: 0, reason };
        self.event(Body::Lost(lost), now);
        self.output.write(now)?;
        self.seal(now)
    }

    /// Does something at the beginning or the end of a process, again with the room of the reserve if there is no other.
    pub(super) fn with_reserve<T>(&mut self, act: impl Fn(&mut Self) -> Result<T>) -> Result<T> {
        match act(self) {
            Err(error) if error.is_no_room() && self.reserve.free() => act(self),
            done => done,
        }
    }

    /// Takes all entries out of the rings, and makes records of them.
    ///
    /// # Errors
    /// The disk is full, or a frame is full and cannot be written. The rest stays where it is.
    pub(super) fn drain(&mut self, intake: &Intake, taking: Taking, now: i64) -> Result<()> {
        if !self.reserve.is_whole() {
            return Err(LogError::Full);
        }
        self.take(intake, taking, now)
    }

    fn take(&mut self, intake: &Intake, taking: Taking, now: i64) -> Result<()> {
        self.settle(now)?;
        loop {
            self.assemble(now)?;
            let frame = self.output.writer.frames();
            let floor = Floor { frame, sequence: self.assembler.sequence() };
            self.done = 0;
            let used = intake.swap(&mut self.taken, floor, taking);
            self.used = self.used.take().or(used);
            if self.taken.bytes().is_empty() {
                return Ok(());
            }
        }
    }

    /// Adds all records to frames, and begins a segment if one is full.
    fn settle(&mut self, now: i64) -> Result<()> {
        self.assembler.flush(&mut self.output);
        self.output.settle(now)?;
        self.roll(now)
    }

    /// Makes records of the entries that were taken.
    fn assemble(&mut self, now: i64) -> Result<()> {
        let taken = std::mem::take(&mut self.taken);
        let assembled = self.assemble_items(taken.bytes(), now);
        self.taken = taken;
        assembled
    }

    fn assemble_items(&mut self, bytes: &[u8], now: i64) -> Result<()> {
        let mut items = Items::new(bytes.get(self.done..).unwrap_or_default());
        while let Some((stream, drained)) = items.next() {
            self.done = bytes.len().saturating_sub(items.rest().len());
            self.counts.add(&drained);
            self.assembler.drained(stream, &drained, now, &mut self.output);
            if !self.output.waiting.is_empty() || self.output.writer.is_full() {
                self.settle(now)?;
            }
        }
        self.settle(now)
    }

    /// Lets the tail forget entries that are in frames.
    ///
    /// # Errors
    /// They are to be on the disk before, and cannot be, or the file of the tail cannot be written.
    pub(super) fn release(&mut self, intake: &Intake) -> Result<()> {
        if self.used.is_some() && self.is_synced {
            self.sync()?;
            self.output.private.sync_values()?;
        }
        if let Some(used) = &mut self.used {
            used.clear()?;
        }
        intake.release(self.used.take());
        Ok(())
    }

    /// Writes what was taken, if there is something.
    ///
    /// # Errors
    /// The disk is full, or the frame cannot be written.
    pub(super) fn write(&mut self, now: i64) -> Result<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        if !self.reserve.is_whole() {
            return Err(LogError::Full);
        }
        self.intervals.written = Instant::now();
        self.output.write(now)
    }

    /// Returns when all frames are on the disk.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.intervals.synced = Instant::now();
        self.output.writer.sync()
    }

    /// Writes what is new, and syncs if it is time.
    pub(super) fn tick(&mut self, intake: &Intake, now: i64) -> Result<()> {
        if now < self.now {
            self.event(Body::Clock(Clock { before: self.now, now }), now);
        }
        self.now = now;
        self.fill_reserve()?;
        self.mark_failed_sync(now);
        self.drain(intake, Taking::All, now)?;
        self.write(now)?;
        self.release(intake)?;
        if self.intervals.written.elapsed() >= self.intervals.heartbeat {
            self.intervals.written = Instant::now();
            self.output.write(now)?;
        }
        if self.intervals.synced.elapsed() >= self.intervals.sync {
            self.sync()?;
            self.output.private.sync_values()?;
        }
        // Nothing was lost yet, but nothing is safe either until the next sync.
        if self.output.writer.is_broken() { Err(LogError::Broken) } else { Ok(()) }
    }

    /// Seals everything that was written, if it is time.
    pub(super) fn seal_if_due(&mut self, now: i64) -> Option<Result<()>> {
        let is_due = self.intervals.sealed.elapsed() >= self.intervals.checkpoint;
        is_due.then(|| self.seal(now))
    }

    /// Writes and seals everything, with an event at the end.
    pub(super) fn finish(&mut self, intake: &Intake, last: Body, now: i64) -> Result<()> {
        self.with_reserve(|core| core.take(intake, Taking::Last, now))?;
        // Goes on after a sync that has failed, so that it is marked. One that fails now is tried again with the rest.
        self.with_reserve(Self::sync).unwrap_or_default();
        self.mark_failed_sync(now);
        self.event(last, now);
        self.with_reserve(|core| core.output.write(now))?;
        self.with_reserve(|core| core.seal(now))?;
        self.used = None;
        tail::remove(self.output.writer.path())
    }

    /// Takes the segment that grows for one whose sync has failed.
    #[cfg(test)]
    pub(super) fn break_off(&mut self) {
        self.output.writer.break_off();
    }

    /// Lets the reserve be filled by the next call, however soon.
    #[cfg(test)]
    pub(super) fn hurry(&mut self) {
        self.reserve.hurry();
    }

    /// Deletes the keys of subjects, and returns how many of them had one.
    pub(super) fn erase(&mut self, subjects: &[&str]) -> Result<u32> {
        self.output.private.erase(subjects)
    }

    /// Returns what checks that no other process writes the log.
    pub(super) fn lock(&self) -> LockWatch {
        self.output.writer.lock().clone()
    }

    /// Returns the number of frames that the newest checkpoint covers.
    pub(super) const fn sealed(&self) -> u64 {
        self.output.writer.sealed()
    }

    fn seal(&mut self, now: i64) -> Result<()> {
        self.intervals.sealed = Instant::now();
        self.output.private.sync_values()?;
        if !self.output.writer.is_unsealed() {
            return Ok(());
        }
        let mut randomness = [0; 32];
        let filled = self.intervals.random.fill(&mut randomness);
        filled.map_err(|_| LogError::Checkpoint("the system has no randomness".to_owned()))?;
        let seconds = u64::try_from(now / 1_000_000).unwrap_or(0);
        self.output.writer.seal(seconds, &randomness)
    }
}

impl SegmentAge {
    /// Returns true if a segment with the record before `next` as its last one is to end at a time. One without news stays.
    fn is_over(&self, now: i64, next: u64) -> bool {
        let is_old = self.most.is_some_and(|most| now.saturating_sub(self.begun) >= most);
        is_old && next > self.first
    }
}

impl Counts {
    fn add(&mut self, drained: &Drained<'_>) {
        match drained {
            Drained::Entry(..) => self.recorded = self.recorded.saturating_add(1),
            Drained::Lost { count, .. } => self.lost = self.lost.saturating_add(*count),
        }
    }
}

impl Output {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.writer.is_ready() && self.writer.is_empty()
    }

    /// Adds the records that wait to a frame, and writes those that are full.
    fn settle(&mut self, now: i64) -> Result<()> {
        while let Some((record, micros)) = self.waiting.front() {
            if self.writer.add(record, *micros) {
                self.waiting.pop_front();
            } else {
                self.write_frame(now)?;
            }
        }
        Ok(())
    }

    /// Writes a frame, also without records.
    fn write(&mut self, now: i64) -> Result<()> {
        self.settle(now)?;
        self.write_frame(now)
    }

    fn write_frame(&mut self, now: i64) -> Result<()> {
        // A value that nobody could open would be lost.
        self.private.write_keys()?;
        // Values without their record go at the start, and a record that is found there has its values.
        let next = self.writer.next();
        let count = self.ends.iter().take_while(|(record, _)| *record < next).count();
        let Some((_, end)) = count.checked_sub(1).and_then(|last| self.ends.get(last)).copied()
        else {
            return self.writer.write(now);
        };
        let written = self.values.get(..end).unwrap_or_default();
        self.private.write_values(self.writer.segment(), written)?;
        self.values.drain(..end);
        self.ends.drain(..count);
        self.ends.iter_mut().for_each(|(_, behind)| *behind = behind.saturating_sub(end));
        self.writer.write(now)
    }
}

impl Sink for Output {
    fn record(&mut self, record: &[u8], micros: i64) {
        if !self.waiting.is_empty() || !self.writer.add(record, micros) {
            self.waiting.push_back((record.to_vec(), micros));
        }
    }

    fn sealed(&mut self, value: HiddenValue<'_>) {
        value.write(&mut self.values);
        self.ends.push_back((value.place.record, self.values.len()));
    }

    fn key(&mut self, subject: &str) -> Option<Arc<SubjectKey>> {
        self.private.key(subject)
    }
}

/// The reason of a record which says that the disk is full, so that records may be missing from here on.
const NO_ROOM: &str = "no room on the disk";

/// The most policies, and the most rules of SPOCP, that the beginning of a segment repeats: a request that is decided now may be of one that was
/// replaced meanwhile.
const MAX_POLICIES: usize = 4;
