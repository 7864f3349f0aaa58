//! The reports about mistakes in policy tests: every case, and a case for every message.

use std::path::PathBuf;
use std::sync::LazyLock;

use wardgate_compiler::Options;
use wardgate_engine::attr::Attr;
use wardgate_engine::decision::Decision;
use wardgate_tests::{diagnostics, literals, suites};
use wardgate_tooling::suite::limits::{MAX_CASES, MAX_TESTS};
use wardgate_tooling::suite::{Answer, Decider, Filter, Native, Question, Sources, files, run};

#[test]
fn every_mistake_in_a_suite_has_the_report_of_its_case() {
    let report: Vec<_> = REPORTS.iter().map(|(path, case, report)| (path, case, report)).collect();
    for (path, cases) in report.chunk_by(|a, b| a.0 == b.0).map(|all| (all[0].0, all)) {
        let reports: Vec<String> = cases.iter().map(|(_, _, report)| (*report).clone()).collect();
        super::update(path, &reports);
    }
    let wrong =
        report.iter().filter(|(_, case, report)| !super::is_updating() && case.report != **report);
    let wrong: Vec<String> = wrong
        .map(|(_, case, report)| format!("{}\n{report}\ninstead of\n{}", case.name, case.report))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_message_of_suites_is_in_a_case() {
    let messages = literals::messages(&super::tooling_sources().join("suite"), &[]).unwrap();
    literals::check_shown(&messages, &shown(), &folder().join("uncovered.yaml")).unwrap();
}

#[test]
fn a_suite_that_is_too_large_is_reported() {
    let names = |count: usize| (0..count).map(|n| format!("n{n}")).collect::<Vec<_>>().join(", ");
    let fixtures = |kind: &str, count: usize, of: &str| {
        let all: String = (0..count).map(|n| format!("  n{n}: {{ id: n{n}, {of} }}\n")).collect();
        format!("{kind}:\n{all}")
    };
    let suite = |side: usize, actions: usize| {
        let expected = "[{ principal: n0, resource: n0, actions: { n0: EFFECT_ALLOW } }]";
        let (people, things) =
            (fixtures("principals", side, "roles: [r]"), fixtures("resources", side, "kind: k"));
        let (sides, actions) = (names(side), names(actions));
        format!(
            "name: Large\n{people}{things}tests:\n  - name: All\n    input: {{ principals: [{sides}], resources: [{sides}], actions: [{actions}] }}\n    expected: {expected}\n"
        )
    };
    let report =
        |text: String| report_of_suite(text, &mut Silent).lines().next().unwrap().to_owned();
    assert_eq!(report(suite(1001, 1)), TOO_MANY_TESTS);
    assert_eq!(report(suite(200, 101)), TOO_MANY_DECISIONS);
    const { assert!(1001 * 1001 > MAX_TESTS && 200 * 200 * 101 > MAX_CASES) };
}

/// Without its global the expression holds too many values at once: with it, it is a constant.
#[test]
fn policies_that_do_not_compile_under_the_options_of_a_test_are_reported() {
    let nest = |inside: String, _| format!("G.limit.replace(G.limit, {inside})");
    let nested = (0..130).fold("G.limit".to_owned(), nest);
    let policy = diagnostics::with_condition(&format!("{nested} == ''"));
    let suite = SMALL.replacen("tests:", "options: { globals: { other: 1 } }\ntests:", 1);
    let files = [("album.yaml", policy), ("album_test.yaml", suite)];
    let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
    let mut options = Options::default();
    options.globals.insert("limit".to_owned(), Attr::String("x".into()));
    let sources = Sources::from_files(&files, &options).unwrap();
    let report = report_of(&files, &mut Native::new(&sources, options));
    let head = report.lines().take(2).map(|line| line.split(" | ").next().unwrap());
    assert_eq!(head.collect::<Vec<_>>().join("\n"), NOT_COMPILED);
}

#[test]
fn a_missing_answer_of_a_host_is_reported() {
    let report = |host: &mut dyn Decider| report_of_suite(SMALL.to_owned(), host);
    assert_eq!(report(&mut Silent), NO_ANSWER);
    assert_eq!(report(&mut Undecided), NO_DECISION);
}

/// The options of a test that sets none.
static BASE: LazyLock<Options> = LazyLock::new(Options::default);

/// Answers no question.
struct Silent;

impl Decider for Silent {
    fn base(&self) -> &Options {
        &BASE
    }

    fn compare(&mut self, _: &Question<'_>, _: &Options) -> Option<Answer> {
        None
    }

    fn decide(&mut self, _: &[Question<'_>]) -> Result<Vec<Result<Answer, String>>, String> {
        Ok(Vec::new())
    }
}

/// Decides about no action.
struct Undecided;

impl Decider for Undecided {
    fn base(&self) -> &Options {
        &BASE
    }

    fn compare(&mut self, _: &Question<'_>, _: &Options) -> Option<Answer> {
        None
    }

    fn decide(
        &mut self,
        questions: &[Question<'_>],
    ) -> Result<Vec<Result<Answer, String>>, String> {
        let answer = Answer { decision: Decision::default(), depends_on_time: false };
        Ok(questions.iter().map(|_| Ok(answer.clone())).collect())
    }
}

fn report_of_suite(text: String, host: &mut dyn Decider) -> String {
    report_of(&[("a_test.yaml".to_owned(), text.into_bytes())], host)
}

fn report_of(files: &[(String, Vec<u8>)], host: &mut dyn Decider) -> String {
    let picked = files::pick(files.iter().map(|(path, text)| (path.as_str(), text.as_slice())));
    suites::report(&run(&files::load(&picked), &Filter::default(), host).unwrap())
}

/// Returns all texts of the cases, line by line and as a whole.
fn shown() -> Vec<String> {
    let generated = [TOO_MANY_TESTS, TOO_MANY_DECISIONS, NOT_COMPILED, NO_ANSWER, NO_DECISION];
    let generated = generated.into_iter().map(str::to_owned);
    let report = REPORTS.iter().flat_map(|(_, _, report)| report.lines().chain([report.as_str()]));
    report.map(str::to_owned).chain(generated).collect()
}

/// The cases by their files, and their reports.
static REPORTS: LazyLock<Vec<(PathBuf, suites::Case, String)>> = LazyLock::new(|| {
    let mut report = Vec::new();
    for path in super::case_files(&folder()) {
        let cases = suites::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let of = |case: suites::Case| {
            let report = case.rendered().unwrap_or_else(|e| panic!("{}: {e}", case.name));
            (path.clone(), case, report)
        };
        report.extend(cases.into_iter().map(of));
    }
    report
});

fn folder() -> PathBuf {
    super::cases().join("suites")
}

const SMALL: &str = "name: Small
principals: { ann: { id: ann, roles: [member] } }
resources: { beach: { kind: album, id: b1 } }
tests:
  - name: Look
    input: { principals: [ann], resources: [beach], actions: [view] }
    expected: [{ principal: ann, resource: beach, actions: { view: EFFECT_ALLOW } }]
";

const TOO_MANY_TESTS: &str =
    "a_test.yaml:2008:5: error[limit]: the suite is too large: expected at most 1000000 tests";
const TOO_MANY_DECISIONS: &str =
    "a_test.yaml:405:9: error[limit]: the suite is too large: expected at most 4000000 decisions";
const NOT_COMPILED: &str =
    "album_test.yaml:8:62: Look: ann, view, beach: not decided: the policies do not compile under the options of the test:
album.yaml:12:2088: error[invalid-expression]: the expression holds too many values at once: expected at most 250";
const NO_ANSWER: &str =
    "a_test.yaml:7:62: Look: ann, view, beach: not decided: there is no answer\n";
const NO_DECISION: &str =
    "a_test.yaml:7:62: Look: ann, view, beach: not decided: there is no decision about `view`\n";
