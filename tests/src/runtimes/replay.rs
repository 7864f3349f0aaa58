//! Lets a host in Rust answer every question of the file.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value as Json;
use wardgate_crypto::blake3::hash;
use wardgate_engine::cel::Timestamp;

use super::Report;
use super::read::{Crypto, Line, Opening, Questions, line};

/// A host of the engine.
pub trait Host {
    /// The policies of one bundle, ready to decide.
    type Pdp;

    /// Opens a bundle.
    ///
    /// # Errors
    /// If the bundle is refused; the text is the code of the refusal.
    fn open(&self, opening: &Opening) -> Result<Self::Pdp, String>;

    /// Returns the canonical bytes of a decision.
    ///
    /// # Errors
    /// If the request is refused; the text is the reason.
    fn decide(&self, pdp: &Self::Pdp, request: &Json, now: Timestamp) -> Result<Vec<u8>, String>;

    /// Hands to `take` the answer of each way to the decision on one action, by the name of the
    /// way.
    fn ways(
        &self,
        pdp: &Self::Pdp,
        one: &ActionRequest<'_>,
        take: &mut dyn FnMut(&str, Result<bool, String>),
    );

    /// Answers about messages; returns `None` if the host offers no such functions.
    fn crypto(&self, questions: &Crypto) -> Option<Vec<Vec<u8>>>;

    /// Answers queries to the rules of a bundle, as [`crate::rules::answer`] does.
    ///
    /// # Errors
    /// If the rules cannot be read; the text is the reason.
    fn rules(&self, bundle: &[u8], queries: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String>;
}

/// A request, and one of its actions.
pub struct ActionRequest<'a> {
    /// The request with its list of actions.
    pub request: &'a Json,
    /// The action.
    pub action: &'a str,
    /// The time of the decision.
    pub now: Timestamp,
}

/// Lets `host` answer every question in the file.
///
/// # Errors
/// If the file cannot be read, or has another format.
pub fn replay(questions: &Path, host: &impl Host) -> Result<Report, String> {
    let cannot = |error: std::io::Error| format!("{}: {error}", questions.display());
    let mut report = Report::default();
    for text in BufReader::new(File::open(questions).map_err(cannot)?).lines() {
        let text = text.map_err(cannot)?;
        let line = line(&text).ok_or_else(|| format!("no question: {}", shortened(&text)))?;
        replay_line(host, &line, &mut report);
    }
    Ok(report)
}

fn replay_line<H: Host>(host: &H, line: &Line, report: &mut Report) {
    match &line.questions {
        Questions::Crypto(questions) => {
            if let Some(answers) = host.crypto(questions) {
                hold(line, answers, report);
            }
        }
        Questions::Rules { bundle, queries } => {
            let answers = host.rules(bundle, queries);
            hold(line, answers.unwrap_or_else(|error| vec![error.into_bytes()]), report);
        }
        Questions::Decisions { opening, requests, allowed } => match host.open(opening) {
            Err(code) => hold(line, vec![code.into_bytes()], report),
            Ok(pdp) => {
                let decide = |request| {
                    let answer = host.decide(&pdp, request, opening.now);
                    answer.unwrap_or_else(|error| error.into_bytes())
                };
                hold(line, requests.iter().map(decide).collect(), report);
                for (at, (request, allowed)) in requests.iter().zip(allowed).enumerate() {
                    let one = |action| ActionRequest { request, action, now: opening.now };
                    for (action, allowed) in actions(request).zip(allowed) {
                        let mut take = |way: &str, answer: Result<bool, String>| {
                            let is_right = answer == Ok(*allowed);
                            report.count_ways(1, usize::from(!is_right));
                            if !is_right {
                                let answer =
                                    format!("{way} of `{action}`: {answer:?}, not {allowed}");
                                report.fail(line.suite, &line.name, at, &answer);
                            }
                        };
                        host.ways(&pdp, &one(action), &mut take);
                    }
                }
            }
        },
    }
}

/// Compares the answers to one line with the right ones. A missing answer is wrong.
fn hold(line: &Line, mut answers: Vec<Vec<u8>>, report: &mut Report) {
    answers.resize(line.digests.len().max(answers.len()), Vec::new());
    for (at, answer) in answers.iter().enumerate() {
        let digest = hash(answer);
        let is_right = line.digests.get(at) == Some(&digest);
        report.count(line.suite, digest, is_right);
        if !is_right {
            report.fail(line.suite, &line.name, at, &String::from_utf8_lossy(answer));
        }
    }
}

fn actions(request: &Json) -> impl Iterator<Item = &str> {
    let actions = request.get("actions").and_then(Json::as_array).into_iter().flatten();
    actions.filter_map(Json::as_str)
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
