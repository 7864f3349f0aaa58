//! `wardgate analyze`: groups the rules of a directory that could be one, and merges those that can be.

mod merges;
mod patch;
#[cfg(feature = "host")]
mod unused;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_analysis::groups::{Group, Kind};
use wardgate_analysis::index::{Index, RuleId};
use wardgate_analysis::merges::{Merges, merges as merges_of};
use wardgate_analysis::proof::Basis;
use wardgate_analysis::similar::Part;
use wardgate_compiler::compile::schema_in;

use crate::arguments::Analyze;
use crate::failure::{Result, Status};
use crate::output::{Output, Tone, counted};
use crate::overwriting::Paths;
use crate::rules::{few, place_json, read, shown_place};
use crate::{globals, policies};

pub(crate) fn run(analyze: &Analyze, out: &mut Output) -> Result<Status> {
    if !analyze.log.is_empty() {
        #[cfg(feature = "host")]
        return unused::run(analyze, out);
        #[cfg(not(feature = "host"))]
        return Err(crate::needs_host("analyze --log"));
    }
    paths(analyze).check()?;
    let (repository, resolved) = read(&analyze.directory, &analyze.options)?;
    let index = Index::new(&resolved);
    let mut groups = index.groups();
    groups.retain(|group| analyze.wants(group.kind.name()));
    let shown = Shown { index: &index, analyze };
    let options = policies::table_options(&analyze.options)?;
    let load = |path: &str| schema_in(&analyze.directory, path);
    let mut merges = Merges::default();
    if analyze.wants("merge")
        && let Some(mut basis) = Basis::new(&repository, &options, &load)
    {
        merges = merges_of(&index, &resolved, &mut basis);
        if let Some(path) = &analyze.patch {
            let edits: Vec<_> = merges.edits().collect();
            patch::write((&analyze.directory, path), &basis, &edits, out)?;
        }
    }
    if analyze.patches_output() {
        return Ok(Status::Done);
    }
    if analyze.json {
        let merges = merges.found.iter().map(|merge| shown.merge_json(merge));
        let groups = groups.iter().map(|group| shown.json(group));
        out.line(merges.chain(groups).collect::<Json>())?;
    } else {
        shown.print_merges(&merges, out)?;
        shown.print(&groups, &merges, out)?;
    }
    Ok(Status::Done)
}

impl Analyze {
    fn wants(&self, kind: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only.0 == kind)
    }

    /// Returns true if the patch goes to standard output.
    fn patches_output(&self) -> bool {
        self.patch.as_deref() == Some(Path::new("-"))
    }
}

/// Returns the files that are written and read.
fn paths(analyze: &Analyze) -> Paths<'_> {
    let patch = analyze.patch.iter().filter(|_| !analyze.patches_output());
    Paths {
        outputs: patch.map(|path| ("--patch", path.as_path())).collect(),
        inputs: analyze.options.globals.as_deref().and_then(globals::path).into_iter().collect(),
        directories: vec![&analyze.directory],
    }
}

struct Shown<'s> {
    index: &'s Index,
    analyze: &'s Analyze,
}

impl Shown<'_> {
    fn print(&self, groups: &[Group], merges: &Merges, out: &mut Output) -> Result<()> {
        let mut by_kind: BTreeMap<&str, usize> = BTreeMap::new();
        if !merges.found.is_empty() {
            by_kind.insert("merge", merges.found.len());
        }
        for group in groups {
            *by_kind.entry(group.kind.name()).or_default() += 1;
            out.line(out.paint(Tone::Title, &self.title(group)).into_owned())?;
            let mut values = self.index.values(group).into_iter();
            for rule in group.rules.iter().take(MAX_SHOWN) {
                self.print_rule(*rule, values.next(), out)?;
            }
            if group.rules.len() > MAX_SHOWN {
                out.line(format_args!("  and {} more", group.rules.len() - MAX_SHOWN))?;
            }
            out.line("")?;
        }
        let count = groups.len() + merges.found.len();
        if count == 0 {
            return out.line("nothing found");
        }
        let count = counted(count, "finding", "findings");
        let rules = counted(self.index.rules(), "rule", "rules");
        out.line(out.paint(Tone::Title, &format!("{count} among {rules}")).into_owned())?;
        by_kind.iter().try_for_each(|(kind, count)| out.line(format_args!("{count:>6}  {kind}")))
    }

    fn title(&self, group: &Group) -> String {
        let rules = group.rules.len();
        let what = match group.kind {
            Kind::SameRule => "say the same".to_owned(),
            Kind::DiffersIn(Part::Constants) => "differ in one constant only".to_owned(),
            Kind::DiffersIn(part) => format!("differ only in the {}", part.name()),
            Kind::SameShape => "have conditions that differ in constants only".to_owned(),
        };
        let across: Vec<&str> = group.across.iter().map(|part| part.name()).collect();
        let across = match across.as_slice() {
            [] => String::new(),
            parts => format!(", of more than one {}", parts.join(" and ")),
        };
        format!("{}: {rules} rules {what}{across}", group.kind.name())
    }

    fn print_rule(&self, rule: RuleId, value: Option<Vec<String>>, out: &mut Output) -> Result<()> {
        let Some(place) = self.index.place(rule) else { return Ok(()) };
        let place = shown_place(&self.analyze.directory, place);
        match value {
            Some(value) => {
                let value = few(value.iter().map(String::as_str));
                out.line(format_args!("  {place}: {value}"))
            }
            None => out.line(format_args!("  {place}")),
        }
    }

    fn json(&self, group: &Group) -> Json {
        let mut values = self.index.values(group).into_iter();
        let rules = group.rules.iter().filter_map(|rule| {
            let mut one = place_json(&self.analyze.directory, self.index.place(*rule)?);
            if let Some(value) = values.next() {
                one.extend([("value".to_owned(), json!(value))]);
            }
            Some(one)
        });
        json!({
            "kind": group.kind.name(),
            "part": part(group.kind).map(Part::name),
            "across": group.across.iter().map(|part| part.name()).collect::<Vec<_>>(),
            "saves": group.saves,
            "rules": rules.collect::<Vec<_>>(),
        })
    }
}

/// Returns the part in which the rules of a group differ.
const fn part(kind: Kind) -> Option<Part> {
    match kind {
        Kind::SameRule => None,
        Kind::DiffersIn(part) => Some(part),
        Kind::SameShape => Some(Part::Constants),
    }
}

/// Rules of a group that are printed; JSON has all.
const MAX_SHOWN: usize = 20;
