//! Every message of the command, and of the bundles that it reads, is in a transcript.
//!
//! `crates/cli/tests/command` plays the transcripts and compares them, and the cases of
//! `tests/suites` and `tests/explain`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use wardgate_tests::{literals, yaml};

#[test]
fn every_message_of_the_command_is_in_a_transcript() {
    let mut messages = BTreeSet::new();
    for crate_ in ["cli", "bundle"] {
        let sources = root().join("../crates").join(crate_).join("src");
        messages.extend(literals::messages(&sources, &OF_OTHER_TESTS).unwrap());
    }
    let words = fs::read_to_string(root().join(WORDS)).unwrap();
    let printed_texts: Vec<String> =
        printed_texts().into_iter().chain(literals::literals(&words)).collect();
    let is_printed =
        |template: &&String| printed_texts.iter().any(|text| literals::comes_to(template, text));
    let uncovered: BTreeSet<&String> = messages.iter().filter(|text| !is_printed(text)).collect();
    let known = fs::read_to_string(root().join("commands/uncovered.yaml")).unwrap();
    let known: BTreeMap<String, String> =
        serde_json::from_value(yaml::parse(&known).unwrap()).unwrap();
    let missing: Vec<_> = uncovered.iter().filter(|text| !known.contains_key(**text)).collect();
    assert!(missing.is_empty(), "no transcript of tests/commands has\n{missing:#?}");
    let stale: Vec<_> = known.keys().filter(|text| !uncovered.contains(text)).collect();
    assert!(
        stale.is_empty(),
        "uncovered.yaml lists texts that a transcript has, or that are gone\n{stale:#?}"
    );
}

/// Returns the printed texts: each line, and the output of each run as a whole.
fn printed_texts() -> Vec<String> {
    let mut printed_texts = Vec::new();
    for folder in ["commands", "suites", "explain"] {
        for path in files(&root().join(folder)) {
            let text = fs::read_to_string(path).unwrap();
            let mut printed = String::new();
            for line in text.lines() {
                let line = line.strip_prefix("> ").or(line.strip_prefix("! ")).unwrap_or(line);
                let is_next = line.starts_with("exit ") || line.starts_with("$ ");
                match is_next {
                    true => printed_texts.push(std::mem::take(&mut printed)),
                    false => printed.push_str(&format!("{}\n", line.trim_start_matches('>'))),
                }
                printed_texts.push(line.to_owned());
            }
            printed_texts.push(printed);
        }
    }
    printed_texts
}

/// Returns the texts below a folder, but not the policies.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "txt") {
                found.push(path);
            }
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The server, which has tests of its own; and the output of successful measurements, whose figures
/// are others in each run: `crates/cli/tests/command/bench.rs` looks at its form.
const OF_OTHER_TESTS: [&str; 4] =
    ["serve", "bench/report", "bench/protocols/chart", "bench/protocols/workload"];

/// The words of refusals that no transcript can lead to.
const WORDS: &str = "../crates/bundle/tests/door/words.rs";
