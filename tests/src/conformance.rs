//! Runs the public corpora against this project: suites of cases, and the outcome of each.
//!
//! A case that panics has failed, and so has one that the runner cannot read: no case is dropped
//! silently.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

#[cfg(feature = "policies")]
use serde_json::Value as Json;

use source::Source;

pub mod acvp;
#[cfg(feature = "server")]
pub mod authzen;
pub mod blake3;
#[cfg(feature = "server")]
pub mod cerbos_server;
pub mod mqtt;
pub mod mqtt_packet;
pub mod page;
pub mod source;
pub mod vectors;
pub mod wycheproof;

crate::of_policies! {
    pub mod answer;
    pub mod cel_eval;
    pub mod cel_spec;
    pub mod cerbos_lib;
    pub mod compile;
    pub mod engine;
    pub mod finding;
    pub mod index;
    pub mod mosquitto_topics;
    pub mod parser;
    pub mod policy_json;
    pub mod schema;
    pub mod spocp;
    pub mod tree;
    pub mod txtar;
    pub mod verify;
}

/// Every suite, in the order in which they run.
pub const SUITES: &[Suite] = &[
    #[cfg(feature = "policies")]
    Suite::new(cel_spec::NAME, source::CEL_SPEC, cel_spec::load, &["cel-spec/json"]),
    #[cfg(feature = "policies")]
    Suite::new("cerbos-lib", source::CERBOS, cerbos_lib::load, &["cerbos/cerbos_lib_exprs.json"]),
    #[cfg(feature = "policies")]
    Suite::new("cerbos-cel-eval", source::CERBOS, cel_eval::load, &["cerbos/testdata/cel_eval"]),
    #[cfg(feature = "policies")]
    Suite::new(
        "cerbos-engine",
        source::CERBOS,
        engine::load,
        &["cerbos/testdata/store", "cerbos/testdata/engine"],
    ),
    #[cfg(feature = "policies")]
    Suite::new(
        "cerbos-parser",
        source::CERBOS,
        parser::load,
        &["cerbos/testdata/parser", "cerbos/testdata/policy_formats", "cerbos/testdata/parser_wkt"],
    ),
    #[cfg(feature = "policies")]
    Suite::new("cerbos-index", source::CERBOS, index::load, &["cerbos/testdata/index"]),
    #[cfg(feature = "policies")]
    Suite::new("cerbos-schema", source::CERBOS, schema::load, &["cerbos/testdata/schema"]),
    #[cfg(feature = "policies")]
    Suite::new(
        "cerbos-compile",
        source::CERBOS,
        compile::load,
        &["cerbos/testdata/compile", "cerbos/testdata/schema"],
    ),
    #[cfg(feature = "policies")]
    Suite::new(
        "cerbos-verify",
        source::CERBOS,
        verify::load,
        &["cerbos/testdata/verify", "cerbos/testdata/store"],
    ),
    #[cfg(feature = "policies")]
    Suite::new(
        "cerbos-verify-junit",
        source::CERBOS,
        verify::load_junit,
        &["cerbos/testdata/verify_junit"],
    ),
    #[cfg(feature = "server")]
    Suite::new(
        "cerbos-server",
        source::CERBOS,
        cerbos_server::load,
        &["cerbos/testdata/server", "cerbos/testdata/store"],
    ),
    #[cfg(feature = "server")]
    Suite::new("authzen", source::AUTHZEN, authzen::load, &["authzen/interop"]),
    #[cfg(feature = "policies")]
    Suite::new("spocp", source::SPOCP, spocp::load, &["spocp"]),
    Suite::new("mqtt", source::MQTT, mqtt::load, &["mqtt"]),
    Suite::new("blake3", source::BLAKE3, blake3::load, &["blake3"]),
    Suite::new("acvp", source::ACVP, acvp::load, &["acvp-mldsa"]),
    Suite::new("wycheproof", source::WYCHEPROOF, wycheproof::load, &["wycheproof"]),
];

/// Suites that run by name alone, and that the page is not about: their cases are programs of other
/// projects, so that the corpora lack them.
pub const BY_NAME: &[Suite] = &[
    Suite::new("mqtt-packet", source::MQTT_PACKET, mqtt_packet::load, &[mqtt_packet::FILE]),
    #[cfg(feature = "policies")]
    Suite::new(
        "mosquitto-topics",
        source::MOSQUITTO,
        mosquitto_topics::load,
        &[mosquitto_topics::FILE],
    ),
];

/// Reads the cases of a suite from the folder of the corpora.
type Load = fn(&Path) -> Result<Vec<Case>, String>;

/// A named set of cases that live in the corpora.
#[derive(Clone, Copy)]
pub struct Suite {
    /// The name on the command line.
    pub name: &'static str,
    /// Reads the cases from the folder of the corpora.
    pub load: Load,
    /// The parts of the corpora that it reads.
    pub needs: &'static [&'static str],
    /// The project that the cases come from.
    pub source: Source,
}

/// One case, ready to run.
pub struct Case {
    name: String,
    run: Box<dyn Fn() -> Outcome>,
}

/// The outcome of a case.
pub enum Outcome {
    /// As expected.
    Passed,
    /// The host of the case is not here, or the project deviates on purpose; the text gives the
    /// reason.
    Skipped(String),
    /// Not as expected.
    Failed(Failure),
}

/// The expected and the found result of a case.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The result of the corpus.
    pub expected: String,
    /// The result of this project.
    pub found: String,
}

/// The outcomes of the cases of one suite.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of cases that passed.
    pub passed: usize,
    /// Those that failed, by name.
    pub failures: Vec<(String, Failure)>,
    /// Those that were skipped, by name, with the reason.
    pub skipped: Vec<(String, String)>,
}

impl Suite {
    const fn new(
        name: &'static str,
        source: Source,
        load: Load,
        needs: &'static [&'static str],
    ) -> Self {
        Self { name, load, needs, source }
    }

    /// Returns the first part that the suite needs and the corpora lack.
    #[must_use]
    pub fn missing(&self, corpora: &Path) -> Option<&'static str> {
        self.needs.iter().copied().find(|needed| !corpora.join(needed).exists())
    }

    /// Runs the cases whose names contain `filter`.
    ///
    /// # Errors
    /// If the cases cannot be read.
    pub fn run(&self, corpora: &Path, filter: &str) -> Result<Report, String> {
        let mut report = Report::default();
        for case in (self.load)(corpora)? {
            if case.name.contains(filter) {
                let outcome = case.outcome();
                report.add(case.name, outcome);
            }
        }
        Ok(report)
    }
}

impl Case {
    /// Makes a case called `name` that `run` decides.
    pub fn new(name: impl Into<String>, run: impl Fn() -> Outcome + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    fn outcome(&self) -> Outcome {
        catch_unwind(AssertUnwindSafe(|| (self.run)())).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Outcome::failed("no panic", format!("panic: {}", text.unwrap_or_default()))
        })
    }
}

impl Outcome {
    /// Makes a failure.
    pub fn failed(expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::Failed(Failure::new(expected, found))
    }
}

impl From<Result<(), Failure>> for Outcome {
    fn from(result: Result<(), Failure>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Passed)
    }
}

impl Failure {
    /// Makes a failure.
    pub fn new(expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self { expected: expected.to_string(), found: found.to_string() }
    }

    /// Compares two values.
    ///
    /// # Errors
    /// If they differ; the failure has them as `shown` writes them.
    pub fn unless_equal<T: PartialEq + ?Sized>(
        expected: &T,
        found: &T,
        shown: impl Fn(&T) -> String,
    ) -> Result<(), Self> {
        Self::unless(expected == found, || Self::new(shown(expected), shown(found)))
    }

    /// Returns an error with the failure if the condition does not hold.
    ///
    /// # Errors
    /// If `holds` is false.
    pub fn unless(holds: bool, failure: impl FnOnce() -> Self) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(failure()) }
    }

    /// Returns the failure in a few words: its first line without the parts that differ from case
    /// to case, such as quoted text and numbers.
    #[must_use]
    pub fn reason(&self) -> String {
        let mut reason = String::new();
        let mut quote = None;
        for c in self.found.lines().next().unwrap_or_default().chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some(_), _) => continue,
                (None, '`' | '\'' | '"') => quote = Some(c),
                (None, '0'..='9') if reason.ends_with('#') => continue,
                (None, '0'..='9') => {
                    reason.push('#');
                    continue;
                }
                (None, _) => {}
            }
            reason.push(c);
        }
        reason.chars().take(REASON_CHARACTERS).collect()
    }
}

impl Report {
    /// Returns the failures counted by reason, the commonest first.
    #[must_use]
    pub fn reasons(&self) -> Vec<(usize, String)> {
        counted(self.failures.iter().map(|(_, failure)| failure.reason()))
    }

    /// Returns the skipped cases counted by reason, the commonest first.
    #[must_use]
    pub fn absences(&self) -> Vec<(usize, String)> {
        counted(self.skipped.iter().map(|(_, why)| why.clone()))
    }

    fn add(&mut self, name: String, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Skipped(why) => self.skipped.push((name, why)),
            Outcome::Failed(failure) => self.failures.push((name, failure)),
        }
    }
}

fn counted(reasons: impl Iterator<Item = String>) -> Vec<(usize, String)> {
    let mut counts = BTreeMap::<String, usize>::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut counted: Vec<_> = counts.into_iter().map(|(reason, count)| (count, reason)).collect();
    counted.sort_by(|(a, _), (b, _)| b.cmp(a));
    counted
}

/// Returns the files of `folder` whose names end in `.extension`, sorted by name.
///
/// # Errors
/// If the folder cannot be listed.
pub fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let listing = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> = listing
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    Ok(paths)
}

/// Returns all files below `folder`, sorted by path.
///
/// # Errors
/// If a folder cannot be listed.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        if entry.file_type().map_err(cannot)?.is_dir() {
            found.extend(files_below(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the text of the file at `path`.
///
/// # Errors
/// If it cannot be read.
pub fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the YAML of the file at `path` as JSON.
///
/// # Errors
/// If it cannot be read or is not YAML.
#[cfg(feature = "policies")]
pub fn yaml(path: &Path) -> Result<Json, String> {
    crate::yaml::parse(&text(path)?).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the name of the file at `path` without its extension.
#[must_use]
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Enough to distinguish reasons, short enough for one line.
const REASON_CHARACTERS: usize = 90;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{BY_NAME, Case, Failure, Outcome, Report, SUITES};

    #[test]
    fn a_suite_names_the_missing_corpora() {
        for suite in SUITES.iter().chain(BY_NAME) {
            let missing = suite.missing(Path::new("/nowhere"));
            assert_eq!(missing, suite.needs.first().copied(), "{}", suite.name);
            assert!(missing.is_some_and(|path| path.starts_with(suite.source.folder)));
        }
    }

    #[test]
    fn reasons_leave_out_the_parts_that_differ_between_cases() {
        let check = |found: &str, expected: &str| {
            assert_eq!(Failure::new("", found).reason(), expected);
        };
        check("no such key `a`\nmore", "no such key ``");
        check("column 12: unexpected \"x\"", "column #: unexpected \"\"");
        check("", "");
    }

    #[test]
    fn a_panic_is_a_failure() {
        let case = Case::new("boom", || panic!("{}", "found a bug"));
        let mut report = Report::default();
        report.add("boom".to_owned(), case.outcome());
        assert_eq!(report.reasons(), [(1, "panic: found a bug".to_owned())]);
        assert!(matches!(case.outcome(), Outcome::Failed(_)));
    }
}
