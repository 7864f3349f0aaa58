//! The calls of Cerbos: CheckResources, and the two that came before it.

mod batch;
mod limited;
mod set;

use hyper::StatusCode;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::decision::Decision;
use wardgate_engine::wire::{self, Json};
use wardgate_native::protocol::cerbos::Call;
use wardgate_native::protocol::cerbos::answer::{self, ResultEntry};
use wardgate_native::protocol::documents;
use wardgate_native::{Answered, CallLimits, Request, Resource, SystemClock};

pub(super) use batch::batch;
pub(super) use set::set;

use super::charging::Answer;
use super::context::Context;
use super::reply::{Problem, Result};
use super::steps::Steps;
use crate::config::Http;
use crate::decision_log::noted;
use crate::limits::{MAX_ANSWER_BYTES, MAX_EXPLAINED_BYTES};
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;

/// Answers CheckResources: on the fast path if it applies, or else on the general path.
pub(super) fn check(body: &[u8], context: Context<'_>) -> Result<Answer> {
    if context.shared.limits().is_some() && context.policies()?.table().has_limits() {
        return limited::check(body, context);
    }
    match try_fast(body, context) {
        Some(answered) => {
            let answered = answered?;
            context.shared.decided(tally(&answered));
            Ok(Answer::from(answered.json))
        }
        None if context.policies()?.table().has_limits() => limited::check(body, context),
        None => check_full(body, context).map(Answer::from),
    }
}

fn tally(answered: &Answered) -> Tally {
    let Answered { resources, allowed, denied, .. } = *answered;
    Tally { resources, allowed, denied }
}

/// Answers CheckResources from the text, or not at all.
pub(super) fn try_fast(body: &[u8], context: Context<'_>) -> Option<Result<Answered>> {
    let limits = call_limits(context);
    match context.shared.recorder() {
        None => context.state.policies()?.answer_call(body, limits, SystemClock).map(Ok),
        Some(recorder) => context.recorded(recorder, body, |policies, notes| {
            policies.answer_call_noted(body, limits, notes)
        }),
    }
}

fn call_limits(context: Context<'_>) -> CallLimits {
    let limits = &context.shared.config().http;
    CallLimits {
        resources: limits.max_resources,
        actions: limits.max_actions,
        steps: Steps::of(context.shared).left(),
    }
}

/// Answers CheckResources on the general path, by policies without rate limits.
pub(super) fn check_full(body: &[u8], context: Context<'_>) -> Result<String> {
    context.policies()?;
    let mut call = read(body, context.shared)?;
    let (mut text, with_meta) = (answer::begin_response(call.request_id()), call.include_meta);
    each(&mut call, context, |request, decision| {
        let mut json = Json::default();
        let outputs = &answer::outputs(decision, MAX_ANSWER_BYTES);
        ResultEntry { resource: &request.resource, decision, outputs, with_meta }.write(&mut json);
        joined(&mut text, &json.finish(), MAX_ANSWER_BYTES)
    })?;
    text.push_str("]}");
    Ok(text)
}

/// Says of each resource why it is decided as it is: for administrators.
pub(super) fn explain(body: &[u8], context: Context<'_>) -> Result<String> {
    let policies = context.policies()?;
    let mut call = read(body, context.shared)?;
    let (mut text, budget) = (String::from("{\"results\":["), Steps::of(context.shared));
    call.each(|request| {
        let explanation = policies.explain_within(request, SystemClock, &budget);
        joined(&mut text, &wire::explanation_json(&explanation), MAX_EXPLAINED_BYTES)
    })?;
    text.push_str("]}");
    Ok(text)
}

/// Refuses a call that charges no limits, if the policies have some for one of its resources.
fn must_have_no_limits(call: &Call, context: Context<'_>) -> Result<()> {
    let mut kinds = call.entries().iter().map(|(resource, _)| resource.kind.as_str());
    kinds.try_for_each(|kind| context.policies_without_limits(kind).map(drop))
}

/// Returns the names of a resource, without its attributes.
pub(super) fn named(resource: &Resource) -> Resource {
    let Resource { kind, policy_version, id, scope, .. } = resource;
    let [kind, policy_version, id, scope] = [kind, policy_version, id, scope].map(String::clone);
    Resource { kind, policy_version, id, scope, attr: AttrMap::new() }
}

/// Adds an element to a list, or a member to an object, that has begun.
fn joined(text: &mut String, element: &str, most: usize) -> Result<()> {
    must_be_short(text.len().saturating_add(element.len()), most)?;
    if !text.ends_with(['[', '{']) {
        text.push(',');
    }
    text.push_str(element);
    Ok(())
}

/// Refuses an answer of more than `most` bytes.
pub(super) fn must_be_short(length: usize, most: usize) -> Result<()> {
    if length > most {
        return Err(bad("the answer would be too long: request less at once".to_owned()));
    }
    Ok(())
}

/// Decides about each resource, and counts.
fn each(
    call: &mut Call,
    context: Context<'_>,
    mut act: impl FnMut(&Request, &Decision) -> Result<()>,
) -> Result<()> {
    let (policies, now) = (context.policies()?, context.now());
    let (mut tally, budget) = (Tally::default(), Steps::of(context.shared));
    let result = call.each(|request| {
        let decision = policies.check_within(request, now, &budget);
        tally.add(&decision);
        noted::note(request, &decision, now);
        act(request, &decision)
    });
    context.shared.decided(tally);
    result
}

fn read(body: &[u8], shared: &Shared) -> Result<Call> {
    let document = document(body)?;
    let call = Call::read(&document, |value| shared.tokens().read(value)).map_err(bad)?;
    must_be_few(call.entries().len(), &shared.config().http)?;
    for (_, actions) in call.entries() {
        must_be_few_actions(actions.len(), &shared.config().http)?;
    }
    Ok(call)
}

fn document(body: &[u8]) -> Result<Attr> {
    documents::call(body).map_err(|error| bad(error.to_string()))
}

pub(super) fn must_be_few(resources: usize, limits: &Http) -> Result<()> {
    let most = limits.max_resources;
    if resources > most {
        return Err(bad(format!(
            "the request names {resources} resources, at most {most} are accepted"
        )));
    }
    Ok(())
}

pub(super) fn must_be_few_actions(actions: usize, limits: &Http) -> Result<()> {
    let most = limits.max_actions;
    if actions > most {
        return Err(bad(format!(
            "the request names {actions} actions for a resource, at most {most} are accepted"
        )));
    }
    Ok(())
}

pub(super) fn bad(message: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad-request", message)
}

#[cfg(test)]
mod tests;
