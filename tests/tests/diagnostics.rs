//! The reports about mistakes: every case, and a case for every message.
//!
//! `UPDATE_DIAGNOSTICS=1` writes the reports of the cases anew; the changes are then read like any
//! others.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[path = "diagnostics/folder.rs"]
mod folder;
#[path = "diagnostics/limits.rs"]
mod limits;
#[path = "diagnostics/reports.rs"]
mod reports;
#[path = "diagnostics/suites.rs"]
mod suites;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_tests::diagnostics::{self, Case};
use wardgate_tests::literals;
use wardgate_tests::program::root;

#[test]
fn every_mistake_has_the_report_of_its_case() {
    let mut failures = Vec::new();
    for path in case_files(&cases()) {
        let read = diagnostics::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let reports: Vec<_> =
            read.iter().map(|case| diagnostics::report(&case.diagnostics())).collect();
        if is_updating() {
            update(&path, &reports);
            continue;
        }
        let wrong = read.iter().zip(&reports).filter(|(case, report)| case.report != **report);
        failures.extend(
            wrong.map(|(case, report)| {
                format!("{}\n{report}\ninstead of\n{}", case.name, case.report)
            }),
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_message_of_the_compiler_is_in_a_case() {
    let mut messages = literals::messages(&sources(), &OF_OTHER_TESTS).unwrap();
    messages.extend(
        literals::messages(&tooling_sources(), &["coverage", "lint", "suite", "typescript"])
            .unwrap(),
    );
    messages.extend(words_for_yaml());
    literals::check_shown(&messages, &shown(), &cases().join(UNCOVERED)).unwrap();
}

#[test]
fn every_code_is_in_a_case() {
    let shown: BTreeSet<&str> = ALL.iter().map(|diagnostic| diagnostic.code.name()).collect();
    let own: String = literals::sources(&sources(), &OF_OTHER_TESTS).unwrap().concat();
    let source = fs::read_to_string(sources().join("diagnostics.rs")).unwrap();
    let names = source.lines().filter_map(|line| {
        let (variant, name) = line.trim().strip_prefix("Self::")?.split_once(" => \"")?;
        let is_given = own.contains(&format!("Code::{variant},"));
        name.strip_suffix("\",").filter(|_| is_given)
    });
    let missing: Vec<_> = names.filter(|name| !shown.contains(name) && *name != OF_HOSTS).collect();
    assert!(missing.is_empty(), "no case of tests/diagnostics has the codes {missing:?}");
}

/// Returns all texts of the cases: messages, found values, and expected ones.
fn shown() -> Vec<String> {
    let mut shown = limits::globals();
    for diagnostic in ALL.iter() {
        shown.push(diagnostic.message.clone());
        shown.extend(diagnostic.found.clone());
        shown.extend(diagnostic.expected.clone());
    }
    shown
}

/// Returns the words that replace those of the YAML scanner, which stand before each of them.
fn words_for_yaml() -> Vec<String> {
    let source = fs::read_to_string(sources().join("yaml/scanner_messages.rs")).unwrap();
    let pairs = source.split_once("const MESSAGES").unwrap().1;
    literals::literals(pairs).into_iter().skip(1).step_by(2).collect()
}

static ALL: LazyLock<Vec<Diagnostic>> = LazyLock::new(all);

fn all() -> Vec<Diagnostic> {
    let cases = case_files(&cases()).into_iter();
    let cases: Vec<Case> = cases.flat_map(|path| diagnostics::read(&path).unwrap()).collect();
    let generated = limits::all().into_iter().chain(folder::all());
    cases.iter().flat_map(Case::diagnostics).chain(generated).collect()
}

fn is_updating() -> bool {
    std::env::var_os("UPDATE_DIAGNOSTICS").is_some()
}

/// Writes the reports of a file of cases anew, if the environment demands it.
fn update(path: &Path, reports: &[String]) {
    if is_updating() {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, diagnostics::with_reports(&text, reports)).unwrap();
    }
}

/// Returns the files of cases in a folder.
fn case_files(folder: &Path) -> Vec<PathBuf> {
    let files = diagnostics::paths(folder).unwrap().into_iter();
    files.filter(|path| !path.ends_with(UNCOVERED)).collect()
}

fn cases() -> PathBuf {
    root().join("tests/diagnostics")
}

fn sources() -> PathBuf {
    root().join("crates/compiler/src")
}

/// Returns the folder of the sources of the tools for authors.
fn tooling_sources() -> PathBuf {
    root().join("crates/tooling/src")
}

/// The file in each folder of cases with the messages that no author can reach.
const UNCOVERED: &str = "uncovered.yaml";

/// Parts of the compiler without messages, or whose messages have other proofs: lists of names; the
/// messages for the YAML scanner, which `words_for_yaml` reads; and missing schemas, whose cases are
/// those of `tests/lint`. `suites`, `reports` and `tests/lint` hold the same proof for suites,
/// coverage and the linter.
const OF_OTHER_TESTS: [&str; 4] =
    ["cel/signature/table", "regex/names", "schema/missing", "yaml/scanner_messages"];

/// The code that only the hosts of the compiler give: the compiler itself accepts a directory
/// without policies.
const OF_HOSTS: &str = "no-policies";
