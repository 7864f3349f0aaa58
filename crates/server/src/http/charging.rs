//! Answers that charge rate limits.
//!
//! A body is decided by its handler as ever, on whatever thread, and the limits that it meets are found
//! then. They are charged afterwards, where the connection is, since a store may be on a network; and
//! then the answer is written.

use std::pin::Pin;
use std::sync::Arc;

use hyper::body::Bytes;
use wardgate_engine::decision::Decision;
use wardgate_engine::request::Request;
use wardgate_native::Timestamp;
use wardgate_native::limited::{LimitedDecision, Uncharged, UnchargedAnswer};

use super::fields::Fields;
use super::reply::{Reply, Result};
use crate::decision_log::noted::{Noted, Noting};
use crate::ratelimit::RateLimits;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;

/// The answer of a handler.
pub(super) enum Answer {
    /// The JSON of the response.
    Written(Bytes),
    /// The response, once limits are charged.
    Charging(Pin<Box<dyn Future<Output = Charged> + Send>>),
}

/// A response after limits were charged, and the decisions in it.
pub(super) struct Charged {
    pub(super) reply: Result<Reply>,
    pub(super) tally: Tally,
    /// The decisions, if they are recorded.
    pub(super) noted: Vec<Noted>,
}

/// The charges of one request, in their order.
pub(super) struct Charges {
    limits: Arc<RateLimits>,
    tally: Tally,
    fields: Fields,
    noted: Vec<Noted>,
}

/// A decision whose limits are not charged yet, and what is to be recorded of it.
pub(super) struct Asked {
    pub(super) uncharged: Uncharged,
    noted: Option<Noted>,
}

impl Answer {
    pub(super) fn charging(charged: impl Future<Output = Charged> + Send + 'static) -> Self {
        Self::Charging(Box::pin(charged))
    }
}

impl<B: Into<Bytes>> From<B> for Answer {
    fn from(body: B) -> Self {
        Self::Written(body.into())
    }
}

impl Asked {
    pub(super) fn new(
        request: &Request,
        uncharged: Uncharged,
        now: Timestamp,
        shared: &Shared,
    ) -> Self {
        let decision = uncharged.by_policies();
        let note = |recorder| Noted::new(Noting::of(recorder), request, decision, now);
        let noted = shared.recorder().map(note);
        Self { uncharged, noted }
    }
}

impl Charges {
    pub(super) fn new(limits: Arc<RateLimits>) -> Self {
        Self { limits, tally: Tally::default(), fields: Fields::default(), noted: Vec::new() }
    }

    /// Charges the limits that a decision meets, and counts it.
    pub(super) async fn charge(&mut self, asked: Asked) -> LimitedDecision {
        let charged = self.limits.charge(asked.uncharged).await;
        self.tally.add(&charged.decision);
        self.noted.extend(asked.noted.map(|noted| noted.narrowed(&charged.decision)));
        charged.limits.iter().flatten().for_each(|limit| self.fields.add(limit));
        charged
    }

    /// Charges the limits of an answer, whose decisions are counted with it.
    pub(super) async fn charge_answer(&mut self, answer: &mut UnchargedAnswer) {
        let charged = self.limits.charge_each(answer.take_limits()).await;
        let met = charged.iter().flat_map(|(met, _)| met.iter());
        met.for_each(|limit| self.fields.add(limit));
        answer.settle(charged);
    }

    /// Counts decisions.
    pub(super) fn count(&mut self, tally: Tally) {
        self.tally += tally;
    }

    /// Charges like [`Charges::charge`], and returns the decision with the limits as outputs.
    pub(super) async fn charge_outputs(&mut self, asked: Asked) -> Decision {
        self.charge(asked).await.with_outputs()
    }

    /// Returns the response with this body.
    pub(super) fn into_charged(self, body: Result<String>) -> Charged {
        let fields = self.fields.headers(self.limits.has_legacy_headers);
        let reply = body.map(|body| Reply { fields, ..Reply::json(body) });
        Charged { reply, tally: self.tally, noted: self.noted }
    }
}
