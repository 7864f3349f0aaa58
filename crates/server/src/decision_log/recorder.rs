//! Recording decisions: rings of the threads that decide, and the one log that they end in.
//!
//! A thread writes into its own ring. A thread in the background empties all rings, writes frames, syncs and seals. Where an
//! answer may leave only once its record is written, the thread that answers empties the rings itself into the tail of the log, and
//! so writes for all others that wait. Where that fails, it writes frames until they are written again.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ring::rand::{SecureRandom, SystemRandom};
use wardgate_decision_log::record::{Body, Policies, Process, ProcessEvent, ShortText};
use wardgate_native::decision_log::{Effect, Entry, EvidenceForm, Redaction, RingWriter, ring};

use super::by_rules;
use super::core::{Core, Counts};
use super::error::{LogError, Result};
use super::health::Health;
use super::intake::{Intake, Taking};
use super::private::Private;
use super::retention::Retention;
use super::shipping::Shipped;
use super::tail::Tail;
use super::waiting::Waiting;
use super::writer::LogWriter;
use crate::config::{Filter, Keep, OnFull};

/// The settings of a recorder.
#[derive(Debug)]
pub struct RecorderSettings {
    /// The form of values in records.
    pub redaction: Redaction,
    /// The treatment of a decision for whose record there is no room.
    pub on_full: OnFull,
    /// When an answer may leave.
    pub keep: Keep,
    /// The longest time until a frame is on the disk.
    pub sync: Duration,
    /// The time between two checkpoints.
    pub checkpoint: Duration,
    /// The longest time between two frames, so that a missing end is an absence with a time.
    pub heartbeat: Duration,
    /// The time after which a segment with new records ends that is not full; `None` for never.
    pub segment: Option<Duration>,
    /// How long records stay at least; `None` for ever.
    pub retention: Option<Duration>,
    /// The decisions that are recorded.
    pub filter: Filter,
    /// The segments that were shipped, if they are: retention leaves the others.
    pub(super) shipped: Option<Arc<Shipped>>,
    /// The bytes of the disk that are taken for last words on a full one; 0 for none.
    pub reserve: u64,
    /// The bytes of the ring of each thread.
    pub ring_bytes: usize,
}

/// The recorder of decisions of a process.
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    background: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    /// Tells the rings of this recorder from those of others.
    id: u64,
    core: Mutex<Core>,
    intake: Intake,
    streams: AtomicU16,
    on_full: OnFull,
    keep: Keep,
    filter: Filter,
    has_evidence: bool,
    ring_bytes: usize,
    stops: AtomicBool,
    health: Health,
    retention: Retention,
    instance: [u8; 16],
    /// The number of the rules of SPOCP in use.
    rules: AtomicU32,
}

thread_local! {
    /// The rings of this thread, one for each recorder that it has used.
    static WRITERS: RefCell<Vec<(u64, RingWriter)>> = const { RefCell::new(Vec::new()) };

    /// The answers of this thread that wait for a write.
    static WAITING: Waiting = Waiting::default();
}

impl Recorder {
    /// Begins to record into a log in a folder. `secret` names the keys of subjects.
    ///
    /// # Errors
    /// The files beside the log cannot be used, or the system has no randomness or no thread.
    pub fn start(
        folder: &Path,
        writer: LogWriter,
        secret: wardgate_decision_log::redaction::LogSecret,
        settings: RecorderSettings,
    ) -> Result<Self> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        let private = Private::open(folder, secret, writer.next())?;
        let RecorderSettings { on_full, keep, filter, retention, ring_bytes, .. } = settings;
        let Redaction { principal, resource, evidence, .. } = settings.redaction;
        let shipped = settings.shipped.clone();
        let instance = random()?;
        let (mut core, now) = (Core::new(writer, private, settings), now_micros());
        let left = core.left()?;
        core.recover(left, now)?;
        let intake = match keep {
            Keep::Memory => Intake::new(core.lock()),
            Keep::System | Keep::Disk => {
                let is_synced = keep == Keep::Disk;
                let forms = (principal, resource, evidence);
                let tail = core.with_reserve(|_| Tail::make(folder, forms, is_synced))?;
                Intake::new(core.lock()).with_tail(tail, is_synced)
            }
        };
        match core.fill_reserve() {
            // Told with the first record.
            Ok(()) | Err(LogError::Full) => {}
            Err(error) => tracing::error!(code = error.code(), "{error}"),
        }
        let shared = Arc::new(Shared {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            core: Mutex::new(core),
            intake,
            streams: AtomicU16::new(1),
            on_full,
            keep,
            filter,
            has_evidence: evidence != EvidenceForm::Absent,
            ring_bytes,
            stops: AtomicBool::new(false),
            health: Health::default(),
            retention: Retention::new(folder, retention, shipped),
            instance,
            rules: AtomicU32::new(u32::MAX),
        });
        shared.begin(now)?;
        let background = Arc::clone(&shared);
        let thread = thread::Builder::new().name("decision-log".to_owned());
        let thread = thread.spawn(move || background.run()).map_err(LogError::write(folder))?;
        Ok(Self { shared, background: Mutex::new(Some(thread)) })
    }

    /// Records that policies came into force under a number. It comes before all decisions under that number.
    pub fn policies(&self, number: u32, revision: u64, root: [u8; 32], name: &str) {
        let micros = now_micros();
        let name = ShortText::cut(name);
        let body = Policies { micros, number, revision, root, name };
        let defined = self.shared.define(Body::Policies(body), micros);
        self.shared.health.note_write(&defined);
    }

    /// Records that base rules of SPOCP came into force, with the revision of the bundle beside them and their digest. They have a
    /// number of their own.
    pub(crate) fn follow_rules(&self, revision: u64, root: [u8; 32]) {
        let number = self.rules().wrapping_add(1) | by_rules::FIRST;
        self.policies(number, revision, root, by_rules::NAME);
        self.shared.rules.store(number, Ordering::Relaxed);
    }

    /// Returns the number of the rules of SPOCP in use. Under the lock of the rules it does not change.
    pub(crate) fn rules(&self) -> u32 {
        self.shared.rules.load(Ordering::Relaxed)
    }

    /// Records a decision with its actions, unless the filter leaves it out. Returns false if the answer must be a denial, since there may be none
    /// without a record. The answer may leave once [`Recorder::keep`] has returned.
    #[must_use]
    pub fn record(&self, entry: &Entry<'_>, actions: &[(&str, Effect)]) -> bool {
        let shared = &self.shared;
        if !shared.filter.takes(actions) {
            return true;
        }
        let is_recorded = WRITERS.with_borrow_mut(|writers| {
            let Some(writer) = shared.writer(writers) else { return false };
            if shared.on_full != OnFull::Drop && !shared.make_room(writer) {
                return false;
            }
            writer.write(entry, actions)
        });
        is_recorded || shared.on_full == OnFull::Drop
    }

    /// Returns when the records of this thread are where answers wait for them. Returns false if the answer must be a
    /// denial, since they could not be written.
    #[must_use]
    pub fn keep(&self) -> bool {
        let shared = &self.shared;
        let is_kept = match shared.keep {
            Keep::Memory => true,
            Keep::System | Keep::Disk => shared.keep_now(),
        };
        is_kept || shared.on_full == OnFull::Drop
    }

    /// Returns like [`Recorder::keep`], once this thread has decided what else is ready: then one write is for all of it.
    pub(crate) async fn kept(&self) -> bool {
        if self.shared.keep == Keep::Memory {
            return true;
        }
        if WAITING.with(Waiting::begin) {
            tokio::task::yield_now().await;
        }
        WAITING.with(Waiting::end);
        self.keep()
    }

    /// Returns true if decisions are recorded with their evidence.
    #[must_use]
    pub fn has_evidence(&self) -> bool {
        self.shared.has_evidence
    }

    /// Returns true if the log cannot be written.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.shared.health.is_failing()
    }

    /// Returns true if nothing is decided now: the log cannot be written, and nothing is decided without a record.
    pub(crate) fn denies(&self) -> bool {
        self.is_failing() && self.shared.on_full != OnFull::Drop
    }

    /// Writes the metrics as text of Prometheus.
    pub(crate) fn write_metrics(&self, text: &mut String) {
        let Counts { recorded, lost } = self.shared.core().counts();
        let failing = u8::from(self.is_failing());
        for (name, kind, help, value) in [
            (
                "decision_log_records_total",
                "counter",
                "Decisions taken over by the decision log.",
                recorded,
            ),
            (
                "decision_log_lost_total",
                "counter",
                "Decisions for whose records there was no room.",
                lost,
            ),
            (
                "decision_log_failures_total",
                "counter",
                "Writes of the decision log that failed.",
                self.shared.health.failures(),
            ),
            (
                "decision_log_bytes",
                "gauge",
                "Bytes of the decision log and of the values beside it.",
                self.shared.retention.bytes(),
            ),
            (
                "decision_log_failing",
                "gauge",
                "1 if the decision log cannot be written.",
                failing.into(),
            ),
        ] {
            let lines = format!(
                "# HELP wardgate_{name} {help}\n# TYPE wardgate_{name} {kind}\nwardgate_{name} {value}\n"
            );
            text.push_str(&lines);
        }
    }

    /// Takes the tail for one whose sync has failed.
    #[cfg(test)]
    pub(super) fn break_tail(&self) {
        self.shared.intake.break_tail();
    }

    /// Takes the segment that grows for one whose sync has failed.
    #[cfg(test)]
    pub(super) fn break_off(&self) {
        self.shared.core().break_off();
    }

    /// Writes and seals what was recorded, and records no more.
    ///
    /// # Errors
    /// The log cannot be written; its end is missing.
    pub fn close(&self) -> Result<()> {
        self.shared.stops.store(true, Ordering::Relaxed);
        let thread = self.background.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        thread.thread().unpark();
        // A panic of the thread was reported by itself; what can be written still is.
        thread.join().unwrap_or_default();
        let now = now_micros();
        let stopped = self.shared.process(ProcessEvent::Stopped, now);
        self.shared.core().finish(&self.shared.intake, stopped, now)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::error!(code = error.code(), "{error}");
        }
    }
}

impl Shared {
    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the ring of this thread.
    fn writer<'w>(&self, writers: &'w mut Vec<(u64, RingWriter)>) -> Option<&'w mut RingWriter> {
        if let Some(at) = writers.iter().position(|(id, _)| *id == self.id) {
            return writers.get_mut(at).map(|(_, writer)| writer);
        }
        let stream = self
            .streams
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |stream| stream.checked_add(1));
        let (writer, reader) = ring(self.ring_bytes);
        self.intake.add(stream.ok()?, reader);
        // Rings of recorders that are gone.
        writers.retain(|(_, writer)| !writer.is_closed());
        writers.push((self.id, writer));
        writers.last_mut().map(|(_, writer)| writer)
    }

    /// Empties the rings until this one has room for any entry.
    fn make_room(&self, writer: &mut RingWriter) -> bool {
        let OnFull::Block(most) = self.on_full else { return writer.has_room() };
        let begun = Instant::now();
        while !writer.has_room() {
            if begun.elapsed() >= most {
                return false;
            }
            if !self.write_frames() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        true
    }

    /// Empties all rings into the tail. Returns false if that cannot be written, and no frames either.
    fn keep_now(&self) -> bool {
        // Whether the disk works again, frames tell.
        if self.health.is_write_failing() {
            return self.write_frames();
        }
        match self.intake.keep() {
            Ok(true) => return true,
            Ok(false) => {}
            Err(error) => _ = self.health.note_write(&Err(error)),
        }
        self.write_frames()
    }

    /// Empties all rings and writes frames of their entries. Returns false if they cannot be written.
    fn write_frames(&self) -> bool {
        let (mut core, now) = (self.core(), now_micros());
        let written = core.drain(&self.intake, Taking::All, now).and_then(|()| core.write(now));
        let written =
            written.and_then(|()| if self.keep == Keep::Disk { core.sync() } else { Ok(()) });
        let written = written.and_then(|()| core.release(&self.intake));
        let written = core.after(written, now);
        self.health.note_write(&written)
    }

    /// Records that the process has started. On a full disk that waits in memory.
    fn begin(&self, now: i64) -> Result<()> {
        let started = self.process(ProcessEvent::Started, now);
        for event in [Some(started), self.filter.settings(now)].into_iter().flatten() {
            match self.define(event, now) {
                Err(LogError::Full) => _ = self.health.note_write(&Err(LogError::Full)),
                defined => defined?,
            }
        }
        Ok(())
    }

    /// Writes an event of the log itself: entries in the tail are nothing without those before them.
    fn define(&self, event: Body, micros: i64) -> Result<()> {
        let mut core = self.core();
        core.event(event, micros);
        let written = core.write(micros);
        let written =
            written.and_then(|()| if self.keep == Keep::Disk { core.sync() } else { Ok(()) });
        core.after(written, micros)
    }

    fn process(&self, event: ProcessEvent, micros: i64) -> Body {
        process(event, self.instance, micros)
    }

    fn run(&self) {
        let mut looked: Option<Instant> = None;
        while !self.stops.load(Ordering::Relaxed) {
            thread::park_timeout(TICK);
            self.health.note_write(&self.tick());
            self.seal();
            if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
                looked = Some(Instant::now());
                self.delete_old();
            }
        }
    }

    /// Does what is due.
    fn tick(&self) -> Result<()> {
        let (mut core, now) = (self.core(), now_micros());
        let done = core.tick(&self.intake, now);
        core.after(done, now)
    }

    /// Seals what is due.
    fn seal(&self) {
        let sealed = self.seal_if_due();
        if let Some(sealed) = sealed {
            self.health.note_seal(&sealed);
            self.retention.measure();
        }
    }

    fn seal_if_due(&self) -> Option<Result<()>> {
        let (mut core, now) = (self.core(), now_micros());
        let sealed = core.seal_if_due(now)?;
        Some(core.after(sealed, now))
    }

    /// Deletes segments that are too old. Decisions do not wait for that.
    fn delete_old(&self) {
        let sealed = self.core().sealed();
        match self.retention.delete_old(now_micros(), sealed) {
            Ok(0) => {}
            Ok(segments) => tracing::info!(segments, "old decisions were deleted"),
            Err(error) => self.health.note_deletion(&error),
        }
    }
}

/// Returns the event that the process with this random number started or stopped.
pub(super) fn process(event: ProcessEvent, instance: [u8; 16], micros: i64) -> Body {
    let version = ShortText::cut(env!("CARGO_PKG_VERSION"));
    Body::Process(Process { micros, event, instance, version })
}

/// Returns random bytes.
///
/// # Errors
/// The system has none.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| LogError::Foreign("the system has no randomness".to_owned()))?;
    Ok(bytes)
}

/// Returns the time in microseconds since 1970.
pub(super) fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The time between two looks for segments that are too old.
const LOOK: Duration = Duration::from_secs(3600);

/// The time between two looks at the rings.
const TICK: Duration = Duration::from_millis(10);
