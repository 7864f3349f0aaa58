//! The table of the statements of the standards: complete, and about tests that exist.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_statement_has_a_verdict() {
    let page = read("docs/mqtt-statements.md");
    let deviations = deviations(&read("docs/MQTT.md"));
    let tests = tests();
    for (heading, known) in STANDARDS {
        let mut missing: BTreeSet<&str> = known.lines().collect();
        for row in rows(&page, heading) {
            let [statements, gate, broker] = cells(row);
            for statement in statements.split(", ") {
                assert!(missing.remove(statement), "{heading}: `{statement}`: none, or told twice");
            }
            [gate, broker].iter().for_each(|cell| check(cell, &tests, &deviations, row));
        }
        assert!(missing.is_empty(), "{heading}: no verdict on {missing:?}");
    }
}

/// Checks that a verdict names tests and deviations that exist.
fn check(cell: &str, tests: &BTreeSet<String>, deviations: &BTreeSet<String>, row: &str) {
    assert!(!cell.is_empty(), "an empty verdict: {row}");
    for name in cell.split('`').skip(1).step_by(2) {
        assert!(tests.contains(name), "no test is called `{name}`: {row}");
    }
    let words = cell.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let numbers = words.filter_map(|word| word.strip_prefix('D'));
    for number in numbers.filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
        assert!(deviations.contains(number), "no deviation D{number}: {row}");
    }
}

fn rows<'p>(page: &'p str, heading: &str) -> impl Iterator<Item = &'p str> {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap_or(section);
    section.lines().filter(|line| line.starts_with('|')).skip(2)
}

fn cells(row: &str) -> [&str; 3] {
    let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
    cells.try_into().unwrap_or_else(|_| panic!("not three cells: {row}"))
}

/// Returns the numbers of the list of deviations.
fn deviations(page: &str) -> BTreeSet<String> {
    let (_, section) = page.split_once("\n### Deviations\n").unwrap();
    let items = section.split("\n## ").next().unwrap_or(section).lines();
    items.filter_map(|line| Some(line.split_once(". ")?.0.to_owned())).collect()
}

/// Returns the names of the tests of this crate and of the server.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in ["crates/mqtt/src", "crates/mqtt/tests", "crates/server/tests"] {
        let mut files = Vec::new();
        list(&root().join(folder), &mut files);
        for text in files.iter().map(|file| fs::read_to_string(file).unwrap()) {
            let marked = text.split("#[test]").skip(1);
            let name = |rest: &str| Some(rest.split_once("fn ")?.1.split_once('(')?.0.to_owned());
            names.extend(marked.filter_map(name));
        }
    }
    names
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => list(&path, files),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The standards, with the numbers of their statements.
const STANDARDS: [(&str, &str); 2] = [
    ("MQTT 5.0", include_str!("statements/5.0.txt")),
    ("MQTT 3.1.1", include_str!("statements/3.1.1.txt")),
];
