//! A replay of logs on several threads.

use std::collections::BTreeMap;
use std::io;

use crate::changed::Changed;
use crate::deciders::Deciders;
use crate::kinds::Mask;
use crate::limits::MAX_FAULTS;
use crate::lines::Block;
pub use crate::sides::Sides;
use crate::source::Source;
use crate::tally::{Bucket, Fault, Report};
pub use crate::threads::LogError;
use crate::threads::each_block;
use crate::worker::{Counted, Worker};

/// A replay by some policies.
pub struct Replay<'p>(Deciders<'p>);

impl<'p> Replay<'p> {
    /// Prepares a replay.
    #[must_use]
    pub fn new(sides: Sides<'p>) -> Self {
        Self(Deciders::new(sides))
    }

    /// Decides all logs again, on at most `threads` threads.
    ///
    /// # Errors
    /// A log cannot be read.
    pub fn run<'s>(
        &self,
        logs: impl Iterator<Item = io::Result<Source<'s>>> + Send,
        threads: usize,
    ) -> Result<Report, LogError> {
        let work = |worker: &mut Worker<'_>, log: usize, block: &Block| worker.block(log, block);
        let counted = each_block(logs, threads, || Worker::new(&self.0), work, |one| one.counted)?;
        Ok(self.report(counted))
    }

    /// Adds up what the threads have counted.
    fn report(&self, counted: Vec<Counted>) -> Report {
        let mut report =
            Report { unwatched_attributes: self.0.watched.unwatched, ..Report::default() };
        let mut changed = Changed::default();
        let mut unseen: BTreeMap<Box<str>, Mask> = BTreeMap::new();
        let mut waiting = Vec::new();
        for one in counted {
            report.unwatched_inputs += one.kinds.unwatched;
            let kinds = one.kinds.into_unseen();
            for (kind, (_, mask)) in &kinds {
                *unseen.entry(kind.clone()).or_insert(Mask::MAX) &= mask;
            }
            let names: BTreeMap<usize, Box<str>> =
                kinds.into_iter().map(|(kind, (id, _))| (id, kind)).collect();
            for ((kind, mask, bucket), count) in one.waiting {
                let kind = names.get(&kind).cloned().unwrap_or_default();
                waiting.push((kind, mask, bucket, count));
            }
            changed.merge(one.changed);
            add(&mut report, (one.lines, one.checks, one.unreadable), one.faults);
            report.buckets.add_all(&one.buckets);
            report.times = match (report.times, one.times) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (times, others) => times.or(others),
            };
            sum(&mut report.others, one.others);
            sum(&mut report.absent, one.absent);
            sum(&mut report.not_reproduced, one.not_reproduced);
        }
        let of_kind = |kind: &str| unseen.get(kind).copied().unwrap_or(0);
        for (kind, mask, bucket, count) in waiting {
            let missing = mask & of_kind(&kind);
            if missing == 0 {
                report.buckets.add(bucket, count);
                continue;
            }
            report.buckets.add(Bucket::NotAnswerable, count);
            let names: Vec<String> = self.0.watched.words(missing).collect();
            let why = format!("no entry about `{kind}` has `{}`", names.join("` or `"));
            *report.absent.entry(why).or_default() += count;
        }
        (report.groups, report.ungrouped) = changed.finish(of_kind);
        report
    }
}

fn add(report: &mut Report, (lines, checks, unreadable): (u64, u64, u64), faults: Vec<Fault>) {
    report.lines += lines;
    report.checks += checks;
    report.unreadable += unreadable;
    report.faults.extend(faults);
    report.faults.sort_unstable();
    report.faults.truncate(MAX_FAULTS);
}

fn sum<K: Ord>(all: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, count) in more {
        *all.entry(key).or_default() += count;
    }
}
