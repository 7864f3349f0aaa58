//! Deciding again from evidence, by the policies that made the decision.
//!
//! **No error gives an answer.** Evidence that was not written by these policies about this target gives none.

use std::borrow::Cow;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

use super::entry::Evidence;
use super::known::Known;
use super::part::{Part, parts};
use crate::fast::decide::{Decider, Roles};
use crate::fast::index::Target;
use crate::fast::input::SlotValue;
use crate::fast::values::{Stored, TEXT, ValueReader};
use crate::policies::Policies;

/// Decides again from the evidence of a decision alone, about the targets of its outcomes in their order and at the time of
/// its record, in microseconds since 1970. Returns an answer for each target; `None` if the evidence is none, or none of a
/// decision by these policies about this target.
///
/// The same policies give the same answers as they gave when the evidence was written. No error gives an answer.
#[must_use]
pub fn replay(
    policies: &Policies,
    targets: &[Target<'_>],
    evidence: Evidence<'_>,
    micros: i64,
) -> Vec<Option<bool>> {
    let answers = moment(micros).and_then(|now| match evidence {
        Evidence::None | Evidence::Digest(_) | Evidence::TooLarge => None,
        Evidence::Read(bytes) => {
            let again = |(target, part)| replay_read(policies, target, part, now);
            Some(targets.iter().copied().zip(parts(bytes, targets.len())?).map(again).collect())
        }
        Evidence::Request(bytes) => {
            let request = read_request(bytes)?;
            let again = |target| replay_request(policies, target, &request, now);
            Some(targets.iter().copied().map(again).collect())
        }
    });
    answers.unwrap_or_else(|| vec![None; targets.len()])
}

/// Returns the time of a record, which is in microseconds since 1970; `None` if it is beyond the times of the engine.
#[must_use]
pub fn moment(micros: i64) -> Option<Timestamp> {
    let nanos = u32::try_from(micros.rem_euclid(1_000_000).wrapping_mul(1000)).ok()?;
    Timestamp::new(micros.div_euclid(1_000_000), nanos)
}

fn replay_request(
    policies: &Policies,
    target: Target<'_>,
    request: &Request,
    now: Timestamp,
) -> Option<bool> {
    let Resource { kind, policy_version, scope, .. } = &request.resource;
    let is_about = [&**kind, policy_version, scope]
        == [target.kind, target.policy_version, target.scope]
        && request.actions.iter().any(|action| action == target.action);
    is_about.then(|| policies.table().is_allowed(request, target.action, now))
}

fn replay_read(
    policies: &Policies,
    target: Target<'_>,
    bytes: &[u8],
    now: Timestamp,
) -> Option<bool> {
    let part = Part::read(policies, target, bytes)?;
    let Some(fast_path) = part.fast_path else { return Some(false) };
    let word = |role: &Option<Cow<'_, str>>| {
        role.as_deref().map_or(fast_path.others(), |role| fast_path.role(role))
    };
    let words: Vec<u32> = part.roles.iter().map(word).collect();
    let roles = Roles::of_words(fast_path, words.iter().copied())?;
    if policies.has_expired(&now) {
        return Some(false);
    }
    let value = |at: usize| part.values.get(at).map_or(SlotValue::Unsupported, Stored::slot);
    let question = Known { target, part: &part, principal: None, resource: None };
    let decider = Decider { table: policies.table(), fast_path, clock: &now };
    let again = decider.decide_for_roles(&roles, &question, value);
    // The fast path of JavaScript goes on where the one of this host leaves a decision to the general path.
    again.or_else(|| decider.decide_in_order(&words, &question, value))
}

/// Returns the request of an evidence of that form.
#[must_use]
pub fn request(evidence: Evidence<'_>) -> Option<Request> {
    if let Evidence::Request(bytes) = evidence { read_request(bytes) } else { None }
}

fn read_request(bytes: &[u8]) -> Option<Request> {
    let mut reader = ValueReader(bytes);
    let text = |reader: &mut ValueReader<'_>, kind| {
        if kind == TEXT { reader.rest_of_text().map(str::to_owned) } else { None }
    };
    let actions = reader.list(text)?;
    let [id, policy_version, scope] = names(&mut reader)?;
    let (roles, attr) = (reader.list(text)?, reader.map()?);
    let principal = Principal { id, policy_version, scope, roles, attr };
    let [kind, policy_version, id, scope] = names(&mut reader)?;
    let resource = Resource { kind, policy_version, id, scope, attr: reader.map()? };
    let aux_data = AuxData { jwt: reader.map()?, jwts: reader.map()? };
    let request = Request { principal, resource, actions, aux_data, ..Request::default() };
    reader.is_at_end().then_some(request)
}

fn names<const N: usize>(reader: &mut ValueReader<'_>) -> Option<[String; N]> {
    let mut names = [const { String::new() }; N];
    for name in &mut names {
        *name = reader.text()?.to_owned();
    }
    Some(names)
}
