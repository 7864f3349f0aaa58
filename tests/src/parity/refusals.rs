//! Compares the refusals of the native host and of the package in Node: the same bytes must get the
//! same name.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use super::attempts::{Attempt, attempts};

/// Hands many bundles to both hosts, and returns their number and the differences.
///
/// # Errors
/// If Node or the built package is missing, or the bundles cannot be made.
pub fn refusals(root: &Path) -> Result<(usize, Vec<String>), String> {
    let attempts = attempts(DAMAGED)?;
    let answers = node_answers(root, &attempts)?;
    if answers.len() != attempts.len() {
        return Err(format!("{} answers to {} questions", answers.len(), attempts.len()));
    }
    let differs = |(attempt, answer): (&Attempt, String)| {
        let expected = outcome(attempt);
        let name = &attempt.name;
        (answer != expected).then(|| format!("{name}: natively {expected}, in Node {answer}"))
    };
    Ok((attempts.len(), attempts.iter().zip(answers).filter_map(differs).collect()))
}

fn outcome(attempt: &Attempt) -> String {
    attempt.open().map_or_else(|error| error.code().to_owned(), |_| "opened".to_owned())
}

fn node_answers(root: &Path, attempts: &[Attempt]) -> Result<Vec<String>, String> {
    let mut node = Command::new("node")
        .arg(root.join("tests/node/refuse.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("node cannot be started: {error}"))?;
    let (Some(mut input), Some(output)) = (node.stdin.take(), node.stdout.take()) else {
        return Err("node has no pipes".to_owned());
    };
    let answers = thread::scope(|scope| {
        let reader = scope.spawn(move || BufReader::new(output).lines().collect());
        for attempt in attempts {
            // A write fails when Node is gone; then its answers are missing.
            let _ = writeln!(input, "{}", attempt.json());
        }
        drop(input);
        reader.join()
    });
    let status = node.wait().map_err(|error| error.to_string())?;
    let answers: std::io::Result<Vec<String>> =
        answers.map_err(|_| "the reader of answers panicked".to_owned())?;
    if !status.success() {
        return Err(format!("node ended with {status}"));
    }
    answers.map_err(|error| error.to_string())
}

/// The number of damaged bundles of each kind.
const DAMAGED: u32 = 300;
