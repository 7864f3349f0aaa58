//! A replay for people.

use wardgate_analysis::compare::Change;
use wardgate_analysis::report;
use wardgate_engine::cel::Timestamp;
use wardgate_native::protocol::cerbos::logged::Other;
use wardgate_replay::tally::{Distinct, Group, Report};

use super::Shown;
use crate::compare::{decision, names};
use crate::failure::Result;
use crate::output::{Output, Tone, shown};

/// Prints all groups, new access first, and the buckets.
pub(super) fn print(all: Shown<'_>, out: &mut Output) -> Result<()> {
    for group in &all.report.groups {
        print_group(group, all, out)?;
    }
    for note in notes(all) {
        out.line(shown(&note))?;
    }
    out.line(out.paint(Tone::Title, &summary(all.report)).into_owned())?;
    for (name, count) in all.buckets() {
        out.line(format_args!("{count:>12}  {name}"))?;
    }
    Ok(())
}

fn print_group(group: &Group, all: Shown<'_>, out: &mut Output) -> Result<()> {
    let tone = if group.key.change == Change::More { Tone::Allow } else { Tone::Deny };
    let head = out.paint(tone, report::word(group.key.change)).into_owned();
    out.line(format_args!("{head}  {}", shown(&title(group))))?;
    for (when, decided, side) in
        [("was", &group.key.old, all.old), ("now", &group.key.new, all.new)]
    {
        out.line(format_args!("      {when}: {}", shown(&decision(decided, side))))?;
    }
    let Some(sample) = group.samples.first() else { return Ok(()) };
    out.line(format_args!("      at:  {} ({})", sample.time, shown(&all.place(sample.place))))?;
    out.line(format_args!("      for: {}", shown(&report::request(&sample.request).to_string())))
}

/// Returns what a group is about, in one line.
pub(super) fn title(group: &Group) -> String {
    let key = &group.key;
    let roles = names(key.roles.iter().map(Option::as_deref), "any other role");
    format!(
        "{} on {} [{roles}]: {} of {} on {}, {}",
        key.action,
        key.kind,
        counted(group.count, "decision"),
        distinct(group.principals, "principal"),
        distinct(group.resources, "resource"),
        times(group.times),
    )
}

/// Returns what is to be known beside the groups, one line each.
pub(super) fn notes(all: Shown<'_>) -> Vec<String> {
    let report = all.report;
    let mut notes = Vec::new();
    if report.ungrouped > 0 {
        notes.push(format!("{} in further groups", counted(report.ungrouped, "changed decision")));
    }
    let not_reproduced = report.not_reproduced.iter();
    notes.extend(not_reproduced.map(|((kind, action), count)| {
        format!("not reproduced: {action} on {kind}: {}", counted(*count, "decision"))
    }));
    let absent = report.absent.iter();
    notes.extend(
        absent
            .map(|(why, count)| format!("not answerable: {why}: {}", counted(*count, "decision"))),
    );
    let faults = report.faults.iter();
    notes.extend(
        faults.map(|fault| format!("unreadable: {}: {}", all.place(fault.place), fault.why)),
    );
    let told = u64::try_from(report.faults.len()).unwrap_or(u64::MAX);
    if let Some(more) = report.unreadable.checked_sub(told).filter(|more| *more > 0) {
        notes.push(format!("unreadable: {more} more lines"));
    }
    let others = report.others.iter();
    notes
        .extend(others.map(|(other, count)| format!("not asked: {count} {}", other_words(*other))));
    if report.unwatched_inputs > 0 || report.unwatched_attributes > 0 {
        notes.push(
            "there are too many kinds or attributes to look for all that the log lacks".to_owned(),
        );
    }
    notes
}

/// Returns the sizes of the log in one line.
pub(super) fn summary(report: &Report) -> String {
    let times = report.times.map(|both| format!(", {}", times(both)));
    format!(
        "{} in {}{}",
        counted(report.buckets.all(), "decision"),
        if report.checks == 1 {
            "1 entry".to_owned()
        } else {
            format!("{} entries", report.checks)
        },
        times.unwrap_or_default(),
    )
}

/// Returns the name of entries about which nothing is decided.
const fn other_words(other: Other) -> &'static str {
    match other {
        Other::Plan => "of query plans",
        Other::Access => "of accesses to the API",
        Other::Failed => "that ended in an error",
        Other::Oversized => "that were too large for the log",
        Other::Unknown => "of something else",
    }
}

fn distinct(distinct: Distinct, what: &str) -> String {
    let at_least = if distinct.is_at_least { "at least " } else { "" };
    format!("{at_least}{}", counted(u64::try_from(distinct.count).unwrap_or(u64::MAX), what))
}

/// Returns a span of time.
fn times((first, last): (Timestamp, Timestamp)) -> String {
    if first == last { format!("at {first}") } else { format!("{first} to {last}") }
}

pub(super) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
