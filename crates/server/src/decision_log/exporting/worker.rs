//! The thread that sends records, in batches.
//!
//! A batch ends with a frame, or where it has enough records or bytes. What a collector takes later is sent until it does;
//! what it refuses is counted and passed over.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use tokio::sync::watch;
use tokio::time::timeout;
use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::record::Record;

use super::Counts;
use super::position::Position;
use super::record::written;
use super::tail::Tail;
use crate::config::LogExport;
use crate::decision_log::error::LogError;
use crate::decision_log::folder::Folder;
use crate::decision_log::follower::Work;
use crate::decision_log::reading::StoredFrame;
use crate::limits::{MAX_RETRY_PAUSE, RETRY_PAUSE};
use crate::net::client::connect::late;
use crate::telemetry::collector::{Answer, Collector, Signal};
use crate::telemetry::traces::otlp;

/// The sender of records.
pub(super) struct Worker {
    log: Folder,
    config: LogExport,
    collector: Collector,
    counts: Arc<Counts>,
    /// The name of the log, once it was read.
    origin: Option<String>,
    tail: Option<Tail>,
    position: Position,
    /// The position in the file, and when it was written.
    noted: (Position, Option<Instant>),
    /// The last problem, so that it is logged once.
    problem: Option<String>,
}

/// A failure that may pass: in words for the operator, and when to come again if the collector says so.
pub(super) struct Fault {
    pub(super) what: String,
    after: Option<Duration>,
}

impl Work for Worker {
    const THREAD: &'static str = "decision-log-otlp";
    const CUT_OFF: &'static str = "records wait for the next start to be sent";
    const LEFT: &'static str = "records are still being sent, and are not waited for";

    async fn run(&mut self, mut stops: watch::Receiver<bool>) {
        let mut pause = RETRY_PAUSE;
        loop {
            let is_last = *stops.borrow();
            let outcome = self.send_due().await;
            let wait = match &outcome {
                Ok(()) => {
                    pause = RETRY_PAUSE;
                    self.config.interval
                }
                Err(fault) => {
                    let wait = fault.after.unwrap_or(pause).min(MAX_RETRY_PAUSE);
                    pause = pause.saturating_mul(2).min(MAX_RETRY_PAUSE);
                    wait
                }
            };
            self.report(outcome.err().map(|fault| fault.what));
            if is_last {
                return;
            }
            let _ = timeout(wait, stops.wait_for(|stops| *stops)).await;
        }
    }

    fn end(&mut self) {
        if let Err(fault) = self.note_position(true) {
            tracing::warn!("records may be sent twice: {}", fault.what);
        }
    }
}

impl Worker {
    pub(super) fn new(log: &Path, config: LogExport, counts: Arc<Counts>) -> Result<Self, String> {
        let (ca, headers) = (config.ca.as_deref(), config.headers.as_deref());
        let collector = Collector::new(Signal::RECORDS, &config.endpoint, ca, headers)?;
        let words = |error: LogError| error.to_string();
        let folder = Folder::new(log);
        let known = Position::read(&folder, &config.endpoint).map_err(words)?;
        let end = Tail::end(log).map_err(words)?;
        // After a crash the log may have lost what was sent, and others get the numbers.
        let position = known.filter(|known| known.record <= end.record).unwrap_or(end);
        counts.next.store(position.record, Ordering::Relaxed);
        Ok(Self {
            log: folder,
            config,
            collector,
            counts,
            origin: None,
            tail: None,
            position,
            noted: (position, None),
            problem: None,
        })
    }

    /// Sends all records that are in the log.
    pub(super) async fn send_due(&mut self) -> Result<(), Fault> {
        loop {
            let tail = match &mut self.tail {
                Some(tail) => tail,
                none => none.insert(Tail::open(self.log.path(), self.position)?),
            };
            let Some(stored) = tail.next(self.position)? else { break };
            if let Err(fault) = self.send_frame(&stored).await {
                // The frame is read again.
                self.tail = None;
                return Err(fault);
            }
            self.note_position(false)?;
        }
        self.note_position(true)
    }

    /// Sends the records of a frame that are not sent yet.
    async fn send_frame(&mut self, stored: &StoredFrame) -> Result<(), Fault> {
        let origin = self.origin()?;
        let frame = stored.frame()?;
        let deleted = frame.head.first.saturating_sub(self.position.record);
        self.counts.dropped.fetch_add(deleted, Ordering::Relaxed);
        self.advance(frame.head.first.max(self.position.record));
        let (mut batch, mut bytes) = (Vec::new(), 0_usize);
        for (number, record) in (frame.head.first..).zip(&frame.records) {
            let record = Record::read(record).ok_or(LogError::Missing("no record".to_owned()))?;
            let Some(tail) = &mut self.tail else { break };
            tail.names().learn(&record.body);
            if number < self.position.record {
                continue;
            }
            let text = written(&origin, number, &record, tail.names());
            bytes = bytes.saturating_add(text.as_ref().map_or(0, String::len));
            batch.extend(text);
            if batch.len() >= self.config.batch || bytes >= MAX_BATCH_BYTES {
                self.send(std::mem::take(&mut batch), number.saturating_add(1)).await?;
                bytes = 0;
            }
        }
        self.send(batch, frame.head.next()).await?;
        self.position.frame = stored.number.saturating_add(1);
        Ok(())
    }

    /// Sends a batch, after which a record is the next one.
    async fn send(&mut self, batch: Vec<String>, next: u64) -> Result<(), Fault> {
        if !batch.is_empty() {
            let body = Bytes::from(otlp::records(&self.config.service, &batch));
            let limit = self.config.timeout;
            let answer = timeout(limit, self.collector.send(body)).await;
            let refused = match answer.unwrap_or_else(|_| Err(late(limit)))? {
                Answer::Taken { refused } => refused.min(batch.len()),
                Answer::Never(status) => {
                    self.report(Some(format!("it answers {status}")));
                    batch.len()
                }
                Answer::Later(status, after) => {
                    return Err(Fault { what: format!("it answers {status}"), after });
                }
            };
            let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
            self.counts.dropped.fetch_add(count(refused), Ordering::Relaxed);
            let sent = batch.len().saturating_sub(refused);
            self.counts.sent.fetch_add(count(sent), Ordering::Relaxed);
        }
        self.advance(next);
        Ok(())
    }

    fn advance(&mut self, record: u64) {
        self.position.record = record;
        self.counts.next.store(record, Ordering::Relaxed);
    }

    /// Returns the name of the log.
    fn origin(&mut self) -> Result<String, Fault> {
        if self.origin.is_none() {
            let key = self.log.verifier()?.and_then(|key| LogKey::read(&key));
            self.origin = key.map(|key| key.name().to_owned());
        }
        let none = || Fault { what: "the log has no identity".to_owned(), after: None };
        self.origin.clone().ok_or_else(none)
    }

    /// Writes the position into its file if it is another one, at most once a second unless it must be.
    fn note_position(&mut self, must: bool) -> Result<(), Fault> {
        let (noted, at) = self.noted;
        let is_due = must || at.is_none_or(|at| at.elapsed() >= NOTE);
        if is_due && noted != self.position && self.log.path().exists() {
            self.position.write(&self.log, &self.config.endpoint)?;
            self.noted = (self.position, Some(Instant::now()));
        }
        Ok(())
    }

    /// Tells the operator of a problem when it begins, and when it is over.
    fn report(&mut self, problem: Option<String>) {
        self.counts.is_failing.store(problem.is_some(), Ordering::Relaxed);
        if problem == self.problem {
            return;
        }
        match &problem {
            Some(problem) => tracing::warn!(problem, "the collector does not take records"),
            None => tracing::info!("the collector takes records again"),
        }
        self.problem = problem;
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("position", &self.position).finish_non_exhaustive()
    }
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        Self { what: error.to_string(), after: None }
    }
}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Self { what, after: None }
    }
}

/// The bytes after which a batch is sent.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// The shortest time between two notes of the position while there is more to send.
const NOTE: Duration = Duration::from_secs(1);
