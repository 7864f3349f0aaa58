//! Export: the records of the log go to a collector of OpenTelemetry, as a copy without proofs.
//!
//! A thread of its own reads what was written, and sends one batch after the other. Neither answers nor frames wait for a
//! collector, and nothing gathers in memory: while it is away, what it has not seen is in the log.

mod position;
mod record;
mod tail;
mod worker;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::follower::Follower;
use crate::config::LogExport;
use worker::Worker;

/// Exports the records of a log.
#[derive(Debug)]
pub(crate) struct Exporter {
    counts: Arc<Counts>,
    follower: Follower<Worker>,
}

/// The records that were sent since the start, and those that were not.
#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    /// Those that the collector refused, or that were deleted before they were sent.
    dropped: AtomicU64,
    /// The number of the next record to send.
    next: AtomicU64,
    is_failing: AtomicBool,
}

impl Exporter {
    /// Reads the files that the configuration names, and what was sent before. At the first time that is all that is in the
    /// log.
    ///
    /// # Errors
    /// They cannot be used, in words for the operator.
    pub(crate) fn new(log: &Path, config: &LogExport) -> Result<Self, String> {
        let counts = Arc::new(Counts::default());
        let worker = Worker::new(log, config.clone(), Arc::clone(&counts));
        let worker = worker.map_err(|error| format!("`[decision-log.otlp]`: {error}"))?;
        Ok(Self { counts, follower: Follower::new(worker) })
    }

    /// Starts to send.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        self.follower.start()
    }

    /// Sends what is left, as far as a bounded time allows. The log is closed.
    pub(crate) fn close(&self) {
        self.follower.close();
    }

    /// Writes the metrics as text of Prometheus.
    pub(crate) fn write_metrics(&self, text: &mut String) {
        let Counts { sent, dropped, next, is_failing } = &*self.counts;
        let failing = u64::from(is_failing.load(Ordering::Relaxed));
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            (
                "exported_records_total",
                "counter",
                "Records that a collector has taken.",
                read(sent),
            ),
            (
                "export_dropped_records_total",
                "counter",
                "Records that the collector refused, or that were deleted before.",
                read(dropped),
            ),
            ("export_next_record", "gauge", "The number of the next record to send.", read(next)),
            ("export_failing", "gauge", "1 if the collector takes no records.", failing),
        ] {
            let name = format!("wardgate_decision_log_{name}");
            text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"));
        }
    }
}

#[cfg(test)]
mod tests;
