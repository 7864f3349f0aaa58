//! `wardgate analyze`: groups the rules of a directory that could be one.

use std::collections::BTreeMap;

use wardgate_analysis::groups::{Group, Kind};
use wardgate_analysis::index::{Index, RuleId};
use wardgate_analysis::report;
use wardgate_analysis::similar::Part;

use crate::arguments::Analyze;
use crate::failure::{Result, Status};
use crate::output::{Output, Tone, counted};
use crate::rules::{few, file_name, read, shown_place};

pub(crate) fn run(analyze: &Analyze, out: &mut Output) -> Result<Status> {
    let (_, resolved) = read(&analyze.directory, &analyze.options)?;
    let index = Index::new(&resolved);
    let mut groups = index.groups();
    let is_wanted = |group: &Group| analyze.only.iter().any(|only| only.0 == group.kind.name());
    groups.retain(|group| analyze.only.is_empty() || is_wanted(group));
    let shown = Shown { index: &index, analyze };
    if analyze.json {
        out.line(report::groups(&index, &groups, &file_name(&analyze.directory)))?;
    } else {
        shown.print(&groups, out)?;
    }
    Ok(Status::Done)
}

struct Shown<'s> {
    index: &'s Index,
    analyze: &'s Analyze,
}

impl Shown<'_> {
    fn print(&self, groups: &[Group], out: &mut Output) -> Result<()> {
        let mut by_kind: BTreeMap<&str, usize> = BTreeMap::new();
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
        if groups.is_empty() {
            return out.line("no groups");
        }
        let count = counted(groups.len(), "group", "groups");
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
}

/// Rules of a group that are printed; JSON has all.
const MAX_SHOWN: usize = 20;
