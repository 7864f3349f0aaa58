//! Compares the refusals of the native host and of the package in Node: the same bytes must get the
//! same name.

use std::path::Path;

use super::attempts::{Attempt, attempts};
use crate::node;

/// Hands many bundles to both hosts, and returns their number and the differences.
///
/// # Errors
/// If Node or the built package is missing, or the bundles cannot be made.
pub fn refusals(root: &Path) -> Result<(usize, Vec<String>), String> {
    let attempts = attempts(DAMAGED)?;
    let mut answers = Vec::new();
    node::talk(&root.join("tests/node/refuse.mjs"), attempts.iter().map(Attempt::json), |line| {
        answers.push(line.to_owned());
        Ok(())
    })?;
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

/// The number of damaged bundles of each kind.
const DAMAGED: u32 = 300;
