//! `wardgate log explain`: the explanation of a decision that a log records, by the policies of then.

use std::ops::ControlFlow;

use wardgate_decision_log::record::Body;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_native::Policies;
use wardgate_native::decision_log::{known_request, moment, request};
use wardgate_server::decision_log::{Names, Unsealer};

use super::bundles::Bundles;
use super::each::each;
use super::evidence::{Absence, Revealed, question, targets};
use super::refused;
use crate::arguments::ExplainRecord;
use crate::explain::{self, Form};
use crate::failure::{Failure, Result};
use crate::output::Output;

pub(super) fn run(explain: &ExplainRecord, out: &mut Output) -> Result<()> {
    let bundles = Bundles::open(&explain.policies, &explain.opening)?;
    let mut values = Unsealer::open(&explain.folder).map_err(refused)?;
    let mut explained = None;
    each(&explain.folder, |found| {
        if found.number < explain.record {
            return Ok(ControlFlow::Continue(()));
        }
        if found.number == explain.record
            && let Body::Decision(decision) = &found.record.body
        {
            let revealed = Revealed::open(found.number, decision, &mut values)?;
            explained = Some(match asked(&revealed, found.names, &bundles) {
                Ok((policies, requests, now)) => {
                    let form = Form { json: explain.json, steps: explain.steps };
                    for request in &requests {
                        explain::one(policies.table(), None, (request, now), form, out)?;
                    }
                    Ok(())
                }
                Err(absence) => Err(absence),
            });
        }
        Ok(ControlFlow::Break(()))
    })?;
    let number = explain.record;
    match explained {
        Some(Ok(())) => Ok(()),
        Some(Err(absence)) => Err(Failure::policies(format!(
            "record {number} cannot be explained: it is one of those {absence}"
        ))),
        None => Err(Failure::policies(format!("record {number} is no decision of this log"))),
    }
}

/// Returns the policies that made a decision, its time, and what was asked: one request, or one for each action of which
/// only what the policies read is known.
fn asked<'b>(
    revealed: &Revealed,
    names: &Names,
    bundles: &'b Bundles,
) -> Result<(&'b Policies, Vec<Request>, Timestamp), Absence> {
    let (decision, evidence) = (&revealed.decision, revealed.evidence()?);
    let policies = bundles.of(decision, names)?;
    let now = moment(decision.micros).ok_or(Absence::Unreadable)?;
    if let Some(request) = request(evidence) {
        return Ok((policies, vec![request], now));
    }
    let targets = targets(decision, names)?;
    let questions: Vec<_> = targets.iter().map(|target| question(target)).collect();
    let recorded = revealed.recorded(&questions)?;
    let known = (0..questions.len()).map(|at| known_request(policies, &recorded, at));
    let known: Option<Vec<_>> = known.collect();
    Ok((policies, known.ok_or(Absence::OnlyResults)?, now))
}
