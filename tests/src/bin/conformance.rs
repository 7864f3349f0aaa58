//! `conformance`: runs the public corpora and prints which cases passed.
//!
//! `conformance [--corpora DIR] [--suite NAME] [--filter TEXT] [--list-failures N] [--write FILE]
//! [--check FILE]`
//!
//! `--write` writes the page about all suites, `--check` compares the page with their results. A
//! suite whose folder is not among the corpora is named and skipped.
//!
//! Ends with 0 if every case passed or the corpora are not there, with 1 if a case failed, and with
//! 2 if the arguments are wrong or a suite could not be read.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use wardgate_tests::conformance::{BY_NAME, Report, SUITES, Suite, page};
use wardgate_tests::program::{exit, number, root};

fn main() -> ExitCode {
    let options = Options::parse(std::env::args().skip(1));
    exit("conformance", options.and_then(|options| options.run()))
}

struct Options {
    corpora: PathBuf,
    suite: Option<String>,
    filter: String,
    failures: usize,
    write: Option<PathBuf>,
    check: Option<PathBuf>,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let beside = root().join("../shared/corpora");
        let mut options = Self {
            corpora: beside,
            suite: None,
            filter: String::new(),
            failures: FAILURES_SHOWN,
            write: None,
            check: None,
        };
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("`{name}` needs a value"))?;
            match name.as_str() {
                "--corpora" => options.corpora = value.into(),
                "--suite" => options.suite = Some(value),
                "--filter" => options.filter = value,
                "--write" => options.write = Some(value.into()),
                "--check" => options.check = Some(value.into()),
                "--list-failures" => options.failures = number(&value)?,
                _ => return Err(format!("unknown option `{name}`")),
            }
        }
        Ok(options)
    }

    /// Runs the selected suites and returns true if everything passed.
    fn run(&self) -> Result<bool, String> {
        if !self.corpora.is_dir() {
            println!("conformance: no corpora at {}, nothing to run", self.corpora.display());
            return Ok(true);
        }
        let mut reports = Vec::new();
        for suite in self.suites()? {
            if let Some(missing) = suite.missing(&self.corpora) {
                println!("{}: skipped, there is no `{missing}` in the corpora", suite.name);
                continue;
            }
            let report = suite.run(&self.corpora, &self.filter)?;
            self.print(suite, &report);
            reports.push((suite, report));
        }
        let passed = reports.iter().all(|(_, report)| report.failures.is_empty());
        Ok(self.page(&reports)? && passed)
    }

    /// Writes or checks the page, and returns true if it is right.
    fn page(&self, reports: &[(&Suite, Report)]) -> Result<bool, String> {
        let Some(path) = self.write.as_ref().or(self.check.as_ref()) else { return Ok(true) };
        let lacks = |suite: &Suite| suite.missing(&self.corpora).is_some();
        if self.check.is_some() && self.suite.is_none() && SUITES.iter().any(lacks) {
            println!("conformance: the page is about all suites and was not compared");
            return Ok(true);
        }
        if !self.filter.is_empty() || !page::is_whole(reports) {
            return Err("the page is about all tests of all suites".to_owned());
        }
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let written = page::written(&self.corpora, reports)?;
        if self.write.is_some() {
            fs::write(path, written).map_err(failed)?;
            return Ok(true);
        }
        match page::checked(&fs::read_to_string(path).map_err(failed)?, &written) {
            Ok(note) => {
                note.iter().for_each(|note| println!("conformance: {note}"));
                Ok(true)
            }
            Err(message) => {
                println!("conformance: {message}");
                Ok(false)
            }
        }
    }

    fn suites(&self) -> Result<Vec<&'static Suite>, String> {
        let is_selected =
            |suite: &&Suite| self.suite.as_ref().is_none_or(|name| name == suite.name);
        let by_name = BY_NAME.iter().filter(|_| self.suite.is_some());
        let suites: Vec<_> = SUITES.iter().chain(by_name).filter(is_selected).collect();
        if suites.is_empty() {
            let known: Vec<_> = SUITES.iter().map(|suite| suite.name).collect();
            return Err(format!("unknown suite, expected one of {}", known.join(", ")));
        }
        Ok(suites)
    }

    fn print(&self, suite: &Suite, report: &Report) {
        let (failed, skipped) = (report.failures.len(), report.skipped.len());
        println!("{}: {} passed, {failed} failed, {skipped} skipped", suite.name, report.passed);
        for (name, failure) in report.failures.iter().take(self.failures) {
            println!("  failed {name}");
            println!("    expected {}", failure.expected.replace('\n', "\n    "));
            println!("    found    {}", failure.found.replace('\n', "\n    "));
        }
        if failed > self.failures {
            println!("  and {} more failures", failed - self.failures);
        }
        for (count, why) in report.absences() {
            println!("  skipped {count}: {why}");
        }
        if failed > 0 {
            println!("  failures by reason:");
            report.reasons().iter().for_each(|(count, reason)| println!("  {count:>5}  {reason}"));
        }
    }
}

/// The number of failures of a suite that are shown in full unless `--list-failures` sets another.
const FAILURES_SHOWN: usize = 20;
