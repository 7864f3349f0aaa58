//! One opened bundle and the decisions that it makes.

use wardgate_bundle::{Conditions, Header, KeyId, Trust, open};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Decision;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire;
use wardgate_native::Policies;
use wardgate_native::decision_log::replay;
use wardgate_native::protocol::authzen::{self, NoDirectory};
use wardgate_native::protocol::documents;

use crate::failure::{Failure, Kind};
use crate::recorded::RecordedDecision;

/// One opened bundle.
#[derive(Debug)]
pub(crate) struct Opened {
    policies: Policies,
    header: Header,
    signers: Vec<KeyId>,
}

impl Opened {
    pub(crate) fn open(
        bundle: &[u8],
        trust: Trust<'_>,
        conditions: &Conditions<'_>,
    ) -> Result<Self, Failure> {
        let wardgate_bundle::Opened { table, header, signers, .. } =
            open(bundle, trust, conditions)?;
        Ok(Self { policies: Policies::of(table), header, signers })
    }

    /// Replaces the bundle by another one; it remains if the other is refused. A signed one must
    /// not be older; where unsigned bundles are trusted, revisions have no meaning.
    pub(crate) fn reload(
        &mut self,
        bundle: &[u8],
        trust: Trust<'_>,
        conditions: &Conditions<'_>,
    ) -> Result<(), Failure> {
        let next = Self::open(bundle, trust, conditions)?;
        trust.must_follow(self.header.label.revision, next.header.label.revision)?;
        *self = next;
        Ok(())
    }

    pub(crate) const fn header(&self) -> (&Header, &[KeyId]) {
        (&self.header, self.signers.as_slice())
    }

    /// Returns a number that differs between most bundles.
    #[cfg(feature = "component")]
    pub(crate) fn tag(&self) -> u32 {
        self.header.content.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Returns true if the bundle has expired at `seconds` since 1970, or could have if no time is
    /// passed.
    pub(crate) fn may_have_expired(&self, seconds: Option<i64>) -> bool {
        let is_past = |expires| seconds.is_none_or(|seconds| seconds >= expires);
        self.table().expires().is_some_and(is_past)
    }

    pub(crate) const fn table(&self) -> &PolicyTable {
        self.policies.table()
    }

    pub(crate) fn is_allowed(&self, request: &[u8], now: Timestamp) -> Result<bool, Failure> {
        Ok(self.policies.is_allowed_json(request, now)?)
    }

    pub(crate) fn check(&self, request: &[u8], now: Timestamp) -> Result<Decision, Failure> {
        Ok(self.policies.check(&documents::check(request)?, now))
    }

    /// Returns the indices of the resources on which the action is allowed.
    pub(crate) fn filter(&self, request: &[u8], now: Timestamp) -> Result<Vec<u32>, Failure> {
        let (mut request, resources) = documents::batch(request)?;
        let action = request.actions.first().cloned().unwrap_or_default();
        let mut allowed = Vec::new();
        for (position, resource) in (0..).zip(resources) {
            request.resource = resource;
            if self.policies.is_allowed(&request, &action, now) {
                allowed.push(position);
            }
        }
        Ok(allowed)
    }

    pub(crate) fn explain(&self, request: &[u8], now: Timestamp) -> Result<String, Failure> {
        let request = documents::question(request)?;
        Ok(wire::explanation_json(&self.policies.explain(&request, now)))
    }

    /// Decides a recorded decision again; `None` where its evidence gives no answer.
    pub(crate) fn replay(&self, decision: &RecordedDecision<'_>, micros: i64) -> Vec<Option<bool>> {
        replay(&self.policies, &decision.targets, decision.evidence, micros)
    }

    pub(crate) fn evaluate(&self, request: &[u8], now: Timestamp) -> Result<String, Failure> {
        let request = authzen::evaluation(request)?.request(&NoDirectory)?;
        Ok(authzen::response(&self.policies.check(&request, now)))
    }
}

/// Reads the time of a decision.
pub(crate) fn time(seconds: i64, nanoseconds: u32) -> Result<Timestamp, Failure> {
    Timestamp::new(seconds, nanoseconds).ok_or_else(|| {
        let message =
            format!("the time is outside the years 1 to 9999: {seconds} s, {nanoseconds} ns");
        Failure::new(Kind::Time, message)
    })
}
