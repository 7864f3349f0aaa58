//! Every message of the command, and of the bundles that it reads, is in a transcript.
//!
//! `crates/cli/tests/command` plays the transcripts and compares them, and the cases of
//! `tests/suites` and `tests/explain`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use wardgate_tests::conformance::files_below;
use wardgate_tests::literals;

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
    let known = root().join("commands/uncovered.yaml");
    literals::check_shown(&messages, &printed_texts, &known).unwrap();
}

/// Returns the printed texts: each line, and the output of each run as a whole.
fn printed_texts() -> Vec<String> {
    let mut printed_texts = Vec::new();
    for folder in ["commands", "suites", "explain"] {
        let files = files_below(&root().join(folder)).unwrap().into_iter();
        for path in files.filter(|path| path.extension().is_some_and(|ending| ending == "txt")) {
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The server and the examples of the help, which have tests of their own; and the output of successful measurements, whose figures
/// are others in each run: `crates/cli/tests/command/bench.rs` looks at its form.
const OF_OTHER_TESTS: [&str; 5] = [
    "serve",
    "bench/report",
    "bench/protocols/chart",
    "bench/protocols/workload",
    "arguments/examples",
];

/// The words of refusals that no transcript can lead to.
const WORDS: &str = "../crates/bundle/tests/door/words.rs";
