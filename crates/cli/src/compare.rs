//! `wardgate compare`: says who may do more and who may do less after a change of policies.
//!
//! The answer is that of `wardgate_analysis::compare`; this writes it for people, programs, code hosts and
//! browsers.

pub(crate) mod html;
pub(crate) mod sarif;
mod table;

use std::path::Path;

use wardgate_analysis::compare::{Change, Comparison, Decided, compare};
use wardgate_analysis::report;
use wardgate_engine::table::PolicyTable;

use crate::arguments::{Compare, Forbidden, Format};
use crate::clock;
use crate::failure::{Result, Status};
use crate::output::{Output, complain};
use crate::policies::{self, Source};

/// The two sides, as the answer names them.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'c> {
    pub(crate) old: &'c Path,
    pub(crate) new: &'c Path,
}

pub(crate) fn run(given: &Compare, out: &mut Output) -> Result<Status> {
    let now = given.now.unwrap_or_else(clock::now);
    let Compare { options, opening, .. } = given;
    let read = |path| {
        let source = Source { path, options, opening };
        policies::table_and_sources(source, now).map(|(table, _)| table)
    };
    let (old, new) = both(|| read(&given.old), || read(&given.new));
    let found = compare(&old?, &new?, now);
    let sides = Sides { old: &given.old, new: &given.new };
    match given.format {
        Format::Table => table::print(&found, sides, out)?,
        Format::Json => {
            let (old, new) =
                (|file: &str| path(sides.old, file), |file: &str| path(sides.new, file));
            out.line(report::comparison(&found, &old, &new))?;
        }
        Format::Sarif => out.line(sarif::report(&found))?,
        Format::Html => out.bytes(html::page(&found, sides).as_bytes())?,
    }
    let is_more = given.forbid.contains(&Forbidden::More) && found.may(Change::More);
    let is_less = given.forbid.contains(&Forbidden::Less) && found.may(Change::Less);
    out.flush()?;
    for (is_forbidden, word) in [(is_more, "more"), (is_less, "less")] {
        if is_forbidden {
            complain(format_args!("wardgate: somebody may do {word}, or that is unknown"));
        }
    }
    Ok(if is_more || is_less { Status::BadPolicies } else { Status::Done })
}

/// Reads both sides, at once where there are threads.
fn both(
    old: impl FnOnce() -> Result<PolicyTable> + Send,
    new: impl FnOnce() -> Result<PolicyTable> + Send,
) -> (Result<PolicyTable>, Result<PolicyTable>) {
    if cfg!(target_family = "wasm") {
        return (old(), new());
    }
    std::thread::scope(|scope| {
        let old = scope.spawn(old);
        let new = new();
        let old = old.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (old, new)
    })
}

/// Returns names in one line; `None` is any other one.
pub(crate) fn names<'n>(
    names: impl IntoIterator<Item = Option<&'n str>>,
    other: &'n str,
) -> String {
    // What no rule names comes last.
    let (named, others): (Vec<_>, Vec<_>) = names.into_iter().partition(Option::is_some);
    let names = named.into_iter().chain(others).map(|name| match name {
        Some("") => "``",
        Some(name) => name,
        None => other,
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the scopes in words; empty for the root alone.
fn scopes(scopes: &[&str]) -> String {
    match scopes {
        [""] => String::new(),
        [one] => format!("in scope {one}"),
        many => {
            let names = many.iter().map(|scope| if scope.is_empty() { "the root" } else { *scope });
            format!("in scopes {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a decision in words, with the place of its rule in this folder or bundle.
pub(crate) fn decision(decided: &Decided, side: &Path) -> String {
    let effect = if decided.is_allowed { "allowed" } else { "denied" };
    let Some(rule) = &decided.rule else { return format!("{effect}, {}", decided.reason) };
    let by = if decided.reason == "rule" { "by" } else { "because a condition failed in" };
    let source = format!("{}#{}", rule.policy, rule.name);
    match rule.file.as_str() {
        "" => format!("{effect} {by} {source}"),
        file => format!("{effect} {by} {}:{} ({source})", path(side, file), rule.line),
    }
}

/// Returns the path of a file of a side, as a person can open it.
pub(crate) fn path(side: &Path, file: &str) -> String {
    if side.is_dir() { side.join(file).display().to_string() } else { file.to_owned() }
}

/// Returns a summary of the comparison in one line.
fn summary(found: &Comparison) -> String {
    let count =
        |change| found.differences.iter().filter(|difference| difference.change == change).count();
    let (more, less) = (count(Change::More), count(Change::Less));
    let counts = &found.counts;
    let changed = counts.targets - counts.same_targets;
    let proved = counts.same_rules + counts.proved;
    format!(
        "{more} more, {less} less, {} unknown; {} of {} targets changed, {proved} of {} questions about them are equal",
        found.unknown.len(),
        changed,
        counts.targets,
        counts.questions,
    )
}
