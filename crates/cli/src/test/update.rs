//! `wardgate test --update`: shows how expectations differ from decisions, and changes the suites.
//!
//! A file is replaced whole or not at all, and only if it has not changed since it was read. An
//! expectation without a known position is reported and left as it is.

use std::path::Path;

use wardgate_tooling::suite::files::Files;
use wardgate_tooling::suite::results::{Outcome, SuiteResult, Verdict};
use wardgate_tooling::suite::update::{Change, Update, update};
use wardgate_tooling::suite::{Loaded, Results};

use super::{folder, report};
use crate::arguments::Test;
use crate::failure::{Result, Status};
use crate::output::{InOneLine, Output, Tone, complain, shown};
use crate::replace;

pub(super) fn run(
    test: &Test,
    files: &Files,
    suites: &[Loaded],
    results: &Results,
    out: &mut Output,
) -> Result<Status> {
    let mut updated = 0_usize;
    let mut worst = Status::Done;
    for (loaded, result) in suites.iter().zip(&results.suites) {
        let update = update(loaded, result);
        let path = folder(test).join(&loaded.file);
        show(&path, &update.changes, out)?;
        out.flush()?;
        for refused in &update.refused {
            let mut refused = refused.clone();
            refused.file = path.display().to_string();
            complain(&refused);
        }
        if let Some(text) = &update.text {
            write(&path, files.get(&loaded.file).map(Vec::as_slice).unwrap_or_default(), text)?;
            updated = updated.saturating_add(update.changes.len());
        }
        worst = worse(worst, after(result, &update));
    }
    report::print_differences(results, out)?;
    out.line(report::last_line(results, out))?;
    let changed = if updated == 1 { "1 place changed" } else { "places changed" };
    match updated {
        0 => out.line("nothing changed")?,
        1 => out.line(changed)?,
        more => out.line(format_args!("{more} {changed}"))?,
    }
    Ok(worst)
}

fn show(path: &Path, changes: &[Change], out: &mut Output) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let title = path.in_one_line();
    out.line(out.paint(Tone::Title, &shown(&title)).into_owned())?;
    for change in changes {
        let lines = change.before.iter().map(|line| (Tone::Deny, '-', line));
        let lines = lines.chain(change.after.iter().map(|line| (Tone::Allow, '+', line)));
        for (tone, sign, line) in lines {
            let line = format!("{:>5} {sign} {}", change.line, shown(line));
            out.line(out.paint(tone, &line).into_owned())?;
        }
    }
    Ok(())
}

/// Writes a suite with the byte order mark that it had.
fn write(path: &Path, read: &[u8], text: &str) -> Result<()> {
    let mark: &[u8] = if read.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { b"" };
    replace::unchanged(path, read, &[mark, text.as_bytes()].concat())
}

/// Returns the state of a suite after the update.
fn after(result: &SuiteResult, update: &Update) -> Status {
    use wardgate_tooling::suite::results::SuiteOutcome;
    let errored = |outcome: &Outcome| outcome.verdict() == Verdict::Errored;
    match &result.outcome {
        SuiteOutcome::Broken(..) => Status::BrokenSuites,
        SuiteOutcome::Ran(cases) if cases.iter().any(|case| errored(&case.outcome)) => {
            Status::BrokenSuites
        }
        _ if !update.refused.is_empty() => Status::FailedTests,
        _ => Status::Done,
    }
}

fn worse(a: Status, b: Status) -> Status {
    let rank = |status| match status {
        Status::Done => 0,
        Status::FailedTests => 1,
        _ => 2,
    };
    if rank(a) >= rank(b) { a } else { b }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
