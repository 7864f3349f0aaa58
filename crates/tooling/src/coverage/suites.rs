//! Counts the parts that policy tests exercise, while they run.

use wardgate_engine::decide::Explanation;
use wardgate_engine::table::PolicyTable;

use super::{Counting, Coverage};
use crate::suite::decider::now;
use crate::suite::limits::MAX_TABLES;
use crate::suite::{Question, Sources, Watch};
use wardgate_compiler::emit::Options;

/// Watches tests, and has their coverage at the end.
#[derive(Debug)]
pub struct Watching {
    coverage: Coverage,
    base: Options,
    /// By the options of tests; a table is the same for the same options.
    countings: Vec<(Options, Counting)>,
}

impl Watching {
    /// Watches tests of `sources`; `base` holds where a test has no settings.
    #[must_use]
    pub fn new(sources: &Sources, base: Options) -> Self {
        let coverage = Coverage::new(&sources.repository);
        Self { coverage, base, countings: Vec::new() }
    }

    /// Returns the counts.
    #[must_use]
    pub fn finish(self) -> Coverage {
        self.coverage
    }
}

impl Watch for Watching {
    fn decided(&mut self, question: &Question<'_>, _: &Explanation, table: &PolicyTable) {
        let options = question.settings.over(&self.base);
        if !self.countings.iter().any(|(of, _)| *of == options) {
            if self.countings.len() >= MAX_TABLES {
                self.countings.remove(0);
            }
            self.countings.push((options.clone(), Counting::new(&self.coverage, table)));
        }
        if let Some((_, counting)) = self.countings.iter().find(|(of, _)| *of == options) {
            // The decision is the runner's; it is made again to be observed.
            let now = now(question.settings);
            let _ = counting.count(&mut self.coverage, table, &question.request, now);
        }
    }
}
