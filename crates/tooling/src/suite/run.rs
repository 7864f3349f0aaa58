//! Runs suites: checks each, sends its questions to a host, and compares the answers with the
//! expectations.

use std::collections::BTreeSet;

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::{ActionDecision, Effect, Output};

use super::compare::Comparison;
use super::decider::{Answer, Decider, Question};
use super::files::{Loaded, Stage};
use super::filter::Filter;
use super::limits::MAX_QUESTIONS;
use super::matrix::{self, Test};
use super::model::Suite;
use super::results::{
    ActualOutput, CaseResult, Dimension, Failure, Outcome, OutputFailure, Results, Skip,
    SuiteOutcome, SuiteResult,
};
use super::selection::AvailableFixtures;
use wardgate_compiler::diagnostics::{Code, Diagnostic};

/// Runs the suites that a filter leaves.
///
/// ```
/// use wardgate_compiler::Options;
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
/// let results = run(&suites, &Filter::default(), &mut Native::new(&sources, options)).unwrap();
/// assert!(results.json().contains(r#""overallResult":"RESULT_PASSED""#));
/// ```
///
/// # Errors
/// The host cannot decide anything.
pub fn run(
    suites: &[Loaded],
    filter: &Filter,
    decider: &mut dyn Decider,
) -> Result<Results, String> {
    let mut results = Results::default();
    for loaded in suites {
        let suite = loaded.suite.as_ref();
        results.suites.push(SuiteResult {
            file: loaded.file.clone(),
            name: suite.map(|suite| suite.name.clone()),
            description: suite.map(|suite| suite.description.clone()).unwrap_or_default(),
            outcome: suite_outcome(loaded, filter, decider)?,
        });
    }
    Ok(results)
}

/// Returns the tests of a suite that is not broken.
///
/// # Errors
/// Everything that keeps them from being run.
pub fn tests(loaded: &Loaded) -> Result<Vec<Test<'_>>, Vec<Diagnostic>> {
    let Some(suite) = &loaded.suite else { return Err(Vec::new()) };
    matrix::tests(
        suite,
        AvailableFixtures { own: &suite.fixtures, shared: loaded.fixtures.as_deref() },
    )
}

fn suite_outcome(
    loaded: &Loaded,
    filter: &Filter,
    decider: &mut dyn Decider,
) -> Result<SuiteOutcome, String> {
    let (suite, broken) = (&loaded.suite, &loaded.broken);
    let (Some(suite), None) = (suite, broken) else {
        let (stage, errors) = broken.clone().unwrap_or((Stage::Suite, Vec::new()));
        return Ok(SuiteOutcome::Broken(stage, errors));
    };
    let available = AvailableFixtures { own: &suite.fixtures, shared: loaded.fixtures.as_deref() };
    let mut errors = Vec::new();
    available.check_groups(&suite.fixtures, "which is not defined", &mut errors);
    if !errors.is_empty() {
        return Ok(SuiteOutcome::Broken(Stage::Groups, errors));
    }
    if let Some(reason) = &suite.skip {
        return Ok(SuiteOutcome::Skipped(reason.clone()));
    }
    check_names(suite, &mut errors);
    if !errors.is_empty() {
        return Ok(SuiteOutcome::Broken(Stage::Names, errors));
    }
    match matrix::tests(suite, available) {
        Ok(tests) => Runner { suite, filter, decider }.run(&tests).map(SuiteOutcome::Ran),
        Err(errors) => Ok(SuiteOutcome::Broken(Stage::Tests, errors)),
    }
}

fn check_names(suite: &Suite, errors: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for table in &suite.tables {
        if !seen.insert(&table.name.name) {
            let message = format!("another test is named `{}`", table.name.name);
            errors.push(Diagnostic::error(Code::DuplicateName, &table.name.location, message));
        }
    }
}

struct Runner<'r, 's> {
    suite: &'s Suite,
    filter: &'r Filter,
    decider: &'r mut dyn Decider,
}

impl Runner<'_, '_> {
    fn run(&mut self, tests: &[Test<'_>]) -> Result<Vec<CaseResult>, String> {
        let mut cases = Vec::new();
        for tests in tests.chunks(MAX_QUESTIONS) {
            self.run_some(tests, &mut cases)?;
        }
        Ok(cases)
    }

    fn run_some(&mut self, tests: &[Test<'_>], cases: &mut Vec<CaseResult>) -> Result<(), String> {
        let skips: Vec<_> = tests.iter().map(|test| self.filter.skip(self.suite, test)).collect();
        let unfiltered = tests.iter().zip(&skips).filter(|(_, skip)| skip.is_none());
        let questions: Vec<_> = unfiltered.map(|(test, _)| self.question(test)).collect();
        let mut answers = match questions.is_empty() {
            true => Vec::new(),
            false => self.decider.decide(&questions)?,
        }
        .into_iter();
        for (test, skip) in tests.iter().zip(skips) {
            let answer = match skip {
                Some(skip) => Err(skip),
                None => Ok(answers.next().unwrap_or_else(|| Err("there is no answer".to_owned()))),
            };
            let before = cases.len();
            self.judge(test, &answer, cases);
            if let Ok(Ok(answer)) = &answer {
                let judged = cases.get_mut(before..).unwrap_or_default();
                let question = self.question(test);
                Comparison { test, question, answer }.note(self.decider, judged);
            }
        }
        Ok(())
    }

    fn question<'q>(&self, test: &Test<'q>) -> Question<'q> {
        let actions = test.table.input.actions.iter().map(|action| &action.name);
        let wanted = actions.filter(|action| self.filter.takes_action(action)).cloned().collect();
        Question { request: test.request(wanted), settings: test.settings }
    }

    /// Adds a result for each action: those with a decision first, then those that were filtered
    /// out.
    fn judge(
        &self,
        test: &Test<'_>,
        answer: &Result<Result<Answer, String>, Skip>,
        cases: &mut Vec<CaseResult>,
    ) {
        let actions = test.table.input.actions.iter().map(|action| action.name.as_str());
        let takes = |action: &&str| answer.is_err() || self.filter.takes_action(action);
        let (taken, left): (Vec<&str>, Vec<&str>) = actions.partition(takes);
        for action in taken {
            let outcome = match answer {
                Err(skip) => Outcome::Skipped(skip.clone()),
                Ok(Err(error)) => Outcome::Errored(error.clone()),
                Ok(Ok(answer)) if answer.depends_on_time && test.settings.now.is_none() => {
                    Outcome::Errored(NO_NOW.to_owned())
                }
                Ok(Ok(answer)) => outcome(test, action, answer),
            };
            cases.push(case(test, action, outcome));
        }
        for action in left {
            cases.push(case(test, action, Outcome::Skipped(Skip::Filter(Dimension::Action))));
        }
    }
}

fn case(test: &Test<'_>, action: &str, outcome: Outcome) -> CaseResult {
    let location = test.expected.effects.get(action).map(|(_, at)| *at);
    CaseResult {
        table: test.table.name.name.clone(),
        principal: test.principal_name.to_owned(),
        resource: test.resource_name.to_owned(),
        action: action.to_owned(),
        has_expectation: location.is_some(),
        location: location.unwrap_or(&test.table.location).clone(),
        outcome,
        only_with: None,
    }
}

pub(super) fn outcome(test: &Test<'_>, action: &str, answer: &Answer) -> Outcome {
    let decision = &answer.decision;
    let Some(decided) = decision.actions.iter().find(|decided| decided.action == action) else {
        return Outcome::Errored(format!("there is no decision about `{action}`"));
    };
    let expected = test.expected.effects.get(action).map_or(Effect::Deny, |(effect, _)| *effect);
    let outputs: Vec<Output> =
        decision.outputs.iter().filter(|output| output.action == action).cloned().collect();
    if expected != decided.effect {
        return failed(expected, decided, Vec::new(), outputs);
    }
    let failures = output_failures(test, action, &outputs);
    match failures.is_empty() {
        true => Outcome::Passed(decided.effect, outputs),
        false => failed(expected, decided, failures, outputs),
    }
}

fn failed(
    expected: Effect,
    decided: &ActionDecision,
    outputs: Vec<OutputFailure>,
    given: Vec<Output>,
) -> Outcome {
    let (actual, policy) = (decided.effect, decided.policy.clone());
    Outcome::Failed(Box::new(Failure { expected, actual, policy, outputs, given }))
}

fn output_failures(test: &Test<'_>, action: &str, outputs: &[Output]) -> Vec<OutputFailure> {
    let mut failures = Vec::new();
    for (source, (expected, location)) in test.expected.outputs.get(action).into_iter().flatten() {
        // Of several outputs of one rule the last one counts.
        let found = outputs.iter().rfind(|output| output.source == *source);
        if let Some(found) = differs(*expected, found) {
            failures.push(OutputFailure {
                source: (*source).to_owned(),
                expected: expected.cloned(),
                found,
                location: (*location).clone(),
            });
        }
    }
    failures
}

/// Returns the actual output, if it is not the expected one.
fn differs(expected: Option<&Attr>, found: Option<&Output>) -> Option<ActualOutput> {
    match found.map(|output| &output.value) {
        None => Some(ActualOutput::Nothing),
        Some(Err(error)) => Some(ActualOutput::Error(error.clone())),
        Some(Ok(value)) if expected == Some(value) => None,
        Some(Ok(value)) => Some(ActualOutput::Value(value.clone())),
    }
}

const NO_NOW: &str = "a condition reads the time, and the options of the test do not set `now`";
