//! `wardgate analyze --log`: says which rules, and which of their parts, decided nothing in the last days of a log.

use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_native::Policies;
use wardgate_replay::usage::{Unused, Usage, What, usage};

use crate::answer::present;
use crate::arguments::{Analyze, Opening};
use crate::clock;
use crate::failure::{Result, Status};
use crate::output::{Output, Tone, counted, shown};
use crate::policies::{self, Source};
use crate::replay::{open, threads, unreadable};

pub(super) fn run(analyze: &Analyze, out: &mut Output) -> Result<Status> {
    let (directory, opening) = (analyze.directory.as_path(), &Opening::default());
    policies::must_be_directory(directory)?;
    let source = Source { path: directory, options: &analyze.options, opening };
    let policies = Policies::of(policies::table_and_sources(source, clock::now())?.0);
    let logs = analyze.log.iter().map(|path| open(path));
    let usage = usage(&policies, logs, threads());
    let usage = usage.map_err(|error| unreadable(&analyze.log, &error))?;
    let found = usage.unused(policies.table(), analyze.days);
    if analyze.json {
        let log = std::iter::once(log_json(&usage, analyze.days));
        out.line(log.chain(found.iter().map(|one| unused_json(one, directory))).collect::<Json>())?;
        return Ok(Status::Done);
    }
    for one in &found {
        out.line(shown(&words(one, directory)))?;
    }
    out.line(out.paint(Tone::Title, &summary(&usage, found.len(), analyze.days)).into_owned())?;
    Ok(Status::Done)
}

fn words(unused: &Unused<'_>, directory: &Path) -> String {
    let what = match unused.what {
        What::Rule => "unused: ".to_owned(),
        What::Role(name) => format!("unused: role `{name}` of "),
        What::DerivedRole(name) => format!("unused: derived role `{name}` of "),
        What::Action(name) => format!("unused: action `{name}` of "),
    };
    let file = directory.join(unused.file);
    format!("{what}{}#{} ({}:{})", unused.policy, unused.rule, file.display(), unused.line)
}

fn summary(usage: &Usage, found: usize, days: u32) -> String {
    let times = usage.times.map(|(first, last)| format!(", {first} to {last}"));
    let decisions = format!(
        "{} decisions in {} entries{}",
        usage.decisions,
        usage.checks,
        times.unwrap_or_default()
    );
    let others = format!(
        "{} are not reproduced by these policies, {} could not be read",
        usage.not_reproduced, usage.unreadable
    );
    match usage.covers(days) {
        true => {
            let findings = counted(found, "finding", "findings");
            format!("{findings} about the last {days} days; {decisions}; {others}")
        }
        false if usage.is_incomplete => {
            format!("too many uses to count, so nothing is claimed; {decisions}")
        }
        false => format!("the log is shorter than {days} days, so nothing is claimed; {decisions}"),
    }
}

fn log_json(usage: &Usage, days: u32) -> Json {
    present(json!({
        "kind": "log",
        "days": days,
        "covered": usage.covers(days),
        "entries": usage.checks,
        "decisions": usage.decisions,
        "notReproduced": usage.not_reproduced,
        "unreadable": usage.unreadable,
        "first": usage.times.map(|(first, _)| first.to_string()),
        "last": usage.times.map(|(_, last)| last.to_string()),
    }))
}

fn unused_json(unused: &Unused<'_>, directory: &Path) -> Json {
    let (what, name) = match unused.what {
        What::Rule => ("rule", None),
        What::Role(name) => ("role", Some(name)),
        What::DerivedRole(name) => ("derived-role", Some(name)),
        What::Action(name) => ("action", Some(name)),
    };
    present(json!({
        "kind": "unused",
        "what": what,
        "name": name,
        "policy": unused.policy,
        "rule": unused.rule,
        "file": directory.join(unused.file).display().to_string(),
        "line": unused.line,
    }))
}
