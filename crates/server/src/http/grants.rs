//! Lists of topics of MQTT for one principal: for administrators.
//!
//! Whoever may have lists sees the patterns of the policies, for any principal that a body claims. So
//! this is open to those who may see policies, and not to callers who ask single questions.

use wardgate_native::mqtt::Grants;
use wardgate_native::protocol::authzen::SearchRun;
use wardgate_native::protocol::documents;
use wardgate_native::protocol::grants::GrantsCall;

use super::brokers::TOPIC;
use super::cerbos::{bad, must_be_few_actions, must_be_short};
use super::context::Context;
use super::reply::Result;
use super::steps::Steps;
use crate::decision_log::noted;
use crate::limits::MAX_ANSWER_BYTES;

/// Answers with the lists of each action, or in the form of a broker.
pub(super) fn grants(body: &[u8], context: Context<'_>) -> Result<String> {
    let (policies, shared) = (context.policies_without_limits(TOPIC)?, context.shared);
    let document = documents::attribute(body).map_err(|error| bad(error.to_string()))?;
    let call = GrantsCall::read(&document, |value| shared.tokens().read(value)).map_err(bad)?;
    must_be_few_actions(call.actions.len(), &shared.config().http)?;
    let now = context.now();
    let lists = call.lists(policies, now, &Steps::of(shared));
    let text = call.written(&lists).map_err(bad)?.to_string();
    must_be_short(text.len(), MAX_ANSWER_BYTES)?;
    let runs: Vec<_> = lists.iter().map(|(action, grants)| run(&call, action, grants)).collect();
    noted::note_runs(&runs, now);
    Ok(text)
}

/// Returns the lists of an action as the log has them: a search that was about each filter in them.
fn run(call: &GrantsCall, action: &str, grants: &Grants) -> SearchRun {
    let (allowed, denied) = (grants.allow.len(), grants.deny.len());
    let resource = &call.request.resource;
    SearchRun {
        kind: TOPIC.to_owned(),
        version: resource.policy_version.clone(),
        scope: resource.scope.clone(),
        action: action.to_owned(),
        asked: u64::try_from(allowed.saturating_add(denied)).unwrap_or(u64::MAX),
        allowed: u64::try_from(allowed).unwrap_or(u64::MAX),
    }
}
