//! Counts the parts that policy tests exercise, while they run.

use wardgate_engine::decide::Explanation;
use wardgate_engine::table::PolicyTable;

use super::{Counting, Coverage};
use crate::suite::decider::now;
use crate::suite::limits::MAX_TABLES;
use crate::suite::{Question, Sources, Watch};
use wardgate_compiler::emit::Options;

/// Observes the decisions of tests, and returns their coverage at the end.
///
/// ```
/// use wardgate_compiler::Options;
/// use wardgate_tooling::coverage::Watching;
/// use wardgate_tooling::suite::{Filter, Native, Sources, files, run};
///
/// let policy = r#"
/// apiVersion: api.cerbos.dev/v1
/// resourcePolicy:
///   resource: album
///   version: default
///   rules:
///     - { actions: [view], roles: [user], effect: EFFECT_ALLOW }
/// "#;
/// let suite = r#"
/// name: albums
/// principals: { ann: { id: ann, roles: [user] } }
/// resources: { beach: { kind: album, id: beach } }
/// tests:
///   - name: view
///     input: { principals: [ann], resources: [beach], actions: [view] }
///     expected: [{ principal: ann, resource: beach, actions: { view: EFFECT_ALLOW } }]
/// "#;
/// let files =
///     [("album.yaml".to_owned(), policy.into()), ("album_test.yaml".to_owned(), suite.into())];
/// let options = Options::default();
/// let sources = Sources::from_files(&files, &options).unwrap();
/// let suites = files::load(&files::pick(files.iter().map(|(p, b)| (p.as_str(), b.as_slice()))));
/// let mut watching = Watching::new(&sources, options.clone());
/// let mut decider = Native::new(&sources, options).watched(&mut watching);
/// run(&suites, &Filter::default(), &mut decider).unwrap();
/// let coverage = watching.finish();
/// assert_eq!(coverage.policies[0].rules[0].applied, 1);
/// ```
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
