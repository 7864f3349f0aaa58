//! CheckResources under policies with rate limits: decided, charged, and then written.

use wardgate_engine::wire::Json;
use wardgate_native::limited::UnchargedAnswer;
use wardgate_native::protocol::cerbos::answer::{self, ResultEntry};
use wardgate_native::{Resource, SystemClock};

use super::{call_limits, joined, must_be_short, named, read, tally};
use crate::http::charging::{Answer, Asked, Charges};
use crate::http::context::Context;
use crate::http::reply::{Problem, Result};
use crate::http::steps::Steps;
use crate::limits::MAX_ANSWER_BYTES;

/// Answers CheckResources: on the fast path if it applies and all limits are plain, or else on the
/// general path.
pub(super) fn check(body: &[u8], context: Context<'_>) -> Result<Answer> {
    match try_fast(body, context) {
        Some(uncharged) => fast(uncharged, context),
        None => general(body, context),
    }
}

/// Answers from the text, or not at all: records of decisions need their reasons.
fn try_fast(body: &[u8], context: Context<'_>) -> Option<UnchargedAnswer> {
    if context.shared.recorder().is_some() {
        return None;
    }
    context.state.policies()?.answer_call_uncharged(body, call_limits(context), SystemClock)
}

fn fast(uncharged: UnchargedAnswer, context: Context<'_>) -> Result<Answer> {
    let mut uncharged = match uncharged.without_limits() {
        Ok(answered) => {
            context.shared.decided(tally(&answered));
            return Ok(Answer::from(answered.json));
        }
        Err(uncharged) => uncharged,
    };
    let mut charges = Charges::new(context.limits()?);
    Ok(Answer::charging(async move {
        charges.charge_answer(&mut uncharged).await;
        let answered = uncharged.into_answered();
        charges.count(tally(&answered));
        let is_short = must_be_short(answered.json.len(), MAX_ANSWER_BYTES);
        charges.into_charged(is_short.map(|()| answered.json))
    }))
}

/// Answers CheckResources on the general path.
pub(super) fn general(body: &[u8], context: Context<'_>) -> Result<Answer> {
    let (policies, mut charges) = (context.policies()?, Charges::new(context.limits()?));
    let mut call = read(body, context.shared)?;
    let (text, with_meta) = (answer::begin_response(call.request_id()), call.include_meta);
    let (budget, now, mut all) = (Steps::of(context.shared), context.now(), Vec::new());
    call.each(|request| {
        let uncharged = policies.check_uncharged_within(request, now, &budget);
        all.push((named(&request.resource), Asked::new(request, uncharged, now, context.shared)));
        Ok::<(), Problem>(())
    })?;
    Ok(Answer::charging(async move {
        let body = written(text, all, with_meta, &mut charges).await;
        charges.into_charged(body)
    }))
}

/// Charges for one resource after the other, and writes the response.
async fn written(
    mut text: String,
    all: Vec<(Resource, Asked)>,
    with_meta: bool,
    charges: &mut Charges,
) -> Result<String> {
    for (resource, asked) in all {
        let decision = &charges.charge_outputs(asked).await;
        let outputs = &answer::outputs(decision, MAX_ANSWER_BYTES);
        let mut json = Json::default();
        ResultEntry { resource: &resource, decision, outputs, with_meta }.write(&mut json);
        joined(&mut text, &json.finish(), MAX_ANSWER_BYTES)?;
    }
    text.push_str("]}");
    Ok(text)
}
