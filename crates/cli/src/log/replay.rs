//! `wardgate log replay`: decides what a log records again, by the policies of then or by others.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Value, json};
use wardgate_decision_log::record::{Body, Decision, Effect, Outcome, Target};
use wardgate_engine::request::Request;
use wardgate_native::Policies;
use wardgate_native::decision_log::{moment, replay, replay_with, request};
use wardgate_server::decision_log::{Names, Unsealer, record_time, target_words};

use super::bundles::Bundles;
use super::each::each;
use super::evidence::{Absence, Revealed, question, targets};
use super::given::GivenRequests;
use super::refused;
use crate::answer::{line, present, reason};
use crate::arguments::{Opening, Replay};
use crate::clock;
use crate::failure::{Result, Status};
use crate::output::{Output, shown};
use crate::policies::{self, Source};

/// The policies that decide again.
struct Deciders {
    bundles: Bundles,
    /// Policies that decide instead of those that were in force.
    candidate: Option<Policies>,
}

/// An answer that was given again.
struct Again<'n> {
    target: &'n Target,
    /// None if the evidence does not give it.
    is_allowed: Option<bool>,
    /// The reason of an answer that differs from the recorded one, if the record has the request.
    reason: Option<String>,
}

/// An answer that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    is_allowed: bool,
    target: String,
    /// The reason of the answer, if the record has the request.
    reason: Option<String>,
}

/// Counts answers.
#[derive(Default)]
struct Tally {
    same: u64,
    different: BTreeMap<Difference, u64>,
    absent: BTreeMap<Absence, u64>,
}

pub(super) fn run(arguments: &Replay, out: &mut Output) -> Result<Status> {
    let deciders = Deciders {
        bundles: Bundles::open(&arguments.policies, &arguments.opening)?,
        candidate: arguments.with.as_deref().map(|path| candidate(path, arguments)).transpose()?,
    };
    let given = GivenRequests::read(arguments.requests.as_deref())?;
    let mut values = Unsealer::open(&arguments.folder).map_err(refused)?;
    let mut tally = Tally::default();
    each(&arguments.folder, |found| {
        let Body::Decision(decision) = &found.record.body else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut revealed = Revealed::open(found.number, decision, &mut values)?;
        revealed.confirm(&given);
        let again = deciders.decide(&revealed, found.names);
        for difference in tally.add(decision, again) {
            match arguments.json {
                true => out.line(line(&difference.json(found.number, decision)))?,
                false => out.line(difference.words(found.number, decision))?,
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    match arguments.json {
        true => out.line(line(&tally.json()))?,
        false => tally.print(out)?,
    }
    let has_changed = tally.absent.contains_key(&Absence::Changed);
    let agrees = tally.different.is_empty() && !has_changed;
    Ok(if agrees { Status::Done } else { Status::Disagreement })
}

/// Opens the policies to compare with.
fn candidate(path: &Path, arguments: &Replay) -> Result<Policies> {
    // Keys are for bundles, and a directory may be compared with signed ones.
    let none = Opening::default();
    let opening = if path.is_dir() { &none } else { &arguments.opening };
    let source = Source { path, options: &arguments.options, opening };
    policies::table_and_sources(source, clock::now()).map(|(table, _)| Policies::of(table))
}

impl Deciders {
    /// Decides each outcome again. An answer is `None` where the evidence does not give it.
    fn decide<'n>(&self, revealed: &Revealed, names: &'n Names) -> Result<Vec<Again<'n>>, Absence> {
        let targets = targets(&revealed.decision, names)?;
        let questions: Vec<_> = targets.iter().map(|target| question(target)).collect();
        let asked = revealed.recorded(&questions)?;
        let whole = request(asked.evidence);
        let recorded = self.bundles.of(&revealed.decision, names);
        let again = |policies| replay(policies, &questions, asked.evidence, asked.micros);
        let (policies, answers) = match (&self.candidate, recorded) {
            (None, recorded) => recorded.map(|policies| (policies, again(policies)))?,
            // A request says all, so the policies of then are not needed.
            (Some(candidate), _) if whole.is_some() => (candidate, again(candidate)),
            (Some(candidate), recorded) => (candidate, replay_with(recorded?, candidate, &asked)),
        };
        let because = |target: &Target| {
            let actions = vec![target.action.as_str().to_owned()];
            let request = Request { actions, ..whole.clone()? };
            let decided = policies.check(&request, moment(asked.micros)?);
            decided.actions.first().map(|action| reason(&action.reason))
        };
        let outcomes = revealed.decision.outcomes.iter().map(was_allowed);
        let again = |((target, is_allowed), was_allowed): ((&'n Target, Option<bool>), bool)| {
            let differs = is_allowed.is_some_and(|is_allowed| is_allowed != was_allowed);
            let reason = if differs { because(target) } else { None };
            Again { target, is_allowed, reason }
        };
        Ok(targets.into_iter().zip(answers).zip(outcomes).map(again).collect())
    }
}

/// Returns true if the policies allowed; a rate limit refuses only what they allow.
fn was_allowed(outcome: &Outcome) -> bool {
    outcome.effect != Effect::Denied
}

impl Tally {
    /// Counts the answers of a decision, and returns those that differ.
    fn add(
        &mut self,
        decision: &Decision,
        again: Result<Vec<Again<'_>>, Absence>,
    ) -> Vec<Difference> {
        let again = match again {
            Ok(again) => again,
            Err(absence) => {
                let count = u64::try_from(decision.outcomes.len()).unwrap_or(u64::MAX);
                *self.absent.entry(absence).or_default() += count;
                return Vec::new();
            }
        };
        let mut differences = Vec::new();
        for (outcome, again) in decision.outcomes.iter().zip(again) {
            let was_allowed = was_allowed(outcome);
            match again.is_allowed {
                None => *self.absent.entry(Absence::Unreadable).or_default() += 1,
                Some(is_allowed) if is_allowed == was_allowed => self.same += 1,
                Some(is_allowed) => {
                    let Again { target, reason, .. } = again;
                    let target = target_words(target);
                    let difference = Difference { is_allowed, target, reason };
                    *self.different.entry(difference.clone()).or_default() += 1;
                    differences.push(difference);
                }
            }
        }
        differences
    }

    fn print(&self, out: &mut Output) -> Result<()> {
        let count = |counts: &mut dyn Iterator<Item = &u64>| counts.sum::<u64>();
        let different = count(&mut self.different.values());
        let absent = count(&mut self.absent.values());
        let (same, all) = (self.same, self.same + different + absent);
        out.line(format_args!(
            "{all} answers: {same} the same, {different} different, {absent} not decided again"
        ))?;
        for (difference, count) in &self.different {
            out.line(format_args!("  {count} {}", shown(&difference.summary())))?;
        }
        for (absence, count) in &self.absent {
            out.line(format_args!("  {count} {absence}"))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let different = |(difference, count): (&Difference, &u64)| {
            present(json!({
                "now": difference.now(), "target": difference.target, "reason": difference.reason,
                "count": count,
            }))
        };
        let absent = |(absence, count): (&Absence, &u64)| json!({ "why": absence.to_string(), "count": count });
        json!({
            "same": self.same,
            "different": self.different.iter().map(different).collect::<Vec<_>>(),
            "absent": self.absent.iter().map(absent).collect::<Vec<_>>(),
        })
    }
}

impl Difference {
    const fn now(&self) -> &'static str {
        if self.is_allowed { "allowed" } else { "denied" }
    }

    fn summary(&self) -> String {
        let because = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("now {}: {}{because}", self.now(), self.target)
    }

    fn words(&self, number: u64, decision: &Decision) -> String {
        let told = format!("{number}  {}  {}", record_time(decision.micros), self.summary());
        shown(&told).into_owned()
    }

    fn json(&self, number: u64, decision: &Decision) -> Value {
        present(json!({
            "record": number, "time": record_time(decision.micros), "target": self.target, "now": self.now(),
            "reason": self.reason,
        }))
    }
}
