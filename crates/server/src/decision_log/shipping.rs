//! Shipping: copies of finished segments and of checkpoints go to a folder or a store of objects, where nothing is
//! replaced.
//!
//! A thread of its own reads the files of the log, and takes no part in writing them: neither answers nor frames nor
//! checkpoints wait for a target. It waits for one object at a time, of which few bytes are in memory.

mod directory;
mod object;
mod shipped;
mod store;
mod target;
mod tiles;
mod worker;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(super) use shipped::Shipped;

use super::follower::Follower;
use crate::config::Shipping;
use target::Target;
use worker::Worker;

/// Ships a log.
#[derive(Debug)]
pub(crate) struct Shipper {
    shipped: Arc<Shipped>,
    counts: Arc<Counts>,
    follower: Follower<Worker>,
}

/// What was shipped since the start, and what is not.
#[derive(Debug, Default)]
struct Counts {
    segments: AtomicU64,
    bytes: AtomicU64,
    /// The frames that the newest shipped checkpoint covers.
    frames: AtomicU64,
    waiting: AtomicU64,
    refused: AtomicU64,
    failures: AtomicU64,
    is_failing: AtomicBool,
}

impl Shipper {
    /// Reads the files that the configuration names, and what was shipped before.
    ///
    /// # Errors
    /// They cannot be used, in words for the operator.
    pub(crate) fn new(log: &Path, config: &Shipping) -> Result<Self, String> {
        let wrong = |error: String| format!("`[decision-log.ship]`: {error}");
        let target = Target::new(log, &config.target).map_err(wrong)?;
        let shipped = Shipped::read(log, target.digest()).map_err(|error| error.to_string())?;
        let (shipped, counts) = (Arc::new(shipped), Arc::new(Counts::default()));
        let worker = Worker::new(log, target, config, (Arc::clone(&shipped), Arc::clone(&counts)));
        Ok(Self { shipped, counts, follower: Follower::new(worker) })
    }

    /// Returns the segments that were shipped.
    pub(super) fn shipped(&self) -> Arc<Shipped> {
        Arc::clone(&self.shipped)
    }

    /// Starts to ship.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        self.follower.start()
    }

    /// Ships what is left, as far as a bounded time allows. The log is closed.
    pub(crate) fn close(&self) {
        self.follower.close();
    }

    /// Writes the metrics as text of Prometheus.
    pub(crate) fn write_metrics(&self, text: &mut String) {
        let Counts { segments, bytes, frames, waiting, refused, failures, is_failing } =
            &*self.counts;
        let failing = u64::from(is_failing.load(Ordering::Relaxed));
        for (name, kind, help, value) in [
            ("shipped_segments_total", "counter", "Segments that were shipped.", read(segments)),
            ("shipped_bytes_total", "counter", "Bytes that were shipped.", read(bytes)),
            (
                "shipped_frames",
                "gauge",
                "Frames that the newest shipped checkpoint covers.",
                read(frames),
            ),
            (
                "shipping_waiting_segments",
                "gauge",
                "Finished segments that are not shipped.",
                read(waiting),
            ),
            (
                "shipping_refused_segments",
                "gauge",
                "Finished segments of whose name the target has something else.",
                read(refused),
            ),
            ("shipping_failures_total", "counter", "Attempts to ship that failed.", read(failures)),
            ("shipping_failing", "gauge", "1 if the last attempt to ship failed.", failing),
        ] {
            let name = format!("wardgate_decision_log_{name}");
            text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"));
        }
    }
}

fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
