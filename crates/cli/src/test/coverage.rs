//! The coverage of the tests of a directory: its reports, and the required minimum.

use std::path::Path;

use wardgate_tooling::coverage::{Coverage, html, json, lcov, text};

use crate::arguments::{Host, Test};
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output, complain, is_standard_output, shown};
use crate::replace;

/// The forms of a report.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Json,
    Lcov,
    Html,
}

/// Returns true if coverage is requested.
pub(super) fn is_wanted(test: &Test) -> bool {
    !test.coverage.coverage.is_empty() || test.coverage.coverage_min.is_some()
}

/// Refuses impossible options before any test runs.
pub(super) fn check(test: &Test) -> Result<()> {
    let files = &test.coverage.coverage;
    if is_wanted(test) && test.host == Host::Node {
        let message = "coverage is counted natively: leave `--host node` out";
        return Err(Failure::usage(message));
    }
    if test.json && files.iter().any(|file| is_standard_output(file)) {
        let message =
            "`--json` prints the results: give coverage a file, as in `--coverage=coverage.json`";
        return Err(Failure::usage(message));
    }
    files.iter().filter(|file| !is_standard_output(file)).try_for_each(|file| form(file).map(drop))
}

/// Returns the files that are written, each after its option.
pub(super) fn files(test: &Test) -> impl Iterator<Item = (&'static str, &Path)> {
    let files = test.coverage.coverage.iter().map(|file| ("--coverage", file.as_path()));
    files.filter(|(_, file)| !is_standard_output(file))
}

/// Writes the reports, and returns the status of the command.
pub(super) fn print(test: &Test, coverage: &Coverage, out: &mut Output) -> Result<Status> {
    for file in &test.coverage.coverage {
        if is_standard_output(file) {
            out.line("")?;
            text::report(coverage).lines().try_for_each(|line| out.line(shown(line)))?;
        } else {
            replace::file(file, report(test, coverage, form(file)?).as_bytes())?;
        }
    }
    let total = coverage.summary().total();
    match test.coverage.coverage_min {
        Some(least) if !total.is_at_least(least) => {
            out.flush()?;
            let (covered, all, found) = (total.covered, total.all, total.text());
            complain(format_args!(
                "wardgate: {covered} of {all} exercised, {found}, which is less than {least} %"
            ));
            Ok(Status::LowCoverage)
        }
        _ => Ok(Status::Done),
    }
}

fn report(test: &Test, coverage: &Coverage, form: Form) -> String {
    match form {
        Form::Text => text::report(coverage),
        Form::Json => json::report(coverage) + "\n",
        // Tools look for the sources from where they run.
        Form::Lcov => lcov::report(coverage, &|path| test.directory.join(path).in_one_line()),
        Form::Html => html::report(coverage),
    }
}

fn form(file: &Path) -> Result<Form> {
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("txt") => Ok(Form::Text),
        Some("json") => Ok(Form::Json),
        Some("info") => Ok(Form::Lcov),
        Some("html") => Ok(Form::Html),
        _ => {
            let shown = file.in_one_line();
            let endings = "expected .txt, .json, .info (LCOV) or .html";
            Err(Failure::usage(format!("`--coverage={shown}`: unknown file extension, {endings}")))
        }
    }
}
