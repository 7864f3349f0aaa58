//! Comparing policies before and after a change.
//!
//! Before anything is timed, unchanged policies have no difference, and of changed rules exactly those kinds
//! differ that were changed, with nothing unknown.

use std::collections::BTreeSet;
use std::path::Path;

use wardgate_analysis::compare::{Comparison, compare};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_tests::loadtest::Templates;

use crate::arguments::Arguments;
use crate::measure::{self, Bounds, Figure, Side};
use crate::report::{NATIVE, Section};
use crate::workload::lines;

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "compare";

/// Policies before and after a change.
struct Pair {
    name: &'static str,
    title: String,
    old: Files,
    new: Files,
    /// The kinds that differ.
    changed: BTreeSet<String>,
}

type Files = Vec<(String, Vec<u8>)>;

/// Measures unchanged policies of Cerbos's load test, and a few changed rules of generated ones.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let mut pairs = vec![changed()];
    match Templates::read(&root.join("../shared/corpora"), "classic") {
        Ok(templates) => pairs.push(unchanged(&templates)),
        Err(why) => eprintln!("unchanged policies are left out of `{NAME}`: {why}"),
    }
    pairs.into_iter().map(|pair| pair.section(arguments.bounds())).collect()
}

fn unchanged(templates: &Templates) -> Pair {
    let files: Files = templates.repository(COPIES);
    let policies = COPIES * templates.policies_per_copy();
    Pair {
        name: "unchanged",
        title: format!("{policies} policies of Cerbos's classic load test, unchanged"),
        old: files.clone(),
        new: files,
        changed: BTreeSet::new(),
    }
}

/// Returns policies of many kinds, of which one rule each of a few has another constant.
fn changed() -> Pair {
    let kind = |number: usize| format!("kind_{number:03}");
    let file = |number: usize, level: usize| {
        let text = RULES.replace("KIND", &kind(number)).replace("LEVEL", &level.to_string());
        (format!("{}.yaml", kind(number)), text.into_bytes())
    };
    let is_changed = |number: &usize| number.is_multiple_of(KINDS / CHANGED);
    Pair {
        name: "changed",
        title: format!("{CHANGED} changed rules in {KINDS} kinds of five rules"),
        old: (0..KINDS).map(|number| file(number, 3)).collect(),
        new: (0..KINDS)
            .map(|number| file(number, if is_changed(&number) { 2 } else { 3 }))
            .collect(),
        changed: (0..KINDS).filter(is_changed).map(kind).collect(),
    }
}

impl Pair {
    fn section(&self, bounds: Bounds) -> Result<Section, String> {
        let (old, new) = self.tables()?;
        self.confirm(&compare(&old, &new, Timestamp::default()))?;
        let alone = measure::action("Wardgate, compare two tables", Side::Ours, bounds, || {
            self.confirm(&compare(&old, &new, Timestamp::default()))
        })?;
        let whole = "Wardgate, compile both on two threads, and compare";
        let whole: Figure = measure::action(whole, Side::Ours, bounds, || {
            let (old, new) = self.tables()?;
            self.confirm(&compare(&old, &new, Timestamp::default()))
        })?;
        let section = Section::new(format!("{NAME}-{}", self.name), self.title.clone(), NOTE);
        Ok(section.with(NATIVE, vec![alone, whole]))
    }

    fn tables(&self) -> Result<(PolicyTable, PolicyTable), String> {
        std::thread::scope(|scope| {
            let old = scope.spawn(|| table(&self.old));
            let new = table(&self.new)?;
            let old = old.join().map_err(|_| "a thread has panicked".to_owned())??;
            Ok((old, new))
        })
    }

    /// Returns an error if other kinds differ than those that were changed.
    fn confirm(&self, found: &Comparison) -> Result<(), String> {
        let kinds = found.differences.iter().filter_map(|one| one.place.kind.clone());
        let kinds: BTreeSet<String> = kinds.collect();
        if kinds != self.changed || !found.unknown.is_empty() {
            return Err(format!("{}: {} kinds differ", self.title, kinds.len()));
        }
        Ok(())
    }
}

fn table(files: &Files) -> Result<PolicyTable, String> {
    let compiled = compile_files(files, &Options::default());
    let compiled = compiled.map_err(|errors| lines(errors.iter().take(5)))?;
    PolicyTable::from_parts(compiled.parts).map_err(|error| format!("{error:?}"))
}

const NOTE: &str = "Both versions are in memory. Every difference is found, and shown by a request that was decided with \
    both tables.";
const COPIES: usize = 1112;
const KINDS: usize = 200;
const CHANGED: usize = 20;
const RULES: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: KIND
  version: default
  rules:
    - { actions: [view, list], roles: [employee], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.owner == P.id || R.attr.public == true } } }
    - { actions: [edit], roles: [employee], effect: EFFECT_ALLOW, condition: { match: { all: { of: [{ expr: R.attr.owner == P.id }, { expr: 'R.attr.status in [\"draft\", \"open\"]' }] } } } }
    - { actions: [approve], roles: [manager], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.dept == P.attr.dept && P.attr.level >= LEVEL } } }
    - { actions: ['*'], roles: [admin], effect: EFFECT_ALLOW }
    - { actions: ['*'], roles: ['*'], effect: EFFECT_DENY, condition: { match: { expr: has(R.attr.locked) && R.attr.locked == true } } }
";
