//! The results of a runtime: the number of right answers, and the digest of all of them.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use wardgate_crypto::blake3::{Digest, hash};

use super::Suite;
use crate::conformance::vectors::hexadecimal;

/// The answers of one runtime, counted.
#[derive(Clone, Debug, Default)]
pub struct Report {
    suites: BTreeMap<Suite, Counted>,
    /// Of all ways to decisions: the number of questions, and of wrong answers.
    ways: [usize; 2],
    failures: Vec<Json>,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    failed: usize,
    digests: Vec<u8>,
}

impl Report {
    /// Counts the answer with this digest.
    pub(super) fn count(&mut self, suite: Suite, digest: Digest, is_right: bool) {
        let counted = self.suites.entry(suite).or_default();
        counted.digests.extend(digest);
        counted.failed += usize::from(!is_right);
    }

    /// Counts answers of ways to decisions.
    pub(super) fn count_ways(&mut self, count: usize, wrong: usize) {
        let [all, failed] = self.ways;
        self.ways = [all + count, failed + wrong];
    }

    /// Adds a failure, if there are not many yet.
    pub(super) fn fail(&mut self, suite: Suite, name: &str, at: usize, answer: &str) {
        if self.failures.len() < MOST_FAILURES {
            let answer: String = answer.chars().take(MOST_SAID).collect();
            let failure = json!({"suite": suite.name(), "name": name, "at": at, "said": answer});
            self.failures.push(failure);
        }
    }

    /// Returns the number of answers to the questions of a suite.
    #[must_use]
    pub fn answers(&self, suite: Suite) -> usize {
        self.suites.get(&suite).map_or(0, |counted| counted.digests.len() / DIGEST)
    }

    /// Returns the report as every runtime writes it. The digest is that of the digests of all
    /// decisions and refusals, in their order.
    #[must_use]
    pub fn json(&self, runtime: &str) -> Json {
        let suite = |(suite, counted): (&Suite, &Counted)| {
            let answers = counted.digests.len() / DIGEST;
            let digest = hexadecimal(&hash(&counted.digests));
            let entry = json!({
                "passed": answers - counted.failed, "failed": counted.failed, "digest": digest,
            });
            (suite.name().to_owned(), entry)
        };
        let [count, wrong] = self.ways;
        let decided = self.suites.iter().filter(|(suite, _)| **suite != Suite::Crypto);
        let decided: Vec<u8> = decided.flat_map(|(_, counted)| counted.digests.clone()).collect();
        json!({
            "runtime": runtime,
            "suites": self.suites.iter().map(suite).collect::<serde_json::Map<_, _>>(),
            "ways": {"passed": count - wrong, "failed": wrong},
            "digest": hexadecimal(&hash(&decided)),
            "failures": self.failures,
        })
    }
}

const DIGEST: usize = 32;
const MOST_FAILURES: usize = 5;
/// The most characters of a wrong answer in the report.
const MOST_SAID: usize = 4000;
