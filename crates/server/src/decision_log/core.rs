//! The way of entries to the log: out of rings, made into records, and added to frames.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use wardgate_decision_log::record::{Body, Clock, Policies};
use wardgate_decision_log::redaction::{Sealed, SubjectKey};
use wardgate_native::decision_log::{Assembler, Drained, RingReader, Sink};

use super::error::{LogError, Result};
use super::private::Private;
use super::recorder::RecorderSettings;
use super::writer::LogWriter;

/// The log, and the rings that are emptied into it.
#[derive(Debug)]
pub(super) struct Core {
    readers: Vec<(u16, RingReader)>,
    assembler: Assembler,
    /// The policies that decisions may name: those in force, and before them those of requests that are decided now.
    policies: VecDeque<Policies>,
    output: Output,
    counts: Counts,
    /// The time of the last tick.
    now: i64,
    intervals: Intervals,
}

/// The entries that were taken out of rings since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) recorded: u64,
    pub(super) lost: u64,
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
    /// The records of an entry for which the frame has no room.
    waiting: Vec<(Vec<u8>, i64)>,
    /// The values of records that are not in a file yet.
    sealed: Vec<Sealed>,
}

impl Core {
    pub(super) fn new(mut writer: LogWriter, private: Private, settings: RecorderSettings) -> Self {
        let assembler = Assembler::new(settings.redaction, writer.next());
        writer.roll_when_asked();
        let now = Instant::now();
        Self {
            readers: Vec::new(),
            assembler,
            policies: VecDeque::new(),
            output: Output { writer, private, waiting: Vec::new(), sealed: Vec::new() },
            counts: Counts::default(),
            now: 0,
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

    /// Empties these rings, too.
    pub(super) fn take(&mut self, new: Vec<(u16, RingReader)>) {
        self.readers.extend(new);
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
            self.policies.truncate(MAX_POLICIES - 1);
            self.policies.push_front(policies.clone());
        }
        self.assembler.event(body, micros, &mut self.output);
    }

    /// Begins a segment if the one that grows is full, and defines again what later records name: so each can be read alone.
    fn roll(&mut self, now: i64) -> Result<()> {
        if !self.output.writer.is_full() {
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
        for policies in self.policies.iter().rev() {
            self.assembler.event(Body::Policies(policies.clone()), now, &mut self.output);
        }
    }

    /// Takes all entries out of the rings.
    ///
    /// # Errors
    /// A frame is full and cannot be written. The rest stays in the rings.
    pub(super) fn drain(&mut self, now: i64) -> Result<()> {
        self.output.settle(now)?;
        self.roll(now)?;
        let mut readers = std::mem::take(&mut self.readers);
        let drained = self.drain_rings(&mut readers, now);
        self.readers = readers;
        drained
    }

    /// Takes all entries out of these rings, of which those of threads that have ended go.
    fn drain_rings(&mut self, readers: &mut Vec<(u16, RingReader)>, now: i64) -> Result<()> {
        let mut at = 0;
        while let Some((stream, reader)) = readers.get_mut(at) {
            // Asked before: what is in the ring then is all that there will be.
            if reader.is_closed() {
                self.drain_ring((*stream, reader), RingReader::finish, now)?;
                readers.swap_remove(at);
            } else {
                self.drain_ring((*stream, reader), RingReader::next, now)?;
                at = at.saturating_add(1);
            }
        }
        Ok(())
    }

    fn drain_ring(
        &mut self,
        (stream, reader): (u16, &mut RingReader),
        take: for<'r> fn(&'r mut RingReader) -> Option<Drained<'r>>,
        now: i64,
    ) -> Result<()> {
        while let Some(drained) = take(reader) {
            self.counts.add(&drained);
            self.assembler.drained(stream, &drained, now, &mut self.output);
            self.output.settle(now)?;
            self.roll(now)?;
        }
        Ok(())
    }

    /// Writes what was taken, if there is something.
    pub(super) fn write(&mut self, now: i64) -> Result<()> {
        if self.output.is_empty() {
            return Ok(());
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
    pub(super) fn tick(&mut self, now: i64) -> Result<()> {
        if now < self.now {
            self.event(Body::Clock(Clock { before: self.now, now }), now);
        }
        self.now = now;
        self.drain(now)?;
        self.write(now)?;
        if self.intervals.written.elapsed() >= self.intervals.heartbeat {
            self.intervals.written = Instant::now();
            self.output.write(now)?;
        }
        if self.intervals.synced.elapsed() >= self.intervals.sync {
            self.sync()?;
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
    pub(super) fn finish(&mut self, last: Body, now: i64) -> Result<()> {
        self.drain(now)?;
        for (stream, mut reader) in std::mem::take(&mut self.readers) {
            self.drain_ring((stream, &mut reader), RingReader::finish, now)?;
        }
        self.event(last, now);
        self.write(now)?;
        self.seal(now)
    }

    /// Returns the number of frames that the newest checkpoint covers.
    pub(super) const fn sealed(&self) -> u64 {
        self.output.writer.sealed()
    }

    fn seal(&mut self, now: i64) -> Result<()> {
        self.intervals.sealed = Instant::now();
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
        while let Some((record, micros)) = self.waiting.first() {
            if self.writer.add(record, *micros) {
                self.waiting.remove(0);
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
        self.writer.write(now)?;
        let next = self.writer.written();
        let count = self.sealed.iter().take_while(|value| value.place.record < next).count();
        let (written, _) = self.sealed.split_at(count);
        self.private.write_values(self.writer.segment(), written)?;
        self.sealed.drain(..count);
        Ok(())
    }
}

impl Sink for Output {
    fn record(&mut self, record: &[u8], micros: i64) {
        if !self.waiting.is_empty() || !self.writer.add(record, micros) {
            self.waiting.push((record.to_vec(), micros));
        }
    }

    fn sealed(&mut self, value: Sealed) {
        self.sealed.push(value);
    }

    fn key(&mut self, subject: &str) -> Option<Arc<SubjectKey>> {
        self.private.key(subject)
    }
}

/// The most policies that the beginning of a segment repeats: a request that is decided now may be of one that was
/// replaced meanwhile.
const MAX_POLICIES: usize = 4;
