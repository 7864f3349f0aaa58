//! A limit that an action meets, as a host reports it.

use std::sync::Arc;

use wardgate_engine::decide::Met;
use wardgate_engine::decision::{ActionDecision, Effect, Reason};
use wardgate_ratelimit::{Admission, Outcome};
use wardgate_ratelimit_store::{Demand, Key, Standing};

use super::places::Demanded;
use crate::plain_limits::{self, PlainLimit};

/// A rate limit that an action meets, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetLimit {
    /// The name.
    pub name: Arc<str>,
    /// True if the limit never denies.
    pub is_shadow: bool,
    /// The digest of the key; `None` if it is unknown.
    pub key: Option<[u8; 16]>,
    /// The tokens of a window; 0 if they are unknown.
    pub quota: u64,
    /// The microseconds of the window; `None` for a month of the calendar.
    pub window: Option<u64>,
    /// The tokens that the action takes.
    pub cost: u64,
    /// The outcome of the charge.
    pub state: LimitState,
    /// The tokens that are left, if the limit was asked. While the store is away these are of the
    /// share of this process.
    pub remaining: Option<u64>,
    /// The microseconds until the key is full if nothing more is charged, if the limit was asked.
    pub reset: Option<u64>,
}

/// The outcome of the charge of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitState {
    /// The tokens were taken.
    Charged,
    /// The tokens are there, and were not taken: another limit denies.
    Spared,
    /// The tokens are not there.
    Refused {
        /// The microseconds after which they are, if nothing else is charged.
        retry: u64,
    },
    /// The tokens will never be there: the cost is more than a full key has.
    Never,
    /// The store is away.
    Away {
        /// True if the limit does not hold then; else it denies.
        is_allowed: bool,
    },
    /// An expression of the limit failed, or its value cannot be used.
    Failed {
        /// The error, in words.
        message: String,
    },
}

impl LimitState {
    /// Returns true if the tokens are not there.
    #[must_use]
    pub const fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Never)
    }
}

impl MetLimit {
    /// Returns the limit number `at` that an action meets, and what it asks of its store.
    pub(super) fn of(met: &Met<'_>, at: usize) -> (Self, Option<Demanded>) {
        let limit = &met.limit;
        let mut found = Self {
            name: limit.name().into(),
            is_shadow: !met.is_enforced(),
            key: None,
            quota: 0,
            window: limit.window(),
            cost: 0,
            state: LimitState::Spared,
            remaining: None,
            reset: None,
        };
        match demand(met) {
            Ok(demand) => {
                found.key = Some(*demand.key.bytes());
                (found.quota, found.cost) = (demand.terms.quota(), demand.cost);
                (found, Some(Demanded { at, demand, consistency: limit.consistency() }))
            }
            Err(message) => {
                found.state = LimitState::Failed { message };
                (found, None)
            }
        }
    }

    /// Returns the limit number `at` that an action meets with a key, and what it asks of its store.
    pub(super) fn of_plain(plain: &PlainLimit, key: Key, at: usize) -> (Self, Demanded) {
        let PlainLimit { limit, terms, cost, consistency, .. } = plain;
        let demand = Demand { limit: limit.clone(), key, terms: *terms, cost: *cost };
        (Self::unasked(plain, key), Demanded { at, demand, consistency: *consistency })
    }

    /// Returns a plain limit with a key, of which no store was asked yet.
    pub(super) fn unasked(plain: &PlainLimit, key: Key) -> Self {
        Self {
            name: plain.limit.shared_name(),
            is_shadow: plain.is_shadow,
            key: Some(*key.bytes()),
            quota: plain.terms.quota(),
            window: plain.window,
            cost: plain.cost,
            state: LimitState::Spared,
            remaining: None,
            reset: None,
        }
    }

    pub(super) const fn has_failed(&self) -> bool {
        matches!(self.state, LimitState::Failed { .. })
    }

    /// Notes what became of the demand; `is_charged` says if a charge of it was done.
    pub(super) fn note(&mut self, standing: &Standing, is_charged: bool) {
        match standing {
            Standing::Known(outcome) | Standing::Local(outcome) => {
                self.note_outcome(outcome, is_charged);
            }
            Standing::Denied => self.state = LimitState::Away { is_allowed: false },
            Standing::Allowed => self.state = LimitState::Away { is_allowed: true },
        }
    }

    pub(super) fn note_outcome(&mut self, outcome: &Outcome, is_charged: bool) {
        (self.remaining, self.reset) = (Some(outcome.remaining), Some(outcome.reset));
        self.state = match outcome.admission {
            Admission::Allowed if is_charged => LimitState::Charged,
            Admission::Allowed => LimitState::Spared,
            Admission::After { micros } => LimitState::Refused { retry: micros },
            Admission::Never => LimitState::Never,
        };
    }

    /// Denies an action that the policies allow, if the limit refuses it. The limit is the only one that the
    /// action meets.
    pub(super) fn narrow(&self, action: &mut ActionDecision) {
        if !self.is_shadow && self.state.is_refused() && action.effect == Effect::Allow {
            action.effect = Effect::Deny;
            action.reason = Reason::Limited(self.name.to_string());
        }
    }

    /// Notes that the tokens were given back, with the outcome of that.
    pub(super) fn note_refund(&mut self, standing: Option<&Standing>) {
        self.state = LimitState::Spared;
        if let Some(Standing::Known(outcome) | Standing::Local(outcome)) = standing {
            (self.remaining, self.reset) = (Some(outcome.remaining), Some(outcome.reset));
        }
    }
}

fn demand(met: &Met<'_>) -> Result<Demand, String> {
    let charge = met.charge.as_ref().map_err(|error| error.message())?;
    let terms = plain_limits::terms(&met.limit, charge.quota)?;
    let limit = plain_limits::limit(&met.limit)?;
    Ok(Demand {
        limit,
        key: Key::new(charge.key.iter().map(Vec::as_slice)),
        terms,
        cost: charge.cost,
    })
}
