//! What witnesses have done since the start, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use super::problem::{NAMES, Problem, REASONS};

/// The newest witnessed checkpoint, and the failures of witnesses.
#[derive(Debug, Default)]
pub(super) struct Counts {
    frames: AtomicU64,
    seconds: AtomicU64,
    failing: AtomicU64,
    failures: [AtomicU64; REASONS],
}

impl Counts {
    /// Notes the newest checkpoint that enough witnesses have cosigned, and when the log signed it.
    pub(super) fn note_witnessed(&self, frames: u64, seconds: u64) {
        self.frames.store(frames, Ordering::Relaxed);
        self.seconds.store(seconds, Ordering::Relaxed);
    }

    pub(super) fn note_failure(&self, problem: &Problem) {
        let (number, _) = problem.reason();
        if let Some(count) = self.failures.get(number) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes how many witnesses have not cosigned when they were asked last.
    pub(super) fn note_failing(&self, witnesses: usize) {
        self.failing.store(u64::try_from(witnesses).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn write(&self, text: &mut String) {
        for (name, help, value) in [
            (
                "witnessed_frames",
                "Frames that the newest checkpoint covers which enough witnesses have cosigned.",
                &self.frames,
            ),
            (
                "witnessed_timestamp_seconds",
                "When the log signed that checkpoint, in seconds since 1970.",
                &self.seconds,
            ),
            (
                "witnesses_failing",
                "Witnesses that have not cosigned when asked last.",
                &self.failing,
            ),
        ] {
            let name = format!("wardgate_decision_log_{name}");
            let value = value.load(Ordering::Relaxed);
            text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"));
        }
        let name = "wardgate_decision_log_witness_failures_total";
        let help = "Checkpoints that a witness has not cosigned when asked.";
        text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} counter\n"));
        for (reason, count) in NAMES.iter().zip(&self.failures) {
            let count = count.load(Ordering::Relaxed);
            text.push_str(&format!("{name}{{reason=\"{reason}\"}} {count}\n"));
        }
    }
}
