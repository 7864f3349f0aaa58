//! Whether a log can be written, told once when that changes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::{LogError, Result};

/// What fails now, and how often something has failed.
#[derive(Debug, Default)]
pub(super) struct Health {
    writes: AtomicBool,
    seals: AtomicBool,
    failures: AtomicU64,
}

impl Health {
    /// Returns true if records or checkpoints cannot be written.
    pub(super) fn is_failing(&self) -> bool {
        self.writes.load(Ordering::Relaxed) || self.seals.load(Ordering::Relaxed)
    }

    /// Returns true if records cannot be written.
    pub(super) fn is_write_failing(&self) -> bool {
        self.writes.load(Ordering::Relaxed)
    }

    /// Returns how often something could not be written.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Notes if records could be written, and returns that.
    pub(super) fn note_write(&self, done: &Result<()>) -> bool {
        self.note(&self.writes, done, "the decision log is written again")
    }

    /// Notes if a checkpoint could be written, and returns that.
    pub(super) fn note_seal(&self, done: &Result<()>) -> bool {
        self.note(&self.seals, done, "checkpoints of the decision log are written again")
    }

    /// Notes that old records could not be deleted, which harms no new ones.
    pub(super) fn note_deletion(&self, error: &LogError) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        tracing::error!(code = error.code(), "old decisions are not deleted: {error}");
    }

    fn note(&self, fails: &AtomicBool, done: &Result<()>, again: &str) -> bool {
        let did_fail = fails.swap(done.is_err(), Ordering::Relaxed);
        if let Err(error) = done {
            self.failures.fetch_add(1, Ordering::Relaxed);
            if !did_fail {
                tracing::error!(code = error.code(), "{error}");
            }
        } else if did_fail {
            tracing::info!("{again}");
        }
        done.is_ok()
    }
}
