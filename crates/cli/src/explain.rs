//! `wardgate explain`: decides requests and answers what people ask first: is it forbidden, and by
//! which rule, or is it just not permitted, and what would have to hold.
//!
//! Values of the request are shown, because the author of the request asked; no other command does.

mod gather;
mod json;
mod need;
mod steps;
mod values;
mod verdict;
mod words;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};

use crate::arguments::Explain;
use crate::check::clock;
use crate::failure::{Failure, Status};
use crate::output::Output;
use crate::policies::{self, Source};
use crate::requests;
use gather::Meetings;
use verdict::Verdict;

pub(crate) fn run(explain: &Explain, out: &mut Output) -> Result<Status, Failure> {
    let Explain { policies: path, options, opening, .. } = explain;
    let now = explain.asking.now.unwrap_or_else(clock);
    let table = policies::table(Source { path, options, opening }, now)?;
    requests::each(&explain.asking.request, |mut call| {
        let now = explain.asking.now.unwrap_or_else(clock);
        call.each(|request| {
            let explanation = table.explain(request, now);
            let verdicts = verdicts(&table, request, now, &explanation.decision.actions);
            if explain.asking.json {
                return out.line(json::line(&explanation, &verdicts));
            }
            let steps = explain.steps.then_some(explanation.steps.as_slice());
            words::print(request, &explanation.decision, &verdicts, steps, out)
        })?;
        out.flush()
    })
}

fn verdicts(
    table: &PolicyTable,
    request: &Request,
    now: Timestamp,
    actions: &[wardgate_engine::decision::ActionDecision],
) -> Vec<Verdict> {
    let meetings = Meetings::of(table, request, now);
    let is_lenient = table.evaluation() == Evaluation::Lenient;
    let verdict = |action: &wardgate_engine::decision::ActionDecision| {
        let met = meetings.take(&action.action);
        Verdict::new(action, met, is_lenient).with_hint(table, request)
    };
    actions.iter().map(verdict).collect()
}
