//! The decision log of this project as lines that a replay reads: one for each record, empty for what is no decision.
//!
//! A record has the whole request, or what the fast path of then read of it. From that a request is made only where it answers: if the new
//! policies read something else, nothing is claimed.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value as Json, json};
use wardgate_decision_log::record::{Body, Decision, Effect, Outcome, Record, Target};
use wardgate_engine::request::Request;
use wardgate_native::Policies;
use wardgate_native::decision_log::{known_request, replay_with};
use wardgate_server::decision_log::{
    LogReader, Names, StoredFrame, Unsealer, record_time, recorded_request, request_json,
};

use crate::failure::Failure;
use crate::log::bundles::Bundles;
use crate::log::evidence::{Absence, Revealed, question, targets};

/// The decisions that have no line, by what they lack.
pub(super) type Absent = Arc<Mutex<BTreeMap<Absence, u64>>>;

/// A decision log that is read as lines.
pub(super) struct RecordedLines<'p> {
    reader: LogReader,
    next: Option<StoredFrame>,
    names: Names,
    values: Unsealer,
    bundles: &'p Bundles,
    new: &'p Policies,
    absent: Absent,
    /// The lines of a frame, and how many of their bytes were read.
    lines: Vec<u8>,
    at: usize,
}

impl<'p> RecordedLines<'p> {
    /// Opens the log in a folder, and returns it with the number of its first record.
    pub(super) fn open(
        folder: &Path,
        (bundles, new): (&'p Bundles, &'p Policies),
        absent: &Absent,
    ) -> io::Result<(u64, Self)> {
        let mut reader = LogReader::open(folder).map_err(io::Error::other)?;
        reader.verifier().map_err(io::Error::other)?;
        let values = Unsealer::open(folder).map_err(io::Error::other)?;
        let next = reader.next_frame().map_err(io::Error::other)?;
        let first = match &next {
            Some(stored) => stored.frame().map_err(io::Error::other)?.head.first,
            None => 0,
        };
        let (names, absent, lines) = (Names::default(), Arc::clone(absent), Vec::new());
        Ok((first, Self { reader, next, names, values, bundles, new, absent, lines, at: 0 }))
    }

    /// Writes the lines of the next frame, and returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let Some(stored) = self.next.take() else { return Ok(false) };
        self.lines.clear();
        self.at = 0;
        let frame = stored.frame().map_err(io::Error::other)?;
        for (number, bytes) in (frame.head.first..).zip(&frame.records) {
            let broken = || io::Error::other(format!("record {number} is none"));
            let record = Record::read(bytes).ok_or_else(broken)?;
            self.names.learn(&record.body);
            if let Body::Decision(decision) = &record.body {
                self.decision(number, decision)?;
            }
            self.lines.push(b'\n');
        }
        self.next = self.reader.next_frame().map_err(io::Error::other)?;
        Ok(true)
    }

    fn decision(&mut self, number: u64, decision: &Decision) -> io::Result<()> {
        let revealed = Revealed::open(number, decision, &mut self.values).map_err(words)?;
        let count = u64::try_from(decision.outcomes.len()).unwrap_or(u64::MAX);
        match self.asked(&revealed) {
            Ok((asked, left)) => {
                if !asked.is_empty() {
                    let entry = entry(decision.micros, asked);
                    self.lines.extend_from_slice(entry.to_string().as_bytes());
                }
                self.add_absent(Absence::Unreadable, left);
            }
            Err(absence) => self.add_absent(absence, count),
        }
        Ok(())
    }

    /// Returns the requests of a decision, each with what was decided, and the number of outcomes that none of them answers.
    fn asked(&self, revealed: &Revealed) -> Result<(Vec<Asked>, u64), Absence> {
        let decision = &revealed.decision;
        let targets = targets(decision, &self.names)?;
        let outcomes = targets.iter().zip(&decision.outcomes);
        if let Some(request) = recorded_request(decision) {
            return Ok((vec![(request, outcomes.map(effect).collect())], 0));
        }
        let questions: Vec<_> = targets.iter().map(|target| question(target)).collect();
        let recorded = revealed.recorded(&questions)?;
        let policies = self.bundles.of(decision, &self.names)?;
        let answers = replay_with(policies, self.new, &recorded);
        let known = |at: usize, answer: Option<bool>| {
            answer.and_then(|_| known_request(policies, &recorded, at))
        };
        let mut left = 0_u64;
        let mut asked = Vec::new();
        for ((at, answer), outcome) in answers.into_iter().enumerate().zip(outcomes) {
            match known(at, answer) {
                Some(request) => asked.push((request, vec![effect(outcome)])),
                None => left += 1,
            }
        }
        Ok((asked, left))
    }

    fn add_absent(&self, absence: Absence, count: u64) {
        if count > 0 {
            let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
            *absent.entry(absence).or_default() += count;
        }
    }
}

impl Read for RecordedLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.lines.len() {
            if !self.fill()? {
                return Ok(0);
            }
        }
        let count = self.lines.get(self.at..).unwrap_or(&[]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

fn words(failure: Failure) -> io::Error {
    match failure {
        Failure::Message(_, words) => io::Error::other(words),
        // Values that cannot be opened are told in one sentence.
        _ => io::ErrorKind::Other.into(),
    }
}

/// A request, and the effect of each of its actions.
type Asked = (Request, Vec<(String, bool)>);

/// Returns an action and what the policies said; a rate limit refuses only what they allow.
fn effect((target, outcome): (&&Target, &Outcome)) -> (String, bool) {
    (target.action.as_str().to_owned(), outcome.effect != Effect::Denied)
}

/// Returns an entry as Cerbos writes it, as far as a replay reads it.
fn entry(micros: i64, asked: Vec<Asked>) -> Json {
    let name = |is_allowed| if is_allowed { "EFFECT_ALLOW" } else { "EFFECT_DENY" };
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (request, effects) in asked {
        inputs.push(request_json(&request));
        let effects = effects.into_iter();
        let actions: Map<String, Json> = effects
            .map(|(action, is_allowed)| (action, json!({ "effect": name(is_allowed) })))
            .collect();
        outputs.push(json!({ "actions": actions }));
    }
    let checks = json!({ "inputs": inputs, "outputs": outputs });
    json!({ "timestamp": record_time(micros), "checkResources": checks })
}
