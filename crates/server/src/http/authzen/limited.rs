//! Evaluations under policies with rate limits: decided, charged, and then written.

use wardgate_engine::attr::Attr;
use wardgate_engine::wire::Json;
use wardgate_native::limited::LimitedDecision;
use wardgate_native::protocol::authzen::{
    AuthzenError, Evaluation, Requests, Semantic, Shared as Defaults, write_refusal,
};
use wardgate_native::protocol::json::{list, member, object};

use super::response::{SubjectResponse, is_allowed};
use super::tokens::Verifier;
use super::{
    Questions, begin_evaluations, end_evaluations, must_be_left, refused, spent, wants_response,
};
use crate::http::cerbos::{bad, named};
use crate::http::charging::{Answer, Asked, Charges};
use crate::http::context::Context;
use crate::http::reply::Result;
use crate::http::steps::Steps;

/// Answers an evaluation.
pub(super) fn one(evaluation: &Evaluation, context: Context<'_>) -> Result<Answer> {
    let (policies, shared, now) = (context.policies()?, context.shared, context.now());
    let mut charges = Charges::new(context.limits()?);
    let verifier = Verifier::new(shared);
    let verify = |tokens: &Attr| verifier.read(tokens);
    let defaults = Defaults::default();
    let mut requests = Requests::new(&defaults, context.state.directory(), &verify);
    let (resource, asked) = requests
        .with(evaluation, |request| {
            let budget = Steps::of(shared);
            let uncharged = policies.check_uncharged_within(request, now, &budget);
            (named(&request.resource), Asked::new(request, uncharged, now, shared))
        })
        .map_err(refused)?;
    let circumstances = evaluation.context.clone();
    Ok(Answer::charging(async move {
        if wants_response(&circumstances) {
            let decision = charges.charge_outputs(asked).await;
            let is_allowed = is_allowed(&decision);
            let response = SubjectResponse::of(&resource, &circumstances, decision);
            return charges.into_charged(response.answer(is_allowed));
        }
        let charged = charges.charge(asked).await;
        let mut json = Json::default();
        write(&mut json, &charged);
        charges.into_charged(Ok(json.finish()))
    }))
}

/// Answers several.
pub(super) fn many(questions: &Questions<'_>, context: Context<'_>) -> Result<Answer> {
    let mut charges = Charges::new(context.limits()?);
    let (semantic, all) = (questions.semantic, decided(questions, context)?);
    Ok(Answer::charging(async move {
        let text = written(semantic, all, &mut charges).await;
        charges.into_charged(Ok(text))
    }))
}

type Question = Result<Asked, AuthzenError>;

/// Decides by the policies, up to the end that these alone bring about.
fn decided(questions: &Questions<'_>, context: Context<'_>) -> Result<Vec<Question>> {
    let (policies, shared, now) = (context.policies()?, context.shared, context.now());
    let wants = |item: &super::Item| item.as_ref().is_ok_and(|one| wants_response(&one.context));
    if wants_response(questions.defaults.context()) || questions.items.iter().any(wants) {
        let message = "`cerbos.includeMeta` of several evaluations is not answered by policies with rate limits";
        return Err(bad(message.to_owned()));
    }
    let verifier = Verifier::new(shared);
    let verify = |tokens: &Attr| verifier.read(tokens);
    let mut requests = Requests::new(questions.defaults, context.state.directory(), &verify);
    let (budget, mut all) = (Steps::of(shared), Vec::new());
    for item in questions.items {
        let question = item.as_ref().map_err(Clone::clone).and_then(|evaluation| {
            must_be_left(&budget)?;
            let asked = requests.with(evaluation, |request| {
                let uncharged = policies.check_uncharged_within(request, now, &budget);
                Asked::new(request, uncharged, now, shared)
            })?;
            let is_denied = !is_allowed(asked.uncharged.by_policies());
            if is_denied && budget.left() == 0 { Err(spent()) } else { Ok(asked) }
        });
        let is_allowed = question.as_ref().is_ok_and(|one| is_allowed(one.uncharged.by_policies()));
        let is_final = !question.as_ref().is_ok_and(|one| one.uncharged.meets_limits());
        all.push(question);
        // Limits only narrow: what the policies deny stays denied.
        if (is_final || !is_allowed) && questions.semantic.ends(is_allowed) {
            break;
        }
    }
    Ok(all)
}

/// Charges for one question after the other, until the semantic ends them.
async fn written(semantic: Semantic, all: Vec<Question>, charges: &mut Charges) -> String {
    let mut json = begin_evaluations();
    for question in all {
        let is_allowed = match question {
            Ok(asked) => write(&mut json, &charges.charge(asked).await),
            Err(error) => {
                write_refusal(&mut json, &error);
                false
            }
        };
        if semantic.ends(is_allowed) {
            break;
        }
    }
    end_evaluations(json)
}

/// Writes the answer to one question, with outputs and limits. Returns true if it is allowed.
fn write(json: &mut Json, charged: &LimitedDecision) -> bool {
    let LimitedDecision { decision, limits } = charged;
    let is_allowed = is_allowed(decision);
    let (outputs, mut limits) = (&decision.outputs, limits.iter().flatten().peekable());
    object(json, |json| {
        json.key("decision");
        json.boolean(is_allowed);
        if outputs.is_empty() && limits.peek().is_none() {
            return;
        }
        member(json, "context", |json| {
            if !outputs.is_empty() {
                list(json, "outputs", outputs, Json::output);
            }
            if limits.peek().is_some() {
                list(json, "limits", limits, |json, limit| json.attr(&limit.entry()));
            }
        });
    });
    is_allowed
}
