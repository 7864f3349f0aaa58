//! The decisions on one request, noted where they are made and recorded with its answer.
//!
//! A request is decided on one thread, from its body to its answer without a pause. What was begun in vain is not
//! recorded.

use std::cell::RefCell;

use wardgate_engine::decision::{self, ActionDecision, Decision, Reason};
use wardgate_engine::request::Request;
use wardgate_native::decision_log::{Effect, Entry, Evidence};

use super::recorder::{Recorder, now_micros};

/// A decision that is not recorded yet.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    micros: i64,
    request: String,
    principal: String,
    kind: String,
    version: String,
    scope: String,
    resource: String,
    actions: Vec<(String, Effect)>,
}

thread_local! {
    /// The decisions on the request that this thread decides; `None` where nothing is recorded.
    static NOTED: RefCell<Option<Vec<Noted>>> = const { RefCell::new(None) };
}

/// Calls `decide`, and returns the decisions that it noted, if `is_recorded`.
pub(crate) fn collected<R>(is_recorded: bool, decide: impl FnOnce() -> R) -> (R, Vec<Noted>) {
    let before = NOTED.replace(is_recorded.then(Vec::new));
    let decided = decide();
    (decided, NOTED.replace(before).unwrap_or_default())
}

/// Notes a decision, if it is to be recorded.
pub(crate) fn note(request: &Request, decision: &Decision) {
    NOTED.with_borrow_mut(|noted| {
        if let Some(noted) = noted {
            noted.push(Noted::new(request, decision));
        }
    });
}

impl Noted {
    pub(crate) fn new(request: &Request, decision: &Decision) -> Self {
        let resource = &request.resource;
        let names = [&resource.kind, &resource.policy_version, &resource.scope, &resource.id];
        let [kind, version, scope, resource] = names.map(String::clone);
        Self {
            micros: now_micros(),
            request: request.request_id.clone(),
            principal: request.principal.id.clone(),
            kind,
            version,
            scope,
            resource,
            actions: outcomes(decision),
        }
    }

    /// Returns the same with the outcomes that rate limits have left.
    pub(crate) fn narrowed(self, decision: &Decision) -> Self {
        Self { actions: outcomes(decision), ..self }
    }

    /// Records the decision under the number of its policies. Returns false if its answer must be a denial.
    pub(crate) fn record(&self, recorder: &Recorder, policies: u32) -> bool {
        let entry = Entry {
            micros: self.micros,
            policies,
            caller: 0,
            is_general: true,
            principal: &self.principal,
            resource: &self.resource,
            kind: &self.kind,
            version: &self.version,
            scope: &self.scope,
            trace: None,
            request: &self.request,
            evidence: Evidence::None,
        };
        // A record has at most so many actions; a request with more has several.
        self.actions.chunks(MAX_ACTIONS).all(|actions| {
            let actions: Vec<_> = actions.iter().map(|(name, effect)| (&**name, *effect)).collect();
            recorder.record(&entry, &actions)
        })
    }
}

fn outcomes(decision: &Decision) -> Vec<(String, Effect)> {
    let outcome = |action: &ActionDecision| (action.action.clone(), effect(action));
    decision.actions.iter().map(outcome).collect()
}

fn effect(action: &ActionDecision) -> Effect {
    match (action.effect, &action.reason) {
        (decision::Effect::Allow, _) => Effect::Allowed,
        (_, Reason::Limited(_) | Reason::LimitError(_) | Reason::StoreAway(_)) => Effect::Limited,
        _ => Effect::Denied,
    }
}

const MAX_ACTIONS: usize = wardgate_decision_log::limits::MAX_ACTIONS;
