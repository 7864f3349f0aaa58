//! Rate limits alone: charged, looked at or made full for a request, whatever the policies say of it.
//!
//! A body names a principal, an action, a resource and limits, and brings no number: keys, costs and
//! quotas are those of the policies.

use std::sync::Arc;

use hyper::StatusCode;
use wardgate_engine::decision::{Effect, Reason};
use wardgate_engine::wire::Json;
use wardgate_native::limited::{ActionLimits, Few, MetLimit};
use wardgate_native::protocol::documents;
use wardgate_native::protocol::json::{document, list};
use wardgate_native::protocol::ratelimit::LimitsCall;
use wardgate_native::{Clock, SystemClock};

use super::cerbos::bad;
use super::charging::{Answer, Charged};
use super::context::Context;
use super::fields::{Fields, Refusal};
use super::reply::{Problem, Reply, Result};
use super::steps::Steps;
use crate::ratelimit::RateLimits;
use crate::telemetry::metrics::Tally;

/// What became of the limits of one call.
struct Met {
    limits: Arc<RateLimits>,
    met: Few<MetLimit>,
    /// The reason for which they deny.
    denied: Option<Reason>,
}

/// Charges all limits that are enforced, or none.
pub(super) fn check(body: &[u8], context: Context<'_>) -> Result<Answer> {
    let (limits, asked) = read(body, context)?;
    Ok(Answer::charging(async move {
        let (met, denied) = limits.charge_action(asked).await;
        Met { limits, met, denied }.checked()
    }))
}

/// Tells what a charge would meet.
pub(super) fn status(body: &[u8], context: Context<'_>) -> Result<Answer> {
    let (limits, asked) = read(body, context)?;
    Ok(Answer::charging(async move {
        let (met, denied) = limits.limiter().look(asked).await;
        Met { limits, met, denied }.told()
    }))
}

/// Makes the keys full.
pub(super) fn reset(body: &[u8], context: Context<'_>) -> Result<Answer> {
    let (limits, asked) = read(body, context)?;
    Ok(Answer::charging(async move {
        let (met, denied) = limits.limiter().reset(asked).await;
        Met { limits, met, denied }.reset()
    }))
}

/// Reads a call, and finds the limits that it is about.
fn read(body: &[u8], context: Context<'_>) -> Result<(Arc<RateLimits>, ActionLimits)> {
    let (policies, limits) = (context.policies()?, context.limits()?);
    let value = documents::attribute(body).map_err(|error| bad(error.to_string()))?;
    let LimitsCall { request, action, names } =
        LimitsCall::read(&value, |value| context.shared.tokens().read(value)).map_err(bad)?;
    for name in &names {
        if !policies.table().limits().any(|limit| limit.name() == name) {
            return Err(bad(format!("there is no limit `{}`", name.escape_debug())));
        }
    }
    let (now, of) = (SystemClock.now(), (action.as_str(), Effect::Allow));
    let found = policies.limits_of(&request, of, now, &Steps::of(context.shared));
    Ok((limits, if names.is_empty() { found } else { found.named(&names) }))
}

impl Met {
    /// Returns the answer to a charge: 200, or the problem for which it was refused.
    fn checked(self) -> Charged {
        match &self.denied {
            None => self.told(),
            Some(Reason::Limited(_)) => self.problem(Refusal::Exceeded),
            Some(Reason::StoreAway(_)) => self.problem(Refusal::Reduced),
            Some(_) => self.unknown(),
        }
    }

    fn told(self) -> Charged {
        if let Some(Reason::LimitError(_)) = self.denied {
            return self.unknown();
        }
        let body = document(|json| {
            json.key("allowed");
            json.boolean(self.denied.is_none());
            self.list(json);
        });
        self.with_fields(Reply::json(body))
    }

    fn reset(self) -> Charged {
        match &self.denied {
            Some(Reason::StoreAway(name)) => {
                let message = format!("the store of the limit `{name}` is away");
                of(Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "store-away", message)))
            }
            Some(Reason::LimitError(_)) => self.unknown(),
            _ => {
                let body = document(|json| self.list(json));
                of(Ok(Reply::json(body)))
            }
        }
    }

    fn problem(self, refusal: Refusal) -> Charged {
        let violated = self.met.iter().filter(|limit| refusal.is_of(limit));
        let body = document(|json| {
            json.field("type", refusal.kind());
            json.field("title", refusal.title());
            json.key("status");
            json.number(f64::from(refusal.status().as_u16()));
            list(json, "violated-policies", violated, |json, limit| json.string(&limit.name));
            self.list(json);
        });
        let reply = Reply::of(refusal.status(), "application/problem+json", body);
        self.with_fields(reply)
    }

    /// Returns the answer where the charge of a limit is unknown.
    fn unknown(self) -> Charged {
        let failed = self.met.iter().find_map(|limit| Some((limit, limit.value().err()?)));
        let message = match failed {
            Some((limit, error)) => format!("the charge of the limit `{}`: {error}", limit.name),
            None => "the request takes more steps than one may".to_owned(),
        };
        of(Err(Problem::new(StatusCode::BAD_REQUEST, "limit-error", message)))
    }

    fn list(&self, json: &mut Json) {
        list(json, "limits", &self.met, |json, limit| json.attr(&limit.entry()));
    }

    fn with_fields(self, reply: Reply) -> Charged {
        let mut fields = Fields::default();
        self.met.iter().for_each(|limit| fields.add(limit));
        let fields = fields.headers(self.limits.has_legacy_headers);
        of(Ok(Reply { fields, ..reply }))
    }
}

/// Returns an answer in which the policies decide nothing.
fn of(reply: Result<Reply>) -> Charged {
    Charged { reply, tally: Tally::default(), noted: Vec::new() }
}
