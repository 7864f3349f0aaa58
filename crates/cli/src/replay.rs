//! `wardgate replay`: says which decisions of logs would be others with new policies.
//!
//! The counts are those of `wardgate_replay`; this writes them for people, programs, code hosts and browsers.

mod html;
mod json;
mod recorded;
mod sarif;
mod table;

use std::fs::File;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use wardgate_native::Policies;
use wardgate_replay::replay::{LogError, Replay, Sides};
use wardgate_replay::source::{self, Source as Log};
use wardgate_replay::tally::{LinePlace, Report};

use crate::arguments::{Forbidden, Format, Opening, ReplayLogs, TableOptions};
use crate::clock;
use crate::failure::{Failure, Result, Status};
use crate::log::bundles::Bundles;
use crate::output::{Output, complain};
use crate::policies::{self, Source};

use recorded::{Absent, RecordedLines};

/// A report, with the paths that it is about.
#[derive(Clone, Copy)]
struct Shown<'s> {
    report: &'s Report,
    logs: &'s [PathBuf],
    /// Where the old rules are; those of the new side if the logged effects are the old decisions.
    old: &'s Path,
    new: &'s Path,
}

pub(crate) fn run(given: &ReplayLogs, out: &mut Output) -> Result<Status> {
    let new = side(&given.new, given)?;
    let old = given.old.as_deref().map(|old| side(old, given)).transpose()?;
    let replay = Replay::new(Sides { old: old.as_ref(), new: &new });
    let (bundles, absent) = (bundles(given)?, Absent::default());
    let open = |path: &PathBuf| match path.is_dir() {
        false => open(path),
        true => RecordedLines::open(path, (&bundles, &new), &absent)
            .map(|(first, lines)| Log::numbered_from(first, lines)),
    };
    let report = replay.run(given.logs.iter().map(open), threads());
    let mut report = report.map_err(|error| unreadable(&given.logs, &error))?;
    for (absence, count) in &*absent.lock().unwrap_or_else(PoisonError::into_inner) {
        report.add_absent(&format!("decisions {absence}"), *count);
    }
    let old = given.old.as_deref().unwrap_or(&given.new);
    let shown = Shown { report: &report, logs: &given.logs, old, new: &given.new };
    match given.format {
        Format::Table => table::print(shown, out)?,
        Format::Json => out.line(json::report(shown))?,
        Format::Sarif => out.line(sarif::report(shown))?,
        Format::Html => out.bytes(html::page(shown).as_bytes())?,
    }
    out.flush()?;
    forbidden(&report, &given.forbid)
}

/// Opens the policies of a side.
fn side(path: &Path, given: &ReplayLogs) -> Result<Policies> {
    // Keys are for bundles and options for directories, and there may be one of each.
    let others = [Some(given.new.as_path()), given.old.as_deref()].into_iter().flatten();
    let (is_directory, none) = (path.is_dir(), Opening::default());
    let has_directory = others.into_iter().any(Path::is_dir);
    let opening = if is_directory { &none } else { &given.opening };
    let plain = TableOptions::default();
    let options = if !is_directory && has_directory { &plain } else { &given.options };
    let source = Source { path, options, opening };
    policies::table_and_sources(source, clock::now()).map(|(table, _)| Policies::of(table))
}

/// Opens the bundle of then, by which records of our own log are read that have no whole request.
fn bundles(given: &ReplayLogs) -> Result<Bundles> {
    let has_records = given.logs.iter().any(|path| path.is_dir());
    let old: Vec<PathBuf> =
        given.old.iter().filter(|old| has_records && !old.is_dir()).cloned().collect();
    Bundles::open(&old, &given.opening)
}

/// Opens a log of lines.
pub(crate) fn open(path: &Path) -> io::Result<Log<'static>> {
    if path == Path::new("-") {
        return source::open(io::stdin());
    }
    let file = File::open(path)?;
    // A folder can be opened, and fails when it is read, with words that say less.
    match file.metadata()?.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => source::open(file),
    }
}

/// Returns the failure of a log that cannot be read.
pub(crate) fn unreadable(logs: &[PathBuf], LogError { log, error }: &LogError) -> Failure {
    Failure::reading(logs.get(*log).map_or(Path::new(""), PathBuf::as_path), error)
}

/// Returns the number of threads that the machine has.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Complains of changes that are forbidden.
fn forbidden(report: &Report, forbid: &[Forbidden]) -> Result<Status> {
    let buckets = &report.buckets;
    let mut status = Status::Done;
    let changes = [
        (Forbidden::More, buckets.more, "denied then would be allowed"),
        (Forbidden::Less, buckets.less, "allowed then would be denied"),
    ];
    for (change, count, words) in changes {
        if forbid.contains(&change) && count > 0 {
            complain(format_args!("wardgate: {} {words}", table::counted(count, "decision")));
            status = Status::BadPolicies;
        }
    }
    Ok(status)
}

impl Shown<'_> {
    /// Returns the name of a log.
    fn log(&self, place: LinePlace) -> String {
        self.logs.get(place.log).map_or(String::new(), |path| path.display().to_string())
    }

    /// Returns the place of a line.
    fn place(&self, place: LinePlace) -> String {
        format!("{}:{}", self.log(place), place.line)
    }

    /// Returns the buckets with their names, unreadable lines included: each decision and each such line is in one.
    fn buckets(&self) -> [(&'static str, u64); 6] {
        let buckets = &self.report.buckets;
        [
            ("same", buckets.same),
            ("deny to allow", buckets.more),
            ("allow to deny", buckets.less),
            ("not reproduced", buckets.not_reproduced),
            ("not answerable", buckets.not_answerable),
            ("unreadable", self.report.unreadable),
        ]
    }
}
