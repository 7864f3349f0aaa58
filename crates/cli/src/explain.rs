//! `wardgate explain`: decides requests and shows the reason: the rule that forbids, or the rules
//! that could permit and the conditions that they lack.
//!
//! Values of the request are shown, because the caller is its author; no other command shows them,
//! except `test`, whose user wrote the request too.

mod constants;
mod gather;
mod json;
mod limit;
mod need;
mod short;
mod steps;
mod values;
mod verdict;
mod words;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::ActionDecision;
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};

use crate::arguments::Explain;
use crate::clock;
use crate::failure::{Result, Status};
use crate::output::{Output, complain};
use crate::policies::{self, Source};
use crate::requests;
use constants::Constants;
use gather::Meetings;
pub(crate) use short::lines;
use verdict::Verdict;

pub(crate) fn run(explain: &Explain, out: &mut Output) -> Result<Status> {
    let Explain { policies: path, options, opening, .. } = explain;
    let now = explain.input.now.unwrap_or_else(clock::now);
    let source = Source { path, options, opening };
    let (table, sources) = policies::table_and_sources(source, now)?;
    if table.is_stripped() {
        complain(format_args!(
            "{}: compiled with `--strip`, so files and expressions are not shown",
            path.display()
        ));
    }
    let options = policies::table_options(options)?;
    let constants = sources.map(|sources| Constants::of(&sources, options));
    let form = Form { json: explain.input.json, steps: explain.steps };
    requests::each(&explain.input.requests, |mut call| {
        let now = explain.input.now.unwrap_or_else(clock::now);
        call.each(|request| one(&table, constants.as_ref(), (request, now), form, out))?;
        out.flush()
    })
}

/// The form of an explanation.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) json: bool,
    /// True if every rule that was considered is listed.
    pub(crate) steps: bool,
}

/// Explains the decisions on a request at a time.
pub(crate) fn one(
    table: &PolicyTable,
    constants: Option<&Constants>,
    (request, now): (&Request, Timestamp),
    form: Form,
    out: &mut Output,
) -> Result<()> {
    let explanation = table.explain(request, now);
    let meetings = Meetings::of(table, request, now);
    let verdict = |action| Verdict {
        limits: limit::shown(table, request, action, now),
        ..verdict(table, request, action, &meetings, constants)
    };
    let verdicts: Vec<_> = explanation.decision.actions.iter().map(verdict).collect();
    if form.json {
        return out.line(json::line(&explanation, &verdicts));
    }
    let steps = form.steps.then_some(explanation.steps.as_slice());
    words::print(request, &explanation.decision, &verdicts, steps, out)
}

/// Returns where a rule is written; a bundle without explanations has no name of the file.
fn place(file: &str, line: u32) -> String {
    if file.is_empty() { format!("line {line}") } else { format!("{file}:{line}") }
}

fn verdict(
    table: &PolicyTable,
    request: &Request,
    action: &ActionDecision,
    meetings: &Meetings,
    constants: Option<&Constants>,
) -> Verdict {
    let is_lenient = table.evaluation() == Evaluation::Lenient;
    let mut met = meetings.take(&action.action);
    if let Some(constants) = constants {
        met.iter_mut().for_each(|met| constants.add_to(met));
    }
    Verdict::new(action, &met, is_lenient).with_hint(table, request)
}
