//! `wardgate check`: decides requests. Rate limits are charged in the memory of the process, so each run
//! begins with full keys.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::Request;
use wardgate_engine::wire::Json;
use wardgate_native::Policies;
use wardgate_native::limited::{LimitedDecision, Limiter, Memory, MetLimit, Settings, WhenFull};
use wardgate_native::protocol::cerbos::answer::{ResultEntry, begin_response, outputs};

use crate::answer;
use crate::arguments::Check;
use crate::clock;
use crate::failure::{Result, Status};
use crate::output::{Output, Tone, shown};
use crate::policies::{self, Source};
use crate::requests;

pub(crate) fn run(check: &Check, out: &mut Output) -> Result<Status> {
    let Check { policies: path, options, opening, .. } = check;
    let now = check.input.now.unwrap_or_else(clock::now);
    let (table, _) = policies::table_and_sources(Source { path, options, opening }, now)?;
    let policies = Policies::of(table);
    let limiter = Limiter::new(Memory::new(KEYS, WhenFull::Deny), &Settings::default());
    requests::each(&check.input.requests, |mut call| {
        let now = check.input.now.unwrap_or_else(clock::now);
        let meta = check.meta || call.include_meta;
        let mut response = begin_response(call.request_id());
        call.each(|request| {
            let charged = charge(&limiter, &policies, request, now);
            if check.input.json {
                add_result(&mut response, request, &charged.with_outputs(), meta);
                return Ok(());
            }
            print(request, &charged.decision, meta, out)?;
            print_limits(&charged, out)
        })?;
        if check.input.json {
            response.push_str("]}");
            out.line(response)?;
        }
        out.flush()
    })
}

/// Decides, and charges the limits that the actions meet.
fn charge(
    limiter: &Limiter<Memory>,
    policies: &Policies,
    request: &Request,
    now: Timestamp,
) -> LimitedDecision {
    let mut charging = pin!(limiter.charge(policies.check_uncharged(request, now)));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        // Memory never waits: this is the first time and the last one.
        if let Poll::Ready(charged) = charging.as_mut().poll(&mut context) {
            return charged;
        }
    }
}

/// Adds the result for one resource to a response.
fn add_result(response: &mut String, request: &Request, decision: &Decision, with_meta: bool) {
    let mut json = Json::default();
    let outputs = &outputs(decision, usize::MAX);
    ResultEntry { resource: &request.resource, decision, outputs, with_meta }.write(&mut json);
    if !response.ends_with('[') {
        response.push(',');
    }
    response.push_str(&json.finish());
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
    let asked_by = format!(", requested by {} as {roles}", request.principal.id);
    format!("{}{}", out.paint(Tone::Title, &shown(&named)), shown(&asked_by))
}

/// Returns the word for an effect.
pub(crate) fn effect(effect: Effect, out: &Output) -> String {
    match effect {
        Effect::Allow => out.paint(Tone::Allow, "allow").into_owned(),
        Effect::Deny => out.paint(Tone::Deny, "deny").into_owned() + " ",
    }
}

fn print(request: &Request, decision: &Decision, meta: bool, out: &mut Output) -> Result<()> {
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

fn print_limits(charged: &LimitedDecision, out: &mut Output) -> Result<()> {
    let LimitedDecision { decision, limits } = charged;
    for (action, met) in decision.actions.iter().zip(limits) {
        for limit in met {
            let line = format!("limit {} for {}: {}", limit.name, action.action, outcome(limit));
            out.line(format_args!("  {}", shown(&line)))?;
        }
    }
    Ok(())
}

/// Returns what became of a limit, in words.
fn outcome(limit: &MetLimit) -> String {
    if let Err(error) = limit.value() {
        return format!("failed: {error}");
    }
    let mut words = limit.word().to_owned();
    // A limit is not asked where the charge of another one is unknown.
    if let Some(left) = limit.remaining {
        words.push_str(&format!(", {left} of {} left", limit.quota));
    }
    if let Some(wait) = limit.retry().filter(|wait| *wait > 0) {
        words.push_str(&format!(", there in {}s", wait.div_ceil(1_000_000)));
    }
    words
}

/// The keys of one run.
const KEYS: usize = 1 << 16;
