//! The decision algorithm: one table, one request, one decision.
//!
//! Pure and total: it reads no clock, does no I/O and cannot fail. For each action the principal's
//! own policies come first. Then each role of the principal is tried in the order of the request,
//! together with the roles that it inherits from: scopes from the most specific to the root, a deny
//! beats an allow, and the first role that is allowed wins. Without a rule that applies, the action
//! is denied.

#[cfg(feature = "ratelimit")]
pub mod charges;
pub mod coded;
mod condition;
pub(crate) mod memo;
#[cfg(feature = "observe")]
pub mod observe;
#[cfg(feature = "observe")]
mod part;
#[cfg(feature = "observe")]
mod reads;
mod record;
mod roles;
pub mod scopes;
mod session;
#[cfg(feature = "observe")]
mod topics;
mod validation;
mod verdict;
mod visited;
mod walk;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[cfg(feature = "ratelimit")]
pub use charges::{Charge, LimitError, Met, PlainCharge, PlainPart, Rounded, tokens};
#[cfg(feature = "observe")]
pub use reads::{Attribute, Owner, Sourced};
pub use record::{Leaf, Outcome, Step};
#[cfg(feature = "observe")]
pub use topics::TopicsDecision;

use crate::budget::Budget;
use crate::cel::{Activation, Timestamp};
use crate::decision::{Decision, ValidationError};
use crate::order;
use crate::request::Request;
use crate::table::PolicyTable;
use record::{Record, Trace};
use session::Session;
use validation::Validation;
use verdict::{Policy, Verdict, Why};

/// A decision, and every rule that was considered on the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The decision, the same that [`PolicyTable::check`] returns.
    pub decision: Decision,
    /// The rules, in the order in which they were considered, up to
    /// [`MAX_EXPLANATION_BYTES`](crate::limits::MAX_EXPLANATION_BYTES) of them.
    pub steps: Vec<Step>,
}

impl PolicyTable {
    /// Returns true if the principal of `request` may perform `action`; the list of actions of the
    /// request is not read. `now` is the value of `now()` in conditions.
    ///
    /// [`PolicyTable::check`] of this one action has the same effect, unless the variables and
    /// outputs that only a check evaluates bring the request to its limit: then the check denies.
    ///
    /// Allocates only if a condition builds a value or fails.
    #[must_use]
    pub fn is_allowed(&self, request: &Request, action: &str, now: Timestamp) -> bool {
        self.is_allowed_within(request, action, now, &Budget::default())
    }

    /// Decides like [`PolicyTable::is_allowed`] and takes the steps from `budget`.
    #[must_use]
    pub fn is_allowed_within(
        &self,
        request: &Request,
        action: &str,
        now: Timestamp,
        budget: &Budget,
    ) -> bool {
        let pool = self.pool();
        let session = Session::new(self, &pool, (request, now), None, budget);
        session.answer(action, budget, Session::allows)
    }

    /// Decides every action of `request`. `now` is the value of `now()` in conditions.
    #[must_use]
    pub fn check(&self, request: &Request, now: Timestamp) -> Decision {
        self.check_within(request, now, &Budget::default())
    }

    /// Decides like [`PolicyTable::check`] and takes the steps from `budget`. Actions for which
    /// they do not suffice are denied, with the reason that the request reached a limit.
    #[must_use]
    pub fn check_within(&self, request: &Request, now: Timestamp, budget: &Budget) -> Decision {
        self.run(request, now, None, budget).0
    }

    /// Decides like [`PolicyTable::check`]. The second value is true if an expression has read
    /// `now`; if none has, the decision is the same at every time.
    #[must_use]
    pub fn check_timed(&self, request: &Request, now: Timestamp) -> (Decision, bool) {
        let (decision, _, depends_on_time) = self.run(request, now, None, &Budget::default());
        (decision, depends_on_time)
    }

    /// Decides like [`PolicyTable::explain`]. The second value is true if an expression has read
    /// `now`.
    #[must_use]
    pub fn explain_timed(&self, request: &Request, now: Timestamp) -> (Explanation, bool) {
        let trace = Some(Trace::default());
        let (decision, trace, depends_on_time) = self.run(request, now, trace, &Budget::default());
        (Explanation { decision, steps: trace.unwrap_or_default().steps }, depends_on_time)
    }

    /// Decides like [`PolicyTable::check`] and returns every rule that was considered as well, with
    /// its outcome.
    #[must_use]
    pub fn explain(&self, request: &Request, now: Timestamp) -> Explanation {
        self.explain_within(request, now, &Budget::default())
    }

    /// Decides like [`PolicyTable::explain`] and takes the steps from `budget`.
    #[must_use]
    pub fn explain_within(
        &self,
        request: &Request,
        now: Timestamp,
        budget: &Budget,
    ) -> Explanation {
        let (decision, trace, _) = self.run(request, now, Some(Trace::default()), budget);
        Explanation { decision, steps: trace.unwrap_or_default().steps }
    }

    fn run(
        &self,
        request: &Request,
        now: Timestamp,
        trace: Option<Trace>,
        budget: &Budget,
    ) -> (Decision, Option<Trace>, bool) {
        let pool = self.pool();
        let record = Record { trace, ..Record::default() };
        Session::new(self, &pool, (request, now), Some(record), budget).conclude(budget)
    }
}

/// Returns the actions in their order, each once, with the index of its first occurrence.
fn distinct(actions: &[String]) -> Vec<(usize, &str)> {
    let mut all: Vec<(usize, &str)> = actions.iter().map(String::as_str).enumerate().collect();
    if all.len() > 1 {
        let mut sorted = all.clone();
        order::sort_by(&mut sorted, |(_, a), (_, b)| a.cmp(b));
        let mut is_first: Vec<bool> = alloc::vec![true; all.len()];
        for pair in sorted.windows(2) {
            if let [(_, before), (index, action)] = pair
                && before == action
                && let Some(first) = is_first.get_mut(*index)
            {
                *first = false;
            }
        }
        all.retain(|(index, _)| is_first.get(*index) == Some(&true));
    }
    all
}

impl<'a> Session<'a> {
    /// Decides every action of the request.
    fn conclude(&self, budget: &Budget) -> (Decision, Option<Trace>, bool) {
        let (verdicts, validation_errors) = self.verdicts();
        self.settle(budget);
        self.decision(&verdicts, validation_errors)
    }

    /// Returns the verdict on each distinct action, with the index of the action, and the
    /// violations of schemas.
    fn verdicts(&self) -> (Vec<(usize, Verdict<'a>)>, Vec<ValidationError>) {
        let has_expired = self.has_expired();
        let actions = &self.request.actions;
        let validation = if has_expired { Validation::default() } else { self.validate(actions) };
        let verdict = |(index, action)| {
            let refused = |why| Verdict::denied(Policy::Resource, why);
            let verdict = if has_expired {
                refused(Why::Expired)
            } else if validation.rejects {
                refused(Why::Schema)
            } else {
                self.decide(action)
            };
            (index, verdict)
        };
        let verdicts = distinct(actions).into_iter().map(verdict).collect();
        (verdicts, validation.errors)
    }

    /// Returns the decision with its texts.
    fn decision(
        &self,
        verdicts: &[(usize, Verdict<'a>)],
        validation_errors: Vec<ValidationError>,
    ) -> (Decision, Option<Trace>, bool) {
        let request = self.request;
        let decided = verdicts.iter().filter_map(|(index, verdict)| {
            Some(verdict.into_decision(self, request.actions.get(*index)?))
        });
        let actions = decided.collect();
        let depends_on_time = self.depends_on_time.get();
        let record = self.take_record();
        let decision = Decision {
            request_id: request.request_id.clone(),
            resource_id: request.resource.id.clone(),
            actions,
            effective_derived_roles: record.derived_roles.iter().map(ToString::to_string).collect(),
            outputs: record.outputs,
            validation_errors,
            evaluation_errors: record.errors,
        };
        (decision, record.trace, depends_on_time)
    }

    /// Returns true if the table has expired. If it can expire, every decision depends on the time.
    pub(crate) fn has_expired(&self) -> bool {
        self.table.expires().is_some() && self.table.is_expired(self.now())
    }
}
