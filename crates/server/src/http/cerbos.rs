//! The calls of Cerbos: CheckResources, and the two that came before it.

pub(super) mod answer;
mod batch;
mod set;

use hyper::StatusCode;
use wardgate_engine::attr::Attr;
use wardgate_engine::decision::Decision;
use wardgate_engine::wire::{self, Json};
use wardgate_native::call::Call;
use wardgate_native::{Answered, CallLimits, Policies, SystemClock, documents};

pub(super) use batch::batch;
pub(super) use set::set;

use super::policies;
use super::reply::Problem;
use crate::config::Http;
use crate::metrics::Tally;
use crate::shared::Shared;
use crate::state::State;

/// Answers CheckResources: from the text if plans can, or else from all that it says.
pub(super) fn check(body: &[u8], state: &State, shared: &Shared) -> Result<String, Problem> {
    match shortly(body, state, shared) {
        Some(answered) => {
            let Answered { resources, allowed, denied, .. } = answered;
            shared.decided(Tally { resources, allowed, denied });
            Ok(answered.json)
        }
        None => check_wholly(body, state, shared),
    }
}

/// Answers CheckResources from the text, or not at all.
pub(super) fn shortly(body: &[u8], state: &State, shared: &Shared) -> Option<Answered> {
    let limits = &shared.config().http;
    let limits = CallLimits { resources: limits.max_resources, actions: limits.max_actions };
    state.policies()?.answer_call(body, limits, SystemClock)
}

/// Answers CheckResources from all that it says.
pub(super) fn check_wholly(body: &[u8], state: &State, shared: &Shared) -> Result<String, Problem> {
    let policies = policies(state)?;
    let mut call = read(body, shared)?;
    let mut json = Json::default();
    json.open('{');
    if !call.request_id().is_empty() {
        json.field("requestId", call.request_id());
    }
    json.key("results");
    json.open('[');
    let meta = call.include_meta;
    each(&mut call, policies, shared, |request, decision| {
        answer::entry(&mut json, &request.resource, decision, meta);
    });
    json.close(']');
    json.close('}');
    Ok(json.finish())
}

/// Says of each resource why it is decided as it is: for administrators.
pub(super) fn explain(body: &[u8], state: &State, shared: &Shared) -> Result<String, Problem> {
    let policies = policies(state)?;
    let mut call = read(body, shared)?;
    let mut text = String::from("{\"results\":[");
    let mut is_first = true;
    let told: Result<(), ()> = call.each(|request| {
        if !is_first {
            text.push(',');
        }
        is_first = false;
        let explanation = policies.explain(request, SystemClock);
        text.push_str(&wire::explanation_json(&explanation));
        Ok(())
    });
    // The closure never fails.
    let _ = told;
    text.push_str("]}");
    Ok(text)
}

/// Decides about each resource, and counts.
fn each(
    call: &mut Call,
    policies: &Policies,
    shared: &Shared,
    mut act: impl FnMut(&wardgate_native::Request, &Decision),
) {
    let mut tally = Tally::default();
    let told: Result<(), ()> = call.each(|request| {
        let decision = policies.check(request, SystemClock);
        tally.add(&decision);
        act(request, &decision);
        Ok(())
    });
    // The closure never fails.
    let _ = told;
    shared.decided(tally);
}

fn read(body: &[u8], shared: &Shared) -> Result<Call, Problem> {
    let document = document(body)?;
    let call = Call::read(&document, |value| shared.tokens().read(value)).map_err(bad)?;
    must_be_few(call.entries().len(), &shared.config().http)?;
    for (_, actions) in call.entries() {
        must_be_few_actions(actions.len(), &shared.config().http)?;
    }
    Ok(call)
}

fn document(body: &[u8]) -> Result<Attr, Problem> {
    documents::call(body).map_err(|error| bad(error.to_string()))
}

pub(super) fn must_be_few(resources: usize, limits: &Http) -> Result<(), Problem> {
    let most = limits.max_resources;
    if resources > most {
        return Err(bad(format!(
            "the request asks about {resources} resources, at most {most} are answered"
        )));
    }
    Ok(())
}

fn must_be_few_actions(actions: usize, limits: &Http) -> Result<(), Problem> {
    let most = limits.max_actions;
    if actions > most {
        return Err(bad(format!(
            "the request names {actions} actions for a resource, at most {most} are answered"
        )));
    }
    Ok(())
}

pub(super) fn bad(message: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad-request", message)
}

#[cfg(test)]
mod tests;
