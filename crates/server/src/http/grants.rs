//! Lists of topics of MQTT for one principal: for administrators.
//!
//! Whoever may have lists sees the patterns of the policies, for any principal that a body claims. So
//! this is open to those who may see policies, and not to callers who ask single questions.

use wardgate_native::SystemClock;
use wardgate_native::protocol::documents;
use wardgate_native::protocol::grants::GrantsCall;

use super::brokers::TOPIC;
use super::cerbos::{bad, must_be_few_actions, must_be_short};
use super::context::Context;
use super::reply::Result;
use super::steps::Steps;
use crate::limits::MAX_ANSWER_BYTES;

/// Answers with the lists of each action, or in the form of a broker.
pub(super) fn grants(body: &[u8], context: Context<'_>) -> Result<String> {
    context.must_not_be_recorded()?;
    let (policies, shared) = (context.policies_without_limits(TOPIC)?, context.shared);
    let document = documents::attribute(body).map_err(|error| bad(error.to_string()))?;
    let call = GrantsCall::read(&document, |value| shared.tokens().read(value)).map_err(bad)?;
    must_be_few_actions(call.actions.len(), &shared.config().http)?;
    let answer = call.answer(policies, SystemClock, &Steps::of(shared)).map_err(bad)?;
    let text = answer.to_string();
    must_be_short(text.len(), MAX_ANSWER_BYTES)?;
    Ok(text)
}
