//! `wardgate check`: decides requests.

use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::Request;

use crate::answer::{self, Response, ResultEntry};
use crate::arguments::Check;
use crate::clock;
use crate::failure::{Failure, Status};
use crate::output::{Output, Tone, shown};
use crate::policies::{self, Source};
use crate::requests;

pub(crate) fn run(check: &Check, out: &mut Output) -> Result<Status, Failure> {
    let Check { policies: path, options, opening, .. } = check;
    let now = check.input.now.unwrap_or_else(clock::now);
    let table = policies::table(Source { path, options, opening }, now)?;
    requests::each(&check.input.request, |mut call| {
        let now = check.input.now.unwrap_or_else(clock::now);
        let meta = check.meta || call.include_meta;
        let mut response =
            Response { request_id: call.request_id().to_owned(), results: Vec::new() };
        call.each(|request| {
            let decision = table.check(request, now);
            if check.input.json {
                response.results.push(ResultEntry::new(request, &decision, meta));
                return Ok(());
            }
            print(request, &decision, meta, out)
        })?;
        if check.input.json {
            out.line(answer::line(&response))?;
        }
        out.flush()
    })
}

/// Returns the principal and the resource of a request, as a title.
pub(crate) fn title(request: &Request, out: &Output) -> String {
    let id = match request.request_id.as_str() {
        "" => String::new(),
        id => format!("[{id}] "),
    };
    let (kind, resource) = (&request.resource.kind, &request.resource.id);
    let named = format!("{id}{kind} {resource}");
    let roles = request.principal.roles.join(", ");
    let asked_by = format!(", asked by {} as {roles}", request.principal.id);
    format!("{}{}", out.paint(Tone::Title, &shown(&named)), shown(&asked_by))
}

/// Returns the word for an effect.
pub(crate) fn effect(effect: Effect, out: &Output) -> String {
    match effect {
        Effect::Allow => out.paint(Tone::Allow, "allow").into_owned(),
        Effect::Deny => out.paint(Tone::Deny, "deny").into_owned() + " ",
    }
}

fn print(
    request: &Request,
    decision: &Decision,
    meta: bool,
    out: &mut Output,
) -> Result<(), Failure> {
    out.line(title(request, out))?;
    let widest = decision.actions.iter().map(|action| action.action.chars().count()).max();
    for action in &decision.actions {
        let name = format!("{:width$}", shown(&action.action), width = widest.unwrap_or(0));
        let reason = answer::reason(&action.reason);
        out.line(format_args!("  {}  {name}  {}", effect(action.effect, out), shown(&reason)))?;
        if meta {
            let scope = if action.scope.is_empty() { "the root" } else { &action.scope };
            let matched = format!("policy {}, scope {scope}", action.policy);
            out.line(format_args!("         {}", out.paint(Tone::Aside, &shown(&matched))))?;
        }
    }
    if meta && !decision.effective_derived_roles.is_empty() {
        let roles = decision.effective_derived_roles.join(", ");
        out.line(format_args!("  derived roles: {}", shown(&roles)))?;
    }
    for line in answer::extras(decision) {
        out.line(format_args!("  {}", shown(&line)))?;
    }
    Ok(())
}
