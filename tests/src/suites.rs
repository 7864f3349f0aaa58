//! The cases of `tests/diagnostics/suites`: policy tests with mistakes, and the exact report about
//! them.
//!
//! As with policies, a case holds the mistake alone: the rest comes from the smallest suite, with
//! its fixtures and its policy.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value as Json;
use wardgate_compiler::{Enforcement, Options};
use wardgate_engine::table::Evaluation;
use wardgate_engine::wire::attr_json;
use wardgate_tooling::suite::results::{
    ActualOutput, CaseResult, Outcome, SuiteOutcome, SuiteResult, Verdict, effect_word,
};
use wardgate_tooling::suite::update::update;
use wardgate_tooling::suite::{Filter, Loaded, Native, Results, Sources, files, run};

use crate::cases;
use crate::diagnostics::{self, Files};

/// One mistake.
#[derive(Debug)]
pub struct Case {
    /// The name of the file, and of the case in it.
    pub name: String,
    /// Policies, suites and fixtures.
    pub files: Files,
    /// The selection of a run: globs, a pattern, keys of policies that are left out.
    filter: Json,
    /// The form of the results.
    shown: Shown,
    /// The report, as authors see it.
    pub report: String,
}

/// The form in which a case shows the results.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Report,
    Update,
    Junit,
    Json,
}

impl Case {
    /// Returns the report about the files.
    ///
    /// # Errors
    /// If the case itself cannot be run.
    pub fn rendered(&self) -> Result<String, String> {
        let options = Options {
            evaluation: Evaluation::Lenient,
            schema_enforcement: Enforcement::Reject,
            ..Options::default()
        };
        let sources = match Sources::from_files(&self.files, &options) {
            Ok(sources) => sources,
            Err(found) => return Ok(diagnostics::report(&found)),
        };
        let filter = match filter(&self.filter) {
            Ok(filter) => filter,
            Err(why) => return Ok(format!("filter: {why}\n")),
        };
        let all = self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let picked = files::pick(all);
        let suites = match self.shown {
            Shown::Update => files::load_drafts(&picked),
            _ => files::load(&picked),
        };
        let results = run(&suites, &filter, &mut Native::new(&sources, options.clone()))?;
        Ok(match self.shown {
            Shown::Report => report(&results),
            Shown::Update => {
                let (text, files) = updates(&suites, &results, &self.files);
                let again = files::load_drafts(&files::pick(
                    files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())),
                ));
                let after = run(&again, &filter, &mut Native::new(&sources, options))?;
                is_no_worse(&results, &after)?;
                text
            }
            Shown::Junit => format!("{}\n", results.junit()),
            Shown::Json => format!("{}\n", results.json()),
        })
    }
}

/// Reads the cases of one file.
///
/// # Errors
/// If the file cannot be read or holds no cases.
pub fn read(path: &Path) -> Result<Vec<Case>, String> {
    diagnostics::cases_of(path, read_case)
}

fn read_case(stem: &str, json: &Json) -> Result<Case, String> {
    cases::known(
        json,
        "name files policy suite options test input expected principals resources auxData filter \
         shown report",
    )?;
    let text = |key: &str| json.get(key).and_then(Json::as_str);
    let name = text("name").ok_or("a case needs a name")?;
    let mut files = diagnostics::given_files(json)?;
    let mut add = |path: &str, text: String| {
        if !files.iter().any(|(known, _)| known == path) {
            files.push((path.to_owned(), text.into_bytes()));
        }
    };
    for kind in ["principals", "resources", "auxData"] {
        if let Some(text) = text(kind) {
            add(&format!("testdata/{kind}.yaml"), text.to_owned());
        }
    }
    add("album.yaml", text("policy").unwrap_or(POLICY).to_owned());
    add("album_test.yaml", suite(json));
    Ok(Case {
        name: format!("{stem}: {name}"),
        files,
        filter: json.get("filter").cloned().unwrap_or_default(),
        shown: match text("shown") {
            None => Shown::Report,
            Some("update") => Shown::Update,
            Some("junit") => Shown::Junit,
            Some("json") => Shown::Json,
            Some(other) => return Err(format!("nothing is shown as `{other}`")),
        },
        report: text("report").unwrap_or_default().to_owned(),
    })
}

/// Returns the text of the suite: the whole of it, or the smallest one around the parts of a case.
fn suite(json: &Json) -> String {
    let text = |key: &str| json.get(key).and_then(Json::as_str);
    if let Some(suite) = text("suite") {
        return suite.to_owned();
    }
    let head = text("options").map(|options| format!("options: {options}\n")).unwrap_or_default();
    let test = match (text("test"), text("input"), text("expected")) {
        (Some(test), ..) => test.to_owned(),
        (None, input, expected) => {
            let expected = item(expected.unwrap_or(EXPECTED));
            format!("name: Look\ninput: {}\nexpected:\n{expected}", input.unwrap_or(INPUT))
        }
    };
    format!("{HEAD}{head}tests:\n{}", item(&test))
}

/// Writes lines as one item of a list.
fn item(text: &str) -> String {
    let mut mark = "  - ";
    let line = |line| format!("{}{line}\n", std::mem::replace(&mut mark, "    "));
    text.lines().map(line).collect()
}

fn filter(json: &Json) -> Result<Filter, String> {
    let text = |key: &str| json.get(key).and_then(Json::as_str);
    let mut filter = Filter::default();
    if let Some(pattern) = text("run") {
        filter = filter.name(pattern)?;
    }
    if let Some(globs) = text("globs") {
        filter = filter.globs(globs)?;
    }
    filter.excluded_resources.extend(text("resource").map(str::to_owned));
    filter.excluded_principals.extend(text("principal").map(str::to_owned));
    Ok(filter)
}

/// Returns the report of failures, skipped tests and errors.
#[must_use]
pub fn report(results: &Results) -> String {
    results.suites.iter().map(of_suite).collect()
}

fn of_suite(result: &SuiteResult) -> String {
    let file = &result.file;
    match &result.outcome {
        SuiteOutcome::Broken(_, errors) => diagnostics::report(errors),
        SuiteOutcome::Skipped(reason) => format!("{file}: skipped: {reason}\n"),
        SuiteOutcome::Ran(cases) => cases.iter().map(of_case).collect(),
    }
}

fn title(case: &CaseResult) -> String {
    let CaseResult { table, principal, resource, action, .. } = case;
    format!("{table}: {principal}, {action}, {resource}")
}

fn of_case(case: &CaseResult) -> String {
    let (title, at) = (title(case), case.location.position);
    let place = format!("{}:{}:{}", case.location.file.path, at.line, at.column);
    match &case.outcome {
        Outcome::Passed(..) => String::new(),
        Outcome::Skipped(skip) => format!("{title}: skipped: {}\n", skip.reason()),
        Outcome::Errored(error) => format!("{place}: {title}: not decided: {error}\n"),
        Outcome::Failed(failure) => {
            let [expected, actual] = [failure.expected, failure.actual].map(effect_word);
            let mut text = format!("{place}: {title}: expected {expected}, found {actual}\n");
            for output in &failure.outputs {
                let expected = output.expected.as_ref().map_or("nothing".to_owned(), attr_json);
                let found = match &output.found {
                    ActualOutput::Value(value) => attr_json(value),
                    ActualOutput::Nothing => "no output".to_owned(),
                    ActualOutput::Error(error) => format!("an error: {error}"),
                };
                text.push_str(&format!(
                    "  {}: expected {expected}, found {found}\n",
                    output.source
                ));
            }
            text
        }
    }
}

/// Returns the changes and refusals of an update, and the files after it.
fn updates(suites: &[Loaded], results: &Results, files: &Files) -> (String, Files) {
    let (mut text, mut files) = (String::new(), files.clone());
    for (loaded, result) in suites.iter().zip(&results.suites) {
        let update = update(loaded, result);
        for change in &update.changes {
            let lines = change.before.iter().map(|line| ('-', line));
            for (sign, line) in lines.chain(change.after.iter().map(|line| ('+', line))) {
                text.push_str(&format!("{} {sign} {line}\n", change.line));
            }
        }
        text.push_str(&diagnostics::report(&update.refused));
        let changed = files.iter_mut().find(|(path, _)| *path == loaded.file).zip(update.text);
        changed.into_iter().for_each(|((_, bytes), text)| *bytes = text.into_bytes());
    }
    (text, files)
}

/// Checks an update.
///
/// # Errors
/// If a changed suite can no longer be run, or a test fails that did not before.
fn is_no_worse(before: &Results, after: &Results) -> Result<(), String> {
    let failing = |results: &Results| -> BTreeSet<String> {
        let all = results.suites.iter().flat_map(|suite| match &suite.outcome {
            SuiteOutcome::Broken(..) => vec![suite.file.clone()],
            SuiteOutcome::Skipped(_) => Vec::new(),
            SuiteOutcome::Ran(cases) => {
                let failed = cases.iter().filter(|case| case.outcome.verdict() > Verdict::Passed);
                failed.map(|case| format!("{}: {}", suite.file, title(case))).collect()
            }
        });
        all.collect()
    };
    let (before, after) = (failing(before), failing(after));
    match after.difference(&before).next() {
        Some(worse) => Err(format!("after the update this fails, and did not before: {worse}")),
        None => Ok(()),
    }
}

const POLICY: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { name: look, actions: [view], roles: [member], effect: EFFECT_ALLOW, output: { when: { ruleActivated: R.attr.owner } } }
    - { name: change, actions: [edit], roles: [member], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.owner == P.id } } }
";

const HEAD: &str = "name: Albums
principals:
  ann: { id: ann, roles: [member] }
  bob: { id: bob, roles: [member] }
resources:
  beach: { kind: album, id: b1, attr: { owner: ann } }
  bare: { kind: album, id: b2 }
";

const INPUT: &str = "{ principals: [ann], resources: [beach], actions: [view] }";
const EXPECTED: &str = "{ principal: ann, resource: beach, actions: { view: EFFECT_ALLOW } }";
