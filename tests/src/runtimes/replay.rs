//! Lets a host in Rust answer every question of the file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value as Json;
use wardgate_crypto::blake3::hash;
use wardgate_decision_log::frame::{Frame, START};
use wardgate_decision_log::record::{self, Body, Identity, Outcome, Record};
use wardgate_engine::cel::Timestamp;
use wardgate_native::Target;
use wardgate_native::decision_log::{Evidence, RecordedDecision};

use super::Report;
use super::read::{Crypto, Line, Opening, Questions, line};
use super::replays::answer_text;

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

    /// Decides a recorded decision again; `None` if its evidence gives no answer.
    ///
    /// # Errors
    /// If the host gives no answer; the text is the reason.
    fn replay(&self, pdp: &Self::Pdp, recorded: &Recorded<'_>) -> Result<Option<bool>, String>;

    /// Decides a recorded decision by other policies than those that made it; `None` if its evidence gives no answer, or the
    /// host has no such function.
    fn replay_with(
        &self,
        _made_by: &Self::Pdp,
        _pdp: &Self::Pdp,
        _recorded: &Recorded<'_>,
    ) -> Option<bool> {
        None
    }

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

/// A recorded decision on one action.
pub type Recorded<'a> = RecordedDecision<'a>;

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
        Questions::Replays { bundle, segment, with, changed } => {
            let replayed = replay_segment(host, [bundle, with], segment, |at, again| {
                let right = changed.get(at).copied().flatten();
                // What the evidence does not tell is no answer, and no wrong one.
                let wrong = again.is_some() && again != right;
                report.count_ways(usize::from(again.is_some()), usize::from(wrong));
                if wrong {
                    report.fail(line.suite, &line.name, at, &format!("with: {again:?}"));
                }
            });
            hold(line, replayed.unwrap_or_else(|error| vec![error.into_bytes()]), report);
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

/// Decides again what a segment records. Calls `changed` with the number of each decision and the answer of the second bundle.
fn replay_segment<H: Host>(
    host: &H,
    bundles: [&[u8]; 2],
    segment: &[u8],
    mut changed: impl FnMut(usize, Option<bool>),
) -> Result<Vec<Vec<u8>>, String> {
    let [made_by, other] = bundles.map(|bundle| {
        let opening = Opening { bundle: bundle.to_vec(), ..Opening::unsigned() };
        host.open(&opening)
    });
    let (made_by, other) = (made_by?, other?);
    let mut answers = Vec::new();
    each_recorded(segment, |recorded| {
        changed(answers.len(), host.replay_with(&made_by, &other, recorded));
        answers.push(answer_text(host.replay(&made_by, recorded)?).into());
        Ok(())
    })?;
    Ok(answers)
}

/// Calls `act` with each recorded decision of a segment.
///
/// # Errors
/// If the bytes are no segment, a target is not defined, or `act` fails.
pub fn each_recorded(
    segment: &[u8],
    mut act: impl FnMut(&Recorded<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let mut targets = HashMap::new();
    for record in records(segment)? {
        let decision = match record.body {
            Body::Target(target) => {
                targets.insert(target.number, target);
                continue;
            }
            Body::Decision(decision) => decision,
            _ => continue,
        };
        let target = |outcome: &Outcome| targets.get(&outcome.target).map(question);
        let named: Option<Vec<Target<'_>>> = decision.outcomes.iter().map(target).collect();
        act(&RecordedDecision {
            targets: &named.ok_or("a target is not defined")?,
            evidence: match &decision.evidence {
                record::Evidence::Read(bytes) => Evidence::Read(bytes),
                record::Evidence::Request(bytes) => Evidence::Request(bytes),
                _ => Evidence::None,
            },
            micros: decision.micros,
            principal: id(&decision.principal),
            resource: id(&decision.resource),
        })?;
    }
    Ok(())
}

fn records(segment: &[u8]) -> Result<Vec<Record>, String> {
    let mut frames = segment.strip_prefix(START).ok_or("the bytes are no segment")?;
    let mut all = Vec::new();
    while !frames.is_empty() {
        let frame = Frame::read(frames).map_err(|error| format!("{error:?}"))?;
        for bytes in &frame.records {
            all.push(Record::read(bytes).ok_or("the bytes are no record")?);
        }
        frames = frames.get(frame.bytes()..).unwrap_or_default();
    }
    Ok(all)
}

fn question(target: &record::Target) -> Target<'_> {
    Target {
        kind: target.kind.as_str(),
        action: target.action.as_str(),
        policy_version: target.version.as_str(),
        scope: target.scope.as_str(),
    }
}

fn id(identity: &Identity) -> Option<&str> {
    if let Identity::Clear(id) = identity { Some(id.as_str()) } else { None }
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
