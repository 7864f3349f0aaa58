//! The rate limits that the actions of a test meet, as outputs: a suite expects them like those of
//! rules.
//!
//! Nothing is charged: a test is about one request, and says what it would take from which key.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::{Charge, LimitError};
use wardgate_engine::decision::{Effect, Output, Reason};
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use super::decider::Answer;

/// Adds an output `limit.NAME` for each limit that an action meets: its key, cost and quota, or the
/// error. An action that is denied by such an error is denied in the answer.
pub(super) fn with_limits(
    mut answer: Answer,
    table: &PolicyTable,
    request: &Request,
    now: Timestamp,
) -> Answer {
    let Answer { decision, depends_on_time } = &mut answer;
    for action in &mut decision.actions {
        let of = (action.action.as_str(), action.effect);
        let (found, reads_time) = table.charges_timed(request, of, now, &Budget::default());
        *depends_on_time |= reads_time;
        let mut failed = found.is_err().then(String::new);
        for met in found.unwrap_or_default() {
            if met.is_enforced() && met.charge.is_err() {
                failed.get_or_insert_with(|| met.limit.name().to_owned());
            }
            decision.outputs.push(Output {
                source: format!("limit.{}", met.limit.name()),
                action: action.action.clone(),
                value: value(met.charge),
            });
        }
        if let Some(limit) = failed.filter(|_| action.effect == Effect::Allow) {
            (action.effect, action.reason) = (Effect::Deny, Reason::LimitError(limit));
        }
    }
    answer
}

fn value(charge: Result<Charge, LimitError>) -> Result<Attr, String> {
    let charge = charge.map_err(|error| error.message())?;
    let tokens = |count: u64| Attr::Number(wardgate_engine::number::uint_to_double(count));
    let entries = [
        ("cost", tokens(charge.cost)),
        ("key", Attr::List(charge.key_values())),
        ("quota", tokens(charge.quota)),
    ];
    let entries = entries.into_iter().map(|(name, value)| (name.into(), value));
    Ok(Attr::Map(entries.collect::<AttrMap>()))
}
