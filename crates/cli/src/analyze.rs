//! `wardgate analyze`: groups the rules of a directory that could be one, and merges those that can be.

mod derived;
mod findings;
mod merges;
mod patch;
#[cfg(feature = "host")]
mod unused;

use std::collections::BTreeMap;
use std::path::Path;

use wardgate_analysis::groups::{Group, Kind};
use wardgate_analysis::index::{Index, RuleId};
use wardgate_analysis::proof::Basis;
use wardgate_analysis::report;
use wardgate_analysis::similar::Part;
use wardgate_analysis::suggestions::{Suggestions, need_proof};
use wardgate_compiler::compile::schema_in;

use crate::arguments::Analyze;
use crate::failure::{Result, Status};
use crate::output::{Output, Tone, counted};
use crate::overwriting::Paths;
use crate::rules::{few, file_name, read, shown_place};
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
    let options = policies::table_options(&analyze.options)?;
    let load = |path: &str| schema_in(&analyze.directory, path);
    let wants = |kind: &str| analyze.wants(kind);
    let proves = analyze.patch.is_some() || need_proof(wants);
    let mut basis = if proves { Basis::new(&repository, &options, &load) } else { None };
    let found = Suggestions::of((&index, &resolved), basis.as_mut(), wants);
    if let (Some(path), Some(basis)) = (&analyze.patch, &basis) {
        let edits: Vec<_> = found.edits().collect();
        patch::write((&analyze.directory, path), basis, &edits, out)?;
    }
    if analyze.patches_output() {
        return Ok(Status::Done);
    }
    let shown = Shown { index: &index, analyze };
    match analyze.json {
        true => out.line(report::suggestions(&index, &found, &file_name(&analyze.directory)))?,
        false => shown.print_all(&found, out)?,
    }
    Ok(Status::Done)
}

impl Analyze {
    /// Returns true if findings of a kind are asked for; a patch in place of the findings has those with edits.
    fn wants(&self, kind: &str) -> bool {
        let is_asked = self.only.is_empty() || self.only.iter().any(|only| only.0 == kind);
        is_asked && (!self.patches_output() || matches!(kind, "merge" | "derived-role"))
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
    fn print_all(&self, found: &Suggestions, out: &mut Output) -> Result<()> {
        self.print_merges(&found.merges, out)?;
        self.print_derivations(&found.derivations, out)?;
        let mut by_kind: BTreeMap<&str, usize> = BTreeMap::new();
        by_kind.insert("merge", found.merges.found.len());
        by_kind.insert("derived-role", found.derivations.found.len());
        self.print_findings(found, &mut by_kind, out)?;
        self.print_groups(&found.groups, &mut by_kind, out)?;
        let count: usize = by_kind.values().sum();
        if count == 0 {
            return out.line("nothing found");
        }
        let count = counted(count, "finding", "findings");
        let rules = counted(self.index.rules(), "rule", "rules");
        out.line(out.paint(Tone::Title, &format!("{count} among {rules}")).into_owned())?;
        let kinds = by_kind.iter().filter(|(_, count)| **count > 0);
        kinds.into_iter().try_for_each(|(kind, count)| out.line(format_args!("{count:>6}  {kind}")))
    }

    fn print_groups(
        &self,
        groups: &[Group],
        by_kind: &mut BTreeMap<&str, usize>,
        out: &mut Output,
    ) -> Result<()> {
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
        Ok(())
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
