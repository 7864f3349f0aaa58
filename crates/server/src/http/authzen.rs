//! The OpenID AuthZEN Authorization API 1.0, over HTTP.
//!
//! `wardgate_native::protocol::authzen` reads the meaning of requests. This room adds the
//! extensions of Cerbos: members of the context whose names begin with `cerbos.` bring tokens to
//! verify, and request metadata of decisions.

mod limited;
mod metadata;
mod response;
mod rules;
mod search;
mod tokens;

use hyper::body::Bytes;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::budget::Budget;
use wardgate_engine::decision::Decision;
use wardgate_engine::wire::Json;
use wardgate_native::SystemClock;
use wardgate_native::protocol::authzen::{
    self, AuthzenError, Evaluation, Evaluations, Requests, Semantic, Shared as Defaults,
    write_answer, write_refusal,
};

pub(super) use metadata::{
    EVALUATION, EVALUATIONS, Named, SEARCH_ACTION, SEARCH_RESOURCE, SEARCH_SUBJECT, metadata,
};
pub(super) use search::search;

use super::cerbos::bad;
use super::charging::Answer;
use super::context::Context;
use super::reply::{Problem, Result};
use super::steps::Steps;
use crate::decision_log::noted;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;
use response::{SubjectResponse, is_allowed};
use rules::answer_from_rules;
use tokens::Verifier;

/// Answers an evaluation.
pub(super) fn evaluation(body: &[u8], context: Context<'_>) -> Result<Answer> {
    let shared = context.shared;
    if answer_from_rules(shared) {
        let evaluation = authzen::evaluation(body).map_err(refused)?;
        return rules::with(shared, |by| by.one(&evaluation, shared)).map(Answer::from);
    }
    match try_fast(body, context) {
        Some(is_allowed) => {
            let is_allowed = is_allowed?;
            shared.decided(Tally::one(is_allowed));
            Ok(Answer::from(Bytes::from_static(if is_allowed { ALLOWED } else { DENIED })))
        }
        None if context.policies()?.table().has_limits() => {
            limited::one(&authzen::evaluation(body).map_err(refused)?, context)
        }
        None => evaluation_full(body, context).map(Answer::from),
    }
}

/// Tries the fast path; returns `None` if the general path must answer. With properties in the
/// directory the text of the request is incomplete, so the fast path does not apply.
pub(super) fn try_fast(body: &[u8], context: Context<'_>) -> Option<Result<bool>> {
    context.state.directory().is_empty().then_some(())?;
    match context.shared.recorder() {
        None => context.state.policies()?.answer_evaluation(body, SystemClock).map(Ok),
        Some(recorder) => context.recorded(recorder, body, |policies, notes| {
            policies.answer_evaluation_noted(body, notes)
        }),
    }
}

/// Answers an evaluation on the general path, by policies without rate limits.
pub(super) fn evaluation_full(body: &[u8], context: Context<'_>) -> Result<String> {
    let evaluation = authzen::evaluation(body).map_err(refused)?;
    one(&evaluation, context)
}

/// Answers several.
pub(super) fn evaluations(body: &[u8], context: Context<'_>) -> Result<Answer> {
    let shared = context.shared;
    let evaluations = authzen::evaluations(body).map_err(refused)?;
    if let Evaluations::Many { items, .. } = &evaluations {
        must_be_few(items.len(), shared)?;
    }
    if answer_from_rules(shared) {
        return rules::with(shared, |by| match &evaluations {
            Evaluations::One(evaluation) => by.one(evaluation, shared),
            Evaluations::Many { semantic, items, .. } => Ok(by.many(*semantic, items, shared)),
        })
        .map(Answer::from);
    }
    let has_limits = context.policies()?.table().has_limits();
    match &evaluations {
        Evaluations::One(evaluation) if has_limits => limited::one(evaluation, context),
        Evaluations::One(evaluation) => one(evaluation, context).map(Answer::from),
        Evaluations::Many { semantic, items, shared: defaults } => {
            let questions = Questions { semantic: *semantic, items, defaults };
            match wants_response(defaults.context()) {
                _ if has_limits => limited::many(&questions, context),
                true => response::many(&questions, context).map(Answer::from),
                false => many(&questions, context).map(Answer::from),
            }
        }
    }
}

fn must_be_few(items: usize, shared: &Shared) -> Result<()> {
    let limits = &shared.config().http;
    let most = limits.max_resources.saturating_mul(limits.max_actions);
    if items > most {
        return Err(bad(format!("`evaluations` must have at most {most} items, found {items}")));
    }
    Ok(())
}

/// Several questions of one request.
struct Questions<'q> {
    semantic: Semantic,
    items: &'q [Item],
    defaults: &'q Defaults,
}

/// An evaluation, or the reason why it is malformed.
type Item = Result<Evaluation, AuthzenError>;

fn one(evaluation: &Evaluation, context: Context<'_>) -> Result<String> {
    let (policies, shared, now) = (context.policies()?, context.shared, context.now());
    let verifier = Verifier::new(shared);
    let verify = |tokens: &Attr| verifier.read(tokens);
    let defaults = Defaults::default();
    let mut requests = Requests::new(&defaults, context.state.directory(), &verify);
    let answered = requests.with(evaluation, |request| {
        let decision = policies.check_within(request, now, &Steps::of(shared));
        let mut tally = Tally::default();
        tally.add(&decision);
        noted::note(request, &decision, now);
        shared.decided(tally);
        if wants_response(&evaluation.context) {
            let is_allowed = is_allowed(&decision);
            return SubjectResponse::of(&request.resource, &evaluation.context, decision)
                .answer(is_allowed);
        }
        let mut json = Json::default();
        write_answer(&mut json, &decision);
        Ok(json.finish())
    });
    answered.map_err(refused)?
}

fn many(questions: &Questions<'_>, context: Context<'_>) -> Result<String> {
    let (policies, shared, now) = (context.policies()?, context.shared, context.now());
    let verifier = Verifier::new(shared);
    let verify = |tokens: &Attr| verifier.read(tokens);
    let mut requests = Requests::new(questions.defaults, context.state.directory(), &verify);
    let budget = Steps::of(shared);
    let decide = |item: &Item, json: &mut Json, tally: &mut Tally| {
        let evaluation = item.as_ref().map_err(Clone::clone)?;
        must_be_left(&budget)?;
        requests.with(evaluation, |request| {
            let decision = decided(policies.check_within(request, now, &budget), &budget)?;
            tally.add(&decision);
            noted::note(request, &decision, now);
            Ok(write_answer(json, &decision))
        })?
    };
    Ok(each(questions.semantic, questions.items, shared, decide))
}

/// Refuses to decide without a step left.
fn must_be_left(budget: &Budget) -> Result<(), AuthzenError> {
    if budget.left() > 0 { Ok(()) } else { Err(spent()) }
}

/// Refuses a denial that came from the steps spent on earlier evaluations: no rule denied it.
fn decided(decision: Decision, budget: &Budget) -> Result<Decision, AuthzenError> {
    if budget.left() == 0 && !is_allowed(&decision) { Err(spent()) } else { Ok(decision) }
}

fn spent() -> AuthzenError {
    AuthzenError::new("the questions of the request take more steps than one may".to_owned())
}

/// Answers several evaluations one by one, until the semantic ends them. `answer` writes one,
/// counts it, and returns true if it is allowed; an evaluation that fails is denied, with the
/// reason.
fn each<'i>(
    semantic: Semantic,
    items: &'i [Item],
    shared: &Shared,
    mut answer: impl FnMut(&'i Item, &mut Json, &mut Tally) -> Result<bool, AuthzenError>,
) -> String {
    let (mut json, mut tally) = (begin_evaluations(), Tally::default());
    for item in items {
        let is_allowed = answer(item, &mut json, &mut tally).unwrap_or_else(|error| {
            write_refusal(&mut json, &error);
            false
        });
        if semantic.ends(is_allowed) {
            break;
        }
    }
    shared.decided(tally);
    end_evaluations(json)
}

/// Begins the answer to several evaluations.
fn begin_evaluations() -> Json {
    let mut json = Json::default();
    json.open('{');
    json.key("evaluations");
    json.open('[');
    json
}

/// Ends the answer to several evaluations.
fn end_evaluations(mut json: Json) -> String {
    json.close(']');
    json.close('}');
    json.finish()
}

/// Returns true if the context requests metadata of the decision.
fn wants_response(context: &AttrMap) -> bool {
    context.get("cerbos.includeMeta") == Some(&Attr::Bool(true))
}

pub(super) fn refused(error: AuthzenError) -> Problem {
    bad(error.to_string())
}

/// Answers without metadata.
const ALLOWED: &[u8] = br#"{"decision":true}"#;
const DENIED: &[u8] = br#"{"decision":false}"#;
