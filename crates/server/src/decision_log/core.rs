//! The way of entries to the log: out of rings, made into records, and added to frames.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use wardgate_decision_log::record::{Body, Clock};
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
    pub(super) fn new(writer: LogWriter, private: Private, settings: RecorderSettings) -> Self {
        let assembler = Assembler::new(settings.redaction, writer.next());
        let now = Instant::now();
        Self {
            readers: Vec::new(),
            assembler,
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
        self.assembler.event(body, micros, &mut self.output);
    }

    /// Takes all entries out of the rings.
    ///
    /// # Errors
    /// A frame is full and cannot be written. The rest stays in the rings.
    pub(super) fn drain(&mut self, now: i64) -> Result<()> {
        self.output.settle(now)?;
        for (stream, reader) in &mut self.readers {
            while let Some(drained) = reader.next() {
                self.counts.add(&drained);
                self.assembler.drained(*stream, &drained, now, &mut self.output);
                self.output.settle(now)?;
            }
        }
        let closed = self.readers.extract_if(.., |(_, reader)| reader.is_closed());
        let closed: Vec<_> = closed.collect();
        self.drain_last(closed, now)
    }

    /// Takes what is left in the rings of threads that have ended.
    fn drain_last(&mut self, rings: Vec<(u16, RingReader)>, now: i64) -> Result<()> {
        for (stream, mut reader) in rings {
            while let Some(drained) = reader.finish() {
                self.counts.add(&drained);
                self.assembler.drained(stream, &drained, now, &mut self.output);
                self.output.settle(now)?;
            }
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
        let rings = std::mem::take(&mut self.readers);
        self.drain_last(rings, now)?;
        self.event(last, now);
        self.write(now)?;
        self.seal(now)
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
