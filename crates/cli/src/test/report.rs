//! Test results as text: failures in full, and one line about the rest.

use wardgate_compiler::source::Location;
use wardgate_engine::wire::attr_json;
use wardgate_tooling::suite::Loaded;
use wardgate_tooling::suite::results::{
    ActualOutput, CaseResult, OnlyWith, Outcome, OutputFailure, Results, Skip, SuiteOutcome,
    SuiteResult, Verdict, effect_word,
};

use super::folder;
use super::why::Why;
use crate::arguments::Test;
use crate::failure::Result;
use crate::output::{InOneLine, Output, Tone, counted, shown};

/// Prints the results.
pub(super) fn print<'s>(
    test: &Test,
    (suites, results): (&'s [Loaded], &Results),
    why: Why<'s>,
    out: &mut Output,
) -> Result<()> {
    if !test.quiet {
        let mut report = Report { test, out: &mut *out, why };
        for (loaded, suite) in suites.iter().zip(&results.suites) {
            if suite.summary().failed > 0 {
                report.why.enter(loaded);
            }
            report.suite(suite)?;
        }
    }
    print_differences(results, out)?;
    out.line(last_line(results, out))
}

/// Says how many tests pass under some options only.
pub(super) fn print_differences(results: &Results, out: &mut Output) -> Result<()> {
    for only_with in OnlyWith::ALL {
        let count = results.only_with(only_with);
        if count == 0 {
            continue;
        }
        let tests = counted(count, "test passes", "tests pass");
        let label = match only_with {
            OnlyWith::Strict => "`wardgate compile`",
            OnlyWith::Lenient | OnlyWith::Schemas | OnlyWith::LenientAndSchemas => "Cerbos",
        };
        out.line(format_args!("{tests} only with {}, as {label} decides", only_with.options()))?;
    }
    Ok(())
}

struct Report<'r, 's> {
    test: &'r Test,
    out: &'r mut Output,
    why: Why<'s>,
}

impl Report<'_, '_> {
    fn suite(&mut self, suite: &SuiteResult) -> Result<()> {
        let verdict = suite.summary().overall;
        if verdict <= Verdict::Passed && !self.test.verbose {
            return Ok(());
        }
        let file = self.file(&suite.file);
        let name = suite.name.as_deref().unwrap_or("not readable");
        let word = self.word(verdict);
        self.out.line(format_args!("{word} {}: {}", shown(&file), shown(name)))?;
        match &suite.outcome {
            SuiteOutcome::Broken(_, errors) => {
                for error in errors {
                    let mut error = error.clone();
                    error.file = self.file(&error.file);
                    self.lines(4, &error.to_string())?;
                }
            }
            SuiteOutcome::Skipped(reason) => self.reason(4, reason)?,
            SuiteOutcome::Ran(cases) => {
                for case in cases {
                    self.case(case)?;
                }
            }
        }
        self.out.line("")
    }

    fn case(&mut self, case: &CaseResult) -> Result<()> {
        let verdict = case.outcome.verdict();
        let is_filtered = matches!(case.outcome, Outcome::Skipped(Skip::Filter(_) | Skip::Name));
        if verdict <= Verdict::Passed && (!self.test.verbose || is_filtered) {
            return Ok(());
        }
        let CaseResult { table, principal, resource, action, .. } = case;
        let word = self.word(verdict);
        let title = format!("{table}: {principal}, {action}, {resource}");
        self.out.line(format_args!("  {word} {}", shown(&title)))?;
        match &case.outcome {
            Outcome::Passed(..) => Ok(()),
            Outcome::Skipped(skip) => self.reason(6, skip.reason()),
            Outcome::Errored(error) => {
                self.lines(6, error)?;
                self.position(6, &case.location)
            }
            Outcome::Failed(failure) => {
                if failure.outputs.is_empty() {
                    let (expected, actual) = (failure.expected, failure.actual);
                    let (expected, actual) = (effect_word(expected), effect_word(actual));
                    let decided = match failure.policy.as_str() {
                        "NO_MATCH" => "no policy matched".to_owned(),
                        policy => format!("decided by {policy}"),
                    };
                    let why = if case.has_expectation { "" } else { " by default" };
                    let line = format!("expected {expected}{why}, found {actual}; {decided}");
                    self.lines(6, &line)?;
                    for (number, line) in self.why.lines(case).iter().enumerate() {
                        let indent = if number == 0 { 6 } else { 8 };
                        self.out.line(format_args!("{:indent$}{}", "", shown(line)))?;
                    }
                    return self.position(6, &case.location);
                }
                for output in &failure.outputs {
                    self.output(output)?;
                }
                Ok(())
            }
        }
    }

    fn output(&mut self, failure: &OutputFailure) -> Result<()> {
        let expected = failure.expected.as_ref().map_or_else(|| "nothing".to_owned(), attr_json);
        let found = match &failure.found {
            ActualOutput::Value(value) => attr_json(value),
            ActualOutput::Nothing => "no output".to_owned(),
            ActualOutput::Error(error) => format!("an error: {error}"),
        };
        self.lines(6, &format!("output of {}:", failure.source))?;
        self.lines(8, &format!("expected {expected}"))?;
        self.lines(8, &format!("found    {found}"))?;
        self.position(8, &failure.location)
    }

    fn position(&mut self, indent: usize, location: &Location) -> Result<()> {
        let at = location.position;
        let file = self.file(&location.file.path);
        self.lines(indent, &format!("at {file}:{}:{}", at.line, at.column))
    }

    fn reason(&mut self, indent: usize, reason: &str) -> Result<()> {
        if reason.is_empty() { Ok(()) } else { self.lines(indent, reason) }
    }

    fn lines(&mut self, indent: usize, text: &str) -> Result<()> {
        text.lines()
            .try_for_each(|line| self.out.line(format_args!("{:indent$}{}", "", shown(line))))
    }

    fn word(&self, verdict: Verdict) -> String {
        let (word, tone) = match verdict {
            Verdict::Empty => ("EMPTY", Tone::Aside),
            Verdict::Skipped => ("SKIP ", Tone::Aside),
            Verdict::Passed => ("PASS ", Tone::Allow),
            Verdict::Failed => ("FAIL ", Tone::Deny),
            Verdict::Errored => ("ERROR", Tone::Deny),
        };
        self.out.paint(tone, word).into_owned()
    }

    /// Returns the path of a file as a person can open it.
    fn file(&self, file: &str) -> String {
        folder(self.test).join(file).in_one_line()
    }
}

/// Returns the sums in one line.
pub(super) fn last_line(results: &Results, out: &Output) -> String {
    let sums = results.summary();
    let broken = |suite: &&SuiteResult| matches!(suite.outcome, SuiteOutcome::Broken(..));
    let broken = results.suites.iter().filter(broken).count();
    let mut parts = vec![format!("{} passed", sums.passed)];
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    };
    add(sums.failed, "failed");
    add(sums.errored, "could not be decided");
    add(sums.skipped, "skipped");
    add(broken, if broken == 1 { "suite is broken" } else { "suites are broken" });
    let line = format!(
        "{}, {}: {}",
        counted(results.suites.len(), "suite", "suites"),
        counted(sums.tests, "test", "tests"),
        parts.join(", ")
    );
    let tone = if sums.overall >= Verdict::Failed { Tone::Deny } else { Tone::Allow };
    out.paint(tone, &line).into_owned()
}
