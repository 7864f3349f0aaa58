//! A replay as JSON.

use serde_json::{Value as Json, json};
use wardgate_analysis::report;
use wardgate_native::protocol::cerbos::logged::Other;
use wardgate_replay::tally::{Distinct, Group, Sample};

use super::Shown;
use crate::answer::present;
use crate::compare::path;

/// Returns the whole report.
pub(super) fn report(all: Shown<'_>) -> Json {
    let report = all.report;
    let buckets = &report.buckets;
    let faults = report.faults.iter().map(
        |fault| json!({ "log": all.log(fault.place), "line": fault.place.line, "why": fault.why }),
    );
    let absent = report.absent.iter().map(|(why, count)| json!({ "why": why, "count": count }));
    let not_reproduced = report
        .not_reproduced
        .iter()
        .map(|((kind, action), count)| json!({ "kind": kind, "action": action, "count": count }));
    let others = report.others.iter().map(|(other, count)| (name(*other).to_owned(), json!(count)));
    present(json!({
        "lines": report.lines,
        "entries": report.checks,
        "otherEntries": others.collect::<serde_json::Map<_, _>>(),
        "decisions": buckets.all(),
        "buckets": {
            "same": buckets.same,
            "denyToAllow": buckets.more,
            "allowToDeny": buckets.less,
            "notReproduced": buckets.not_reproduced,
            "notAnswerable": buckets.not_answerable,
            "unreadable": report.unreadable,
        },
        "first": report.times.map(|(first, _)| first.to_string()),
        "last": report.times.map(|(_, last)| last.to_string()),
        "groups": report.groups.iter().map(|one| group(one, all)).collect::<Vec<_>>(),
        "ungrouped": report.ungrouped,
        "notReproduced": not_reproduced.collect::<Vec<_>>(),
        "notAnswerable": absent.collect::<Vec<_>>(),
        "unreadable": faults.collect::<Vec<_>>(),
        "unwatched": { "inputs": report.unwatched_inputs, "attributes": report.unwatched_attributes },
    }))
}

fn group(group: &Group, all: Shown<'_>) -> Json {
    let (first, last) = group.times;
    json!({
        "change": report::word(group.key.change),
        "kind": group.key.kind,
        "action": group.key.action,
        "roles": group.key.roles,
        "old": report::decided(&group.key.old, &|file| path(all.old, file)),
        "new": report::decided(&group.key.new, &|file| path(all.new, file)),
        "count": group.count,
        "principals": distinct(group.principals),
        "resources": distinct(group.resources),
        "first": first.to_string(),
        "last": last.to_string(),
        "samples": group.samples.iter().map(|one| sample(one, all)).collect::<Vec<_>>(),
    })
}

fn sample(sample: &Sample, all: Shown<'_>) -> Json {
    json!({
        "log": all.log(sample.place),
        "line": sample.place.line,
        "time": sample.time.to_string(),
        "request": report::request(&sample.request),
    })
}

fn distinct(distinct: Distinct) -> Json {
    json!({ "count": distinct.count, "atLeast": distinct.is_at_least })
}

const fn name(other: Other) -> &'static str {
    match other {
        Other::Plan => "plan",
        Other::Access => "access",
        Other::Failed => "failed",
        Other::Oversized => "oversized",
        Other::Unknown => "unknown",
    }
}
