//! `wardgate test`: runs the test suites of a directory of policies.
//!
//! The rules of suites are in `wardgate-tooling`; this file reads the files, chooses the decider,
//! and reports the results. Failed tests and broken suites have exit codes of their own, because
//! only failed tests are news about the policies.

mod coverage;
#[cfg(feature = "host")]
mod node;
mod report;
mod update;
mod watch;
mod why;

use wardgate_compiler::Options;
use wardgate_tooling::coverage::{Coverage, Watching};
use wardgate_tooling::suite::files::{self, Files};
use wardgate_tooling::suite::results::Verdict;
use wardgate_tooling::suite::{Filter, Loaded, Native, Results, Sources};

use crate::arguments::{Host, Test};
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output, complain};
use crate::overwriting::Paths;
use crate::{globals, policies, replace};

pub(crate) fn run(test: &Test, out: &mut Output) -> Result<Status> {
    if test.host == Host::Native && test.package.is_some() {
        return Err(Failure::usage("`--package` is for deciding in Node: add `--host node`"));
    }
    coverage::check(test)?;
    paths(test).check()?;
    let filter = filter(test)?;
    if test.watch {
        return watch::run(test, out, &|out| once(test, &filter, out));
    }
    once(test, &filter, out)
}

/// Returns the files that are written and read.
fn paths(test: &Test) -> Paths<'_> {
    let results = test.junit.iter().map(|path| ("--junit", path.as_path()));
    Paths {
        outputs: results.chain(coverage::files(test)).collect(),
        inputs: test.globals().and_then(globals::path).into_iter().collect(),
        directories: vec![&test.directory, folder(test)],
    }
}

/// Runs the suites once, and reports.
fn once(test: &Test, filter: &Filter, out: &mut Output) -> Result<Status> {
    let files = suite_files(test)?;
    let suites = if test.update { files::load_drafts(&files) } else { files::load(&files) };
    let options = policies::table_options(&test.options())?;
    let sources = sources(test, &options)?;
    if suites.is_empty() {
        let shown = folder(test).in_one_line();
        complain(format_args!(
            "wardgate: `{shown}` holds no test suites: no file is named `*_test.yaml`"
        ));
        if !test.pass_with_no_tests {
            complain("wardgate: nothing was tested; `--pass-with-no-tests` accepts that");
        }
    }
    let (results, exercised) = decide(test, filter, &suites, (&sources, &options))?;
    if let Some(path) = &test.junit {
        replace::file(path, format!("{}\n", results.junit()).as_bytes())?;
    }
    if test.update {
        return update::run(test, &files, &suites, &results, out);
    }
    match test.json {
        true => out.line(results.json())?,
        false => {
            let why = why::Why::new(Native::new(&sources, options.clone()));
            report::print(test, (&suites, &results), why, out)?;
        }
    }
    let coverage_status =
        exercised.map(|exercised| coverage::print(test, &exercised, out)).transpose()?;
    match concluded(test, results.summary().overall) {
        Status::Done => Ok(coverage_status.unwrap_or(Status::Done)),
        status => Ok(status),
    }
}

/// Reads the policies.
fn sources(test: &Test, options: &Options) -> Result<Sources> {
    let about = std::fs::metadata(&test.directory);
    let about = about.map_err(|error| Failure::reading(&test.directory, &error))?;
    if !about.is_dir() {
        let shown = test.directory.in_one_line();
        return Err(Failure::usage(format!("`{shown}` is not a directory of policies")));
    }
    let sources = Sources::read(&test.directory, options)
        .map_err(|errors| policies::below(&test.directory, errors))?;
    if sources.repository.policies.is_empty() {
        let shown = test.directory.in_one_line();
        complain(format_args!("wardgate: `{shown}` holds no policies, so every action is denied"));
    }
    Ok(sources)
}

/// Decides, and records coverage if it is requested.
fn decide(
    test: &Test,
    filter: &Filter,
    suites: &[Loaded],
    (sources, options): (&Sources, &Options),
) -> Result<(Results, Option<Coverage>)> {
    let mut watching = coverage::is_wanted(test).then(|| Watching::new(sources, options.clone()));
    let native = Native::new(sources, options.clone());
    let mut native = match &mut watching {
        Some(watching) => native.watched(watching),
        None => native,
    };
    let decided = match test.host {
        Host::Native => wardgate_tooling::suite::run(suites, filter, &mut native),
        #[cfg(not(feature = "host"))]
        Host::Node => return Err(crate::needs_host("test --host node")),
        #[cfg(feature = "host")]
        Host::Node => {
            let package = test.package.as_deref();
            let mut node = node::Node::start(sources, options.clone(), native, package)?;
            wardgate_tooling::suite::run(suites, filter, &mut node)
        }
    };
    let results = decided.map_err(Failure::system)?;
    Ok((results, watching.map(Watching::finish)))
}

fn filter(test: &Test) -> Result<Filter> {
    let mut filter = Filter::default();
    if let Some(pattern) = &test.run {
        let wrong = |why| Failure::usage(format!("`--run` is not a regular expression: {why}"));
        filter = filter.name(pattern).map_err(wrong)?;
    }
    for globs in &test.filter {
        filter = filter.globs(globs).map_err(|why| Failure::usage(format!("`--filter`: {why}")))?;
    }
    Ok(filter)
}

fn suite_files(test: &Test) -> Result<Files> {
    let folder = folder(test);
    let about = std::fs::metadata(folder).map_err(|error| Failure::reading(folder, &error))?;
    if !about.is_dir() {
        return Err(Failure::usage(format!("`{}` is not a directory", folder.in_one_line())));
    }
    files::read(folder).map_err(|errors| policies::below(folder, errors))
}

/// Returns the directory of the suites.
fn folder(test: &Test) -> &std::path::Path {
    test.tests.as_ref().unwrap_or(&test.directory)
}

/// Returns how the command ends, and says if its filters left out every test: one of them may be misspelt.
fn concluded(test: &Test, verdict: Verdict) -> Status {
    let is_filtered = test.run.is_some() || !test.filter.is_empty();
    match verdict {
        Verdict::Failed => Status::FailedTests,
        Verdict::Errored => Status::BrokenSuites,
        _ if test.pass_with_no_tests => Status::Done,
        Verdict::Empty => Status::BrokenSuites,
        Verdict::Skipped if is_filtered => {
            complain("wardgate: no test is selected; `--pass-with-no-tests` accepts that");
            Status::BrokenSuites
        }
        Verdict::Skipped | Verdict::Passed => Status::Done,
    }
}
