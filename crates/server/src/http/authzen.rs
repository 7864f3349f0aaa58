//! The OpenID AuthZEN Authorization API 1.0, over HTTP.
//!
//! What requests mean is read in `wardgate_native::authzen`. Here is what Cerbos adds to it: members of the context
//! whose names begin with `cerbos.` ask for tokens to be verified, and for what decided.

mod rules;
mod search;
mod told;

use hyper::body::Bytes;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;
use wardgate_engine::wire::Json;
use wardgate_native::SystemClock;
use wardgate_native::authzen::{
    self, AuthzenError, Evaluation, Evaluations, Semantic, write_answer, write_refusal,
};

pub(super) use rules::answer_from_rules;
pub(super) use search::search;

use super::cerbos::bad;
use super::policies;
use super::reply::Problem;
use crate::metrics::Tally;
use crate::shared::Shared;
use crate::state::State;
use told::Told;

/// Answers an evaluation.
pub(super) fn evaluation(body: &[u8], state: &State, shared: &Shared) -> Result<Bytes, Problem> {
    if rules::answer_from_rules(shared) {
        let evaluation = authzen::evaluation(body).map_err(refused)?;
        return rules::with(shared, |by| by.one(&evaluation, shared)).map(Bytes::from);
    }
    match shortly(body, state) {
        Some(is_allowed) => {
            shared.decided(Tally::one(is_allowed));
            Ok(Bytes::from_static(if is_allowed { ALLOWED } else { DENIED }))
        }
        None => evaluation_wholly(body, state, shared).map(Bytes::from),
    }
}

/// Answers an evaluation from the text, or not at all. Where something is known of entities beyond what a request
/// says, the text is not all there is.
pub(super) fn shortly(body: &[u8], state: &State) -> Option<bool> {
    state.directory().is_empty().then_some(())?;
    state.policies()?.answer_evaluation(body, SystemClock)
}

/// Answers an evaluation from all that it says.
pub(super) fn evaluation_wholly(
    body: &[u8],
    state: &State,
    shared: &Shared,
) -> Result<String, Problem> {
    let evaluation = authzen::evaluation(body).map_err(refused)?;
    one(&evaluation, state, shared)
}

/// Answers several.
pub(super) fn evaluations(body: &[u8], state: &State, shared: &Shared) -> Result<String, Problem> {
    match authzen::evaluations(body).map_err(refused)? {
        Evaluations::One(evaluation) if rules::answer_from_rules(shared) => {
            rules::with(shared, |by| by.one(&evaluation, shared))
        }
        Evaluations::One(evaluation) => one(&evaluation, state, shared),
        Evaluations::Many { semantic, items, context } => {
            let limits = &shared.config().http;
            let most = limits.max_resources.saturating_mul(limits.max_actions);
            if items.len() > most {
                let found = items.len();
                return Err(bad(format!(
                    "`evaluations` must have at most {most} items, found {found}"
                )));
            }
            if rules::answer_from_rules(shared) {
                return rules::with(shared, |by| by.many(semantic, &items, shared));
            }
            if is_told(&context) {
                return told::many(semantic, &items, state, shared);
            }
            many(semantic, &items, state, shared)
        }
    }
}

/// What the server tells about itself, as callers know it by `url`.
pub(super) fn metadata(url: &str) -> String {
    let mut json = Json::default();
    json.open('{');
    json.field("policy_decision_point", url);
    for (name, path) in PATHS {
        json.field(name, &format!("{url}{path}"));
    }
    json.close('}');
    json.finish()
}

fn one(evaluation: &Evaluation, state: &State, shared: &Shared) -> Result<String, Problem> {
    let policies = policies(state)?;
    let request = request(evaluation, state, shared)?;
    let decision = policies.check(&request, SystemClock);
    let mut tally = Tally::default();
    tally.add(&decision);
    shared.decided(tally);
    let mut json = Json::default();
    if is_told(&evaluation.context) {
        Told::of(&request, &evaluation.context, &decision).write(&mut json, &decision);
    } else {
        write_answer(&mut json, &decision);
    }
    Ok(json.finish())
}

fn many(
    semantic: Semantic,
    items: &[Item],
    state: &State,
    shared: &Shared,
) -> Result<String, Problem> {
    let policies = policies(state)?;
    each((semantic, items), shared, |item, json, tally| {
        Ok(match readable(item, state, shared)? {
            Err(error) => {
                write_refusal(json, &error);
                false
            }
            Ok((request, _)) => {
                let decision = policies.check(&request, SystemClock);
                tally.add(&decision);
                write_answer(json, &decision)
            }
        })
    })
}

/// Answers several questions one by one, until the semantic ends them. `answer` writes one, counts it, and tells
/// whether it is allowed.
fn each<'i>(
    (semantic, items): (Semantic, &'i [Item]),
    shared: &Shared,
    mut answer: impl FnMut(&'i Item, &mut Json, &mut Tally) -> Result<bool, Problem>,
) -> Result<String, Problem> {
    let mut json = Json::default();
    let mut tally = Tally::default();
    json.open('{');
    json.key("evaluations");
    json.open('[');
    for item in items {
        if semantic.ends(answer(item, &mut json, &mut tally)?) {
            break;
        }
    }
    json.close(']');
    json.close('}');
    shared.decided(tally);
    Ok(json.finish())
}

/// A question, or why it is none.
type Item = Result<Evaluation, AuthzenError>;

/// A question and its request, or why it cannot be asked.
type Readable<'i> = Result<(Request, &'i Evaluation), AuthzenError>;

fn readable<'i>(item: &'i Item, state: &State, shared: &Shared) -> Result<Readable<'i>, Problem> {
    let evaluation = match item {
        Ok(evaluation) => evaluation,
        Err(error) => return Ok(Err(error.clone())),
    };
    match evaluation.request(state.directory()) {
        Ok(request) => Ok(Ok((with_tokens(request, evaluation, shared)?, evaluation))),
        Err(error) => Ok(Err(error)),
    }
}

fn request(evaluation: &Evaluation, state: &State, shared: &Shared) -> Result<Request, Problem> {
    let request = evaluation.request(state.directory()).map_err(refused)?;
    with_tokens(request, evaluation, shared)
}

/// Adds the claims of tokens that the context holds, once they are verified. A name that both a token and the
/// request have is that of the token.
fn with_tokens(
    mut request: Request,
    evaluation: &Evaluation,
    shared: &Shared,
) -> Result<Request, Problem> {
    let Some(tokens) = evaluation.context.get("cerbos.auxData") else { return Ok(request) };
    let verified = shared.tokens().read(tokens).map_err(bad)?;
    let said = request.aux_data.jwts.entries().iter();
    let jwts = said.chain(verified.jwts.entries()).cloned();
    request.aux_data.jwts = jwts.collect();
    request.aux_data.jwt = verified.jwt;
    Ok(request)
}

/// Whether the answer is to tell what decided.
fn is_told(context: &AttrMap) -> bool {
    context.get("cerbos.includeMeta") == Some(&Attr::Bool(true))
}

pub(super) fn refused(error: AuthzenError) -> Problem {
    bad(error.to_string())
}

/// Answers that tell no more than that.
const ALLOWED: &[u8] = br#"{"decision":true}"#;
const DENIED: &[u8] = br#"{"decision":false}"#;

/// Where the endpoints are, below the URL of the server.
const PATHS: [(&str, &str); 5] = [
    ("access_evaluation_endpoint", "/access/v1/evaluation"),
    ("access_evaluations_endpoint", "/access/v1/evaluations"),
    ("search_subject_endpoint", "/access/v1/search/subject"),
    ("search_resource_endpoint", "/access/v1/search/resource"),
    ("search_action_endpoint", "/access/v1/search/action"),
];
