//! Deciders of the questions of tests: the engine in this process, or another host.
//!
//! A test chooses the options of its policies: evaluation, globals and all others of a table. So a
//! host gets the settings with each question, and keeps a table for each of them.

use std::rc::Rc;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::Explanation;
use wardgate_engine::decision::Decision;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use super::charges::with_limits;
use super::limits::MAX_TABLES;
use super::model::Settings;
pub use super::sources::Sources;
use wardgate_compiler::emit::Options;

/// The question of a test.
#[derive(Clone, Debug)]
pub struct Question<'q> {
    /// The principal, the resource and the actions.
    pub request: Request,
    /// The settings of the decision.
    pub settings: &'q Settings,
}

/// The answer of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The decision.
    pub decision: Decision,
    /// True if a condition read the time.
    pub depends_on_time: bool,
}

/// Decides questions.
pub trait Decider {
    /// Returns the options of tests without settings.
    fn base(&self) -> &Options;

    /// Decides a question as if `base` held for tests without settings. The decision is for
    /// comparison: it is not observed, and without an answer the reason is left out.
    fn compare(&mut self, question: &Question<'_>, base: &Options) -> Option<Answer>;

    /// Decides each question; returns the reason for a question whose policies do not compile under
    /// its settings.
    ///
    /// # Errors
    /// The decider cannot decide at all.
    fn decide(&mut self, questions: &[Question<'_>])
    -> Result<Vec<Result<Answer, String>>, String>;
}

/// Sees every decision that is made natively.
pub trait Watch {
    /// Observes a decision over `table`.
    fn decided(&mut self, question: &Question<'_>, explanation: &Explanation, table: &PolicyTable);
}

/// Decides in this process.
pub struct Native<'s> {
    sources: &'s Sources,
    base: Options,
    tables: Tables,
    watch: Option<&'s mut dyn Watch>,
}

/// Tables by the options that they were compiled with, the latest last; or why there is none.
type Tables = Vec<(Options, Result<Rc<PolicyTable>, String>)>;

impl<'s> Native<'s> {
    /// Decides over policies; `base` holds for tests without settings.
    #[must_use]
    pub fn new(sources: &'s Sources, base: Options) -> Self {
        Self { sources, base, tables: Vec::new(), watch: None }
    }

    /// Shows every decision to `watch`.
    #[must_use]
    pub fn watched(self, watch: &'s mut dyn Watch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Returns the table for a question.
    ///
    /// # Errors
    /// The policies do not compile under its settings.
    pub fn table(&mut self, settings: &Settings) -> Result<Rc<PolicyTable>, String> {
        self.table_under(settings.over(&self.base))
    }

    fn table_under(&mut self, options: Options) -> Result<Rc<PolicyTable>, String> {
        if let Some((_, known)) = self.tables.iter().find(|(of, _)| *of == options) {
            return known.clone();
        }
        let made = self.sources.table(&options).map(Rc::new);
        if self.tables.len() >= MAX_TABLES {
            drop(self.tables.remove(0));
        }
        self.tables.push((options, made.clone()));
        made
    }

    fn answer(&mut self, question: &Question<'_>) -> Result<Answer, String> {
        let table = self.table(question.settings)?;
        let now = now(question.settings);
        let Some(watch) = &mut self.watch else {
            return Ok(answer(&table, &question.request, now));
        };
        let (explanation, depends_on_time) = table.explain_timed(&question.request, now);
        watch.decided(question, &explanation, &table);
        let answer = Answer { decision: explanation.decision, depends_on_time };
        Ok(with_limits(answer, &table, &question.request, now))
    }
}

impl Decider for Native<'_> {
    fn base(&self) -> &Options {
        &self.base
    }

    fn compare(&mut self, question: &Question<'_>, base: &Options) -> Option<Answer> {
        let table = self.table_under(question.settings.over(base)).ok()?;
        let now = now(question.settings);
        Some(answer(&table, &question.request, now))
    }

    fn decide(
        &mut self,
        questions: &[Question<'_>],
    ) -> Result<Vec<Result<Answer, String>>, String> {
        Ok(questions.iter().map(|question| self.answer(question)).collect())
    }
}

fn answer(table: &PolicyTable, request: &Request, now: Timestamp) -> Answer {
    let (decision, depends_on_time) = table.check_timed(request, now);
    with_limits(Answer { decision, depends_on_time }, table, request, now)
}

/// Returns the time of `now()`; without a setting, the earliest possible one: such a test must not
/// read it.
#[must_use]
pub fn now(settings: &Settings) -> Timestamp {
    let first = Timestamp::new(Timestamp::MIN_SECONDS, 0).unwrap_or_default();
    settings.now.unwrap_or(first)
}
