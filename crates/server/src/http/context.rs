//! The context of one request: the state, the server and the caller of its answer.

use std::sync::Arc;

use hyper::{HeaderMap, StatusCode};
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_native::decision_log::{CallNotes, whole_micros};
use wardgate_native::{Budget, Clock, Policies, SystemClock, Timestamp};

use super::peer::Peer;
use super::reply::{Problem, Result};
use crate::decision_log::{Recorder, noted, recording};
use crate::policies::state::State;
use crate::ratelimit::RateLimits;
use crate::shared::Shared;

/// The head of a request, before its body is read.
pub(super) struct Head<'h> {
    pub(super) headers: &'h HeaderMap,
    pub(super) shared: &'h Shared,
    pub(super) peer: &'h Peer,
}

/// The state, the server and the caller that one request is answered with.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) state: &'c State,
    pub(super) shared: &'c Shared,
    /// The identity of the caller; empty if the request is anonymous.
    pub(super) caller: &'c str,
}

impl<'c> Context<'c> {
    /// Returns the policies of the state.
    ///
    /// # Errors
    /// The server has no policies and answers by rules of SPOCP alone.
    pub(super) fn policies(self) -> Result<&'c Policies> {
        self.state.policies().ok_or_else(Problem::no_policies)
    }

    /// Reads the time for all decisions on the request, in whole microseconds as a record holds it.
    pub(super) fn now(self) -> Timestamp {
        whole_micros(SystemClock.now()).0
    }

    /// Answers by `answer` on a fast path that notes its decisions, and records them. Returns `None` if only the general path can
    /// answer.
    pub(super) fn recorded<R>(
        self,
        recorder: &Recorder,
        body: &[u8],
        answer: impl FnOnce(&Policies, &mut CallNotes) -> Option<R>,
    ) -> Option<Result<R>> {
        let (policies, number) = (self.state.policies()?, recording::number(self.state));
        let answer = |notes: &mut CallNotes| answer(policies, notes);
        let (answer, may_leave) = noted::answered(recorder, number, (body, self.now()), answer)?;
        Some(if may_leave { Ok(answer) } else { Err(Problem::log_full()) })
    }

    /// Decides on one action for a broker of MQTT, and notes the decision if decisions are recorded.
    pub(super) fn is_allowed_noted(
        self,
        policies: &Policies,
        (request, action): (&Request, &str),
        steps: &Budget,
    ) -> bool {
        if self.shared.recorder().is_none() {
            return policies.is_allowed_within(request, action, SystemClock, steps);
        }
        let request = Request { actions: vec![action.to_owned()], ..request.clone() };
        let now = self.now();
        let decision = policies.check_within(&request, now, steps);
        noted::note(&request, &decision, now);
        decision.actions.iter().all(|action| action.effect == Effect::Allow)
    }

    /// Returns the policies for an answer that charges no limits.
    ///
    /// # Errors
    /// There are none, or they have limits for this kind of resource.
    pub(super) fn policies_without_limits(self, kind: &str) -> Result<&'c Policies> {
        let policies = self.policies()?;
        if policies.table().may_limit(kind) {
            let message = format!(
                "the policies have rate limits for `{}`, which this endpoint does not charge",
                kind.escape_debug()
            );
            return Err(Problem::new(StatusCode::CONFLICT, "limits-not-charged", message));
        }
        Ok(policies)
    }

    /// Returns the limiter.
    ///
    /// # Errors
    /// The configuration has no section for rate limits.
    pub(super) fn limits(self) -> Result<Arc<RateLimits>> {
        self.shared.limits().cloned().ok_or_else(Problem::no_limits)
    }
}
