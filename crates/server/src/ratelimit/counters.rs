//! What became of limits, counted, in the text format of Prometheus.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use wardgate_native::limited::{LimitState, MetLimit};
use wardgate_ratelimit::TableCounts;

/// The counts of each limit, by its name: those of the policies in use, so there is a bound.
#[derive(Debug, Default)]
pub(super) struct Counters {
    limits: RwLock<HashMap<String, [AtomicU64; OUTCOMES.len()]>>,
}

/// The outcomes of a limit, as their label has them.
const OUTCOMES: [&str; 6] = ["charged", "untouched", "refused", "never", "store-away", "failed"];

impl Counters {
    /// Counts a limit that was met.
    pub(super) fn count(&self, limit: &MetLimit) {
        let at = match limit.state {
            LimitState::Charged => 0,
            LimitState::Spared => 1,
            LimitState::Refused { .. } => 2,
            LimitState::Never => 3,
            LimitState::Away { .. } => 4,
            LimitState::Failed { .. } => 5,
        };
        let limits = self.limits.read().unwrap_or_else(PoisonError::into_inner);
        // A limit of policies that were just replaced is not counted.
        if let Some(count) = limits.get(&*limit.name).and_then(|counts| counts.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Keeps the counts of these limits, begins those of new ones, and drops the others.
    pub(super) fn keep<'n>(&self, names: impl Iterator<Item = &'n str>) {
        let mut limits = self.limits.write().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *limits);
        limits.extend(names.map(|name| {
            let counts = before.remove(name).unwrap_or_default();
            (name.to_owned(), counts)
        }));
    }

    pub(super) fn write(&self, text: &mut String) {
        let limits = self.limits.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<_> = limits.iter().collect();
        names.sort_unstable_by_key(|(name, _)| name.as_str());
        head(text, "limits_total", "counter", "Rate limits that actions met, by outcome.");
        for (name, counts) in names {
            for (outcome, count) in OUTCOMES.iter().zip(counts) {
                let count = count.load(Ordering::Relaxed);
                // Writing to a `String` cannot fail. A name has no character to be escaped.
                let _ = writeln!(
                    text,
                    "wardgate_ratelimit_limits_total{{limit=\"{name}\",outcome=\"{outcome}\"}} {count}"
                );
            }
        }
    }
}

/// Writes how full the memory of this process is, and what it refused.
pub(super) fn write_memory(text: &mut String, (used, places): (usize, usize), counts: TableCounts) {
    for (name, kind, help, value) in [
        ("keys", "gauge", "Keys with a state in the memory of this process.", size(used)),
        ("places", "gauge", "Places for keys in the memory of this process.", size(places)),
        ("full_total", "counter", "Charges refused since no place was free.", counts.full),
        ("evicted_total", "counter", "States given up for other keys.", counts.evicted),
    ] {
        head(text, name, kind, help);
        let _ = writeln!(text, "wardgate_ratelimit_{name} {value}");
    }
}

/// Writes the head of a metric.
pub(super) fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let name = format!("wardgate_ratelimit_{name}");
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn size(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
