//! The thread that ships: a checkpoint when it is time, and each segment that is finished, the oldest first.
//!
//! A segment is finished once a checkpoint covers the first frame of the next one. Its object is its frames: what a
//! failed disk has left behind them is not a part of it. After a failure that may pass, everything waits, longer each time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, path::Path};

use tokio::sync::watch;
use tokio::time::timeout;
use wardgate_decision_log::checkpoint::LogKey;

use super::object::{Content, Object};
use super::target::{Fault, Found, Put, Target};
use super::{Counts, Shipped, tiles};
use crate::config::Shipping;
use crate::decision_log::error::LogError;
use crate::decision_log::folder::{CHECKPOINT, Folder, Segment, WITNESSED, note_name};
use crate::decision_log::follower::Work;
use crate::decision_log::private::{Private, values_path};
use crate::decision_log::reading::LogReader;
use crate::decision_log::segments::Disk;
use crate::decision_log::witnessed;
use crate::limits::{MAX_RETRY_PAUSE, RETRY_PAUSE};

/// The sender of finished segments and of checkpoints.
#[derive(Debug)]
pub(super) struct Worker {
    log: Folder,
    target: Target,
    checkpoint_interval: Duration,
    has_values: bool,
    shipped: Arc<Shipped>,
    counts: Arc<Counts>,
    /// The key of the log, once it was read.
    key: Option<LogKey>,
    /// When the newest checkpoint was shipped, and its size.
    checkpoint: Option<(Instant, u64)>,
    /// The size of the newest checkpoint with cosignatures that was shipped.
    witnessed: u64,
    /// True once the target is known to be for this log.
    is_identified: bool,
    /// True if the next object may be at the target already, so that sending it could be in vain.
    asks_first: bool,
    /// The segments that are passed over for an hour.
    refused: BTreeSet<u64>,
    refused_since: Instant,
    /// The last problem, so that it is logged once.
    problem: Option<String>,
}

impl Work for Worker {
    const THREAD: &'static str = "decision-log-ship";
    const CUT_OFF: &'static str = "a part of the decision log is not shipped before the next start";
    const LEFT: &'static str =
        "the decision log is still being shipped, and that is not waited for";

    async fn run(&mut self, mut stops: watch::Receiver<bool>) {
        let mut pause = RETRY_PAUSE;
        loop {
            let is_last = *stops.borrow();
            let outcome = self.ship_due(is_last).await;
            let wait = match &outcome {
                Ok(()) => {
                    pause = RETRY_PAUSE;
                    POLL
                }
                Err(fault) => {
                    let wait = fault.after.unwrap_or(pause).min(MAX_RETRY_PAUSE);
                    pause = pause.saturating_mul(2).min(MAX_RETRY_PAUSE);
                    wait
                }
            };
            self.report(outcome.err());
            if is_last {
                return;
            }
            let _ = timeout(wait, stops.wait_for(|stops| *stops)).await;
        }
    }
}

impl Worker {
    pub(super) fn new(
        log: &Path,
        target: Target,
        config: &Shipping,
        (shipped, counts): (Arc<Shipped>, Arc<Counts>),
    ) -> Self {
        Self {
            log: Folder::new(log),
            target,
            checkpoint_interval: config.checkpoint,
            has_values: config.values,
            shipped,
            counts,
            key: None,
            checkpoint: None,
            witnessed: 0,
            is_identified: false,
            asks_first: true,
            refused: BTreeSet::new(),
            refused_since: Instant::now(),
            problem: None,
        }
    }

    /// Ships all that is due.
    pub(super) async fn ship_due(&mut self, is_last: bool) -> Result<(), Fault> {
        if self.refused_since.elapsed() >= LOOK_AGAIN {
            self.refused.clear();
            self.refused_since = Instant::now();
        }
        self.identify().await?;
        loop {
            let sealed = self.ship_checkpoint(is_last).await?;
            let Some((segment, end)) = self.next_segment(sealed)? else { return Ok(()) };
            self.ship_segment(&segment, end).await?;
        }
    }

    /// Checks that the target is for this log, and that it replaces nothing.
    async fn identify(&mut self) -> Result<(), Fault> {
        if self.is_identified {
            return Ok(());
        }
        let path = self.log.path().join("identity");
        let bytes = fs::read(&path).map_err(Fault::of("read", &path))?;
        let object = Object::of("identity", bytes);
        if self.ship(&object).await? == Found::Other {
            return Err(Fault::new("the target has another log: its `identity` is another one"));
        }
        if self.target.must_show() && self.target.put(&object).await? == Put::Created {
            let what = "the store replaces objects: to `If-None-Match: *` it must answer 412 where there is one";
            return Err(Fault::new(what));
        }
        self.is_identified = true;
        Ok(())
    }

    /// Ships the newest checkpoint if it is time, and returns how many frames it covers.
    async fn ship_checkpoint(&mut self, is_last: bool) -> Result<u64, Fault> {
        let Some(note) = self.log.checkpoint().map_err(failed)? else { return Ok(0) };
        let size = self.size_of(&note)?;
        let is_due = self.checkpoint.is_none_or(|(at, shipped)| {
            size > shipped && (is_last || at.elapsed() >= self.checkpoint_interval)
        });
        if !is_due {
            return Ok(size);
        }
        self.ship_witnessed().await?;
        let object = Object::of(note_name(size, CHECKPOINT), note);
        if self.ship(&object).await? == Found::Other {
            self.count_failure();
            tracing::error!(
                "the target has another checkpoint `{}`: the log went on in two ways",
                object.name
            );
        }
        self.checkpoint = Some((Instant::now(), size));
        self.counts.frames.store(size, Ordering::Relaxed);
        Ok(size)
    }

    /// Ships the newest checkpoint that enough witnesses have cosigned, if it is about more frames than the last one.
    async fn ship_witnessed(&mut self) -> Result<(), Fault> {
        let Some(note) = self.log.note(witnessed::FILE).map_err(failed)? else { return Ok(()) };
        // Of one that cannot be used the start and `verify` tell.
        let size = self.size_of(&note).unwrap_or(0);
        if size <= self.witnessed {
            return Ok(());
        }
        // One with fewer cosignatures may have the name already, and is enough.
        self.ship(&Object::of(note_name(size, WITNESSED), note)).await?;
        self.witnessed = size;
        Ok(())
    }

    fn size_of(&mut self, note: &[u8]) -> Result<u64, Fault> {
        if self.key.is_none() {
            let verifier = self.log.verifier().map_err(failed)?;
            self.key = verifier.and_then(|key| LogKey::read(&key));
        }
        let key = self.key.as_ref().ok_or_else(|| Fault::new("the log has no identity"))?;
        let opened = key.open(note).map_err(|error| Fault::new(error.to_string()))?;
        Ok(opened.checkpoint.head.size)
    }

    /// Returns the oldest segment that is finished and neither shipped nor refused, and the frame before which it ends.
    fn next_segment(&self, sealed: u64) -> Result<Option<(Segment, u64)>, Fault> {
        let segments = self.log.segments().map_err(failed)?;
        let finished = segments.windows(2).filter_map(|pair| match pair {
            [segment, next] if next.first_frame < sealed => Some((segment, next.first_frame)),
            _ => None,
        });
        let waiting = finished.filter(|(one, _)| !self.shipped.contains(one.first_frame));
        let waiting: Vec<_> = waiting.collect();
        set(&self.counts.waiting, waiting.len());
        let is_refused = |first: u64| self.refused.contains(&first);
        set(
            &self.counts.refused,
            waiting.iter().filter(|(one, _)| is_refused(one.first_frame)).count(),
        );
        let next = waiting.into_iter().find(|(one, _)| !is_refused(one.first_frame));
        Ok(next.map(|(segment, end)| (segment.clone(), end)))
    }

    /// Ships a segment, and before it what it needs.
    async fn ship_segment(&mut self, segment: &Segment, end: u64) -> Result<(), Fault> {
        let objects = match self.objects(segment, end) {
            Ok(objects) => objects,
            Err(error) => {
                self.refuse(segment, &error.to_string());
                return Ok(());
            }
        };
        for object in objects {
            if let Some(why) = why_refused(self.ship(&object).await?) {
                self.refuse(segment, &format!("`{}`: {why}", object.name));
                return Ok(());
            }
        }
        self.counts.segments.fetch_add(1, Ordering::Relaxed);
        let present = self.log.segments().map_err(failed)?;
        let present = present.into_iter().map(|segment| segment.first_frame).collect();
        self.shipped.add(segment.first_frame, &present).map_err(failed)
    }

    /// Returns a segment as an object, which comes last, and what it needs. Its frames are read, so that damage is not
    /// shipped.
    fn objects(&self, segment: &Segment, end: u64) -> Result<Vec<Object>, LogError> {
        let (log, first) = (self.log.path(), segment.first_frame);
        let mut reader = LogReader::open_at(log, first)?;
        let (mut objects, mut bytes) = (Vec::new(), 0);
        while let Some(stored) = reader.next_frame()?
            && stored.number < end
        {
            if stored.number == first
                && let Some(loss) = stored.loss()?
            {
                objects = tiles::before(log, first, loss.found)?;
            }
            bytes = stored.end();
        }
        if objects.is_empty() && self.log.segments()?.first() == Some(segment) {
            objects = tiles::before(log, first, first)?;
        }
        objects.extend(self.values(segment)?);
        objects.push(file(segment.path.clone(), bytes));
        Ok(objects)
    }

    /// Returns the values beside a segment, if there are some and they are to be shipped.
    fn values(&self, segment: &Segment) -> Result<Option<Object>, LogError> {
        let path = values_path(&Private::folder(self.log.path()), segment.first_frame);
        match fs::metadata(&path) {
            _ if !self.has_values => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::Read(path, error)),
            Ok(found) => Ok(Some(file(path, found.len()))),
        }
    }

    /// Passes a segment over for an hour.
    fn refuse(&mut self, segment: &Segment, why: &str) {
        self.count_failure();
        self.refused.insert(segment.first_frame);
        tracing::error!(segment = %segment.path.display(), why, "a segment of the decision log is not shipped");
    }

    /// Puts an object if nothing has its name, and returns what has it then.
    async fn ship(&mut self, object: &Object) -> Result<Found, Fault> {
        let shipped = self.ship_once(object).await;
        if shipped.is_err() {
            // The object may have arrived all the same.
            self.asks_first = true;
        }
        shipped
    }

    async fn ship_once(&mut self, object: &Object) -> Result<Found, Fault> {
        if self.asks_first {
            let found = self.target.compare(object).await?;
            self.asks_first = found != Found::Missing;
            if matches!(found, Found::Same | Found::Other) {
                return Ok(found);
            }
        }
        match self.target.put(object).await? {
            Put::Created => {
                self.counts.bytes.fetch_add(object.bytes(), Ordering::Relaxed);
                Ok(Found::Same)
            }
            Put::Exists => match self.target.compare(object).await? {
                Found::Missing => {
                    Err(Fault::new(format!("`{}` was there, and is not", object.name)))
                }
                found => Ok(found),
            },
        }
    }

    fn count_failure(&self) {
        self.counts.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells the operator of a problem when it begins, and when it is over.
    fn report(&mut self, fault: Option<Fault>) {
        self.counts.is_failing.store(fault.is_some(), Ordering::Relaxed);
        if fault.is_some() {
            self.count_failure();
        }
        let problem = fault.map(|fault| fault.what);
        if problem == self.problem {
            return;
        }
        match &problem {
            Some(problem) => tracing::error!(problem, "the decision log is not shipped"),
            None => tracing::info!("the decision log is shipped again"),
        }
        self.problem = problem;
    }
}

/// Returns the first bytes of a file as an object of its name.
fn file(path: std::path::PathBuf, bytes: u64) -> Object {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Object { name, content: Content::File { path, bytes } }
}

/// Returns why an object is not what has its name now, if it is not.
fn why_refused(found: Found) -> Option<String> {
    match found {
        Found::Same => None,
        Found::Unreadable(why) => {
            Some(format!("the target has something of its name, and cannot compare it: {why}"))
        }
        Found::Other | Found::Missing => Some("the target has something else of its name".into()),
    }
}

fn failed(error: LogError) -> Fault {
    Fault::new(error.to_string())
}

fn set(gauge: &AtomicU64, count: usize) {
    gauge.store(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// The time between two looks at the log.
const POLL: Duration = Duration::from_secs(1);

/// The time after which refused segments are tried again.
const LOOK_AGAIN: Duration = Duration::from_secs(3600);
