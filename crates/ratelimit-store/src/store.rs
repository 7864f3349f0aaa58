//! What every store does: charge, look, refund and reset, over all limits of a check.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use wardgate_ratelimit::{Operation, Outcome};

use crate::demand::Demands;
use crate::memory::Memory;

/// A place in which the states of limits are.
///
/// **A charge takes the cost of every demand or of none.** It was done if and only if each outcome
/// is allowed. An error says nothing about the states: the store may have charged before it was
/// lost, and never twice.
pub trait Store: Send + Sync {
    /// Does one thing for all demands.
    fn run(
        &self,
        action: Action,
        demands: &Demands,
    ) -> impl Future<Output = Result<Vec<Outcome>, Away>> + Send;

    /// Does one thing for each check, as if they followed each other: each charges all of its demands or
    /// none, whatever becomes of the others. Stores on a network make few calls of it.
    fn run_each(
        &self,
        checks: &[(Action, Demands)],
    ) -> impl Future<Output = Vec<Result<Vec<Outcome>, Away>>> + Send {
        async move {
            let mut all = Vec::with_capacity(checks.len());
            for (action, demands) in checks {
                all.push(self.run(*action, demands).await);
            }
            all
        }
    }

    /// Returns the memory of this process, if the states are there: it is never away, and charging
    /// it needs no wait.
    fn memory(&self) -> Option<&Memory> {
        None
    }

    /// Takes the tokens of all demands, or none. Returns an outcome for each.
    fn charge(&self, demands: &Demands) -> impl Future<Output = Result<Vec<Outcome>, Away>> + Send {
        self.run(Action::Charge, demands)
    }

    /// Tells what a charge would meet.
    fn look(&self, demands: &Demands) -> impl Future<Output = Result<Vec<Outcome>, Away>> + Send {
        self.run(Action::Look, demands)
    }

    /// Returns the tokens of all demands.
    fn refund(&self, demands: &Demands) -> impl Future<Output = Result<Vec<Outcome>, Away>> + Send {
        self.run(Action::Refund, demands)
    }

    /// Makes the keys of all demands full. It is for administrators.
    fn reset(&self, demands: &Demands) -> impl Future<Output = Result<Vec<Outcome>, Away>> + Send {
        self.run(Action::Reset, demands)
    }
}

impl<S: Store> Store for Arc<S> {
    fn run(
        &self,
        action: Action,
        demands: &Demands,
    ) -> impl Future<Output = Result<Vec<Outcome>, Away>> + Send {
        S::run(self, action, demands)
    }

    fn run_each(
        &self,
        checks: &[(Action, Demands)],
    ) -> impl Future<Output = Vec<Result<Vec<Outcome>, Away>>> + Send {
        S::run_each(self, checks)
    }

    fn memory(&self) -> Option<&Memory> {
        S::memory(self)
    }
}

/// The operation that a store does for each demand, with its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// See [`Operation::Charge`].
    Charge,
    /// See [`Operation::Look`].
    Look,
    /// See [`Operation::Refund`].
    Refund,
    /// See [`Operation::Reset`].
    Reset,
}

impl Action {
    /// Returns the operation with a cost.
    pub const fn with(self, cost: u64) -> Operation {
        match self {
            Self::Charge => Operation::Charge(cost),
            Self::Look => Operation::Look(cost),
            Self::Refund => Operation::Refund(cost),
            Self::Reset => Operation::Reset,
        }
    }
}

/// The reason for which a store gave no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Away {
    /// It failed a number of times in a row, and is asked again in a moment.
    Open,
    /// It did not answer in time.
    Late,
    /// Too many checks wait for it.
    Crowded,
    /// There is no connection, or it broke.
    Lost,
    /// It refused the call with this code, such as `READONLY` or `OOM`.
    Refused {
        /// The code.
        code: String,
    },
    /// Its reply is none to such a call.
    Garbled,
}

impl fmt::Display for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("the store of limits failed before and is not asked now"),
            Self::Late => f.write_str("the store of limits did not answer in time"),
            Self::Crowded => f.write_str("too many checks wait for the store of limits"),
            Self::Lost => f.write_str("no connection to the store of limits"),
            Self::Refused { code } => write!(f, "the store of limits refused with `{code}`"),
            Self::Garbled => f.write_str("expected outcomes of limits, found another reply"),
        }
    }
}

impl core::error::Error for Away {}
