//! The decisions on one request, noted where they are made and recorded with its answer.
//!
//! A request is decided on one thread, from its body to its answer without a pause. What was begun in vain is not
//! recorded.

use std::cell::RefCell;

use wardgate_decision_log::limits::{MAX_ACTIONS, MAX_EVIDENCE_BYTES};
use wardgate_engine::decision::{self, ActionDecision, Decision, Reason};
use wardgate_engine::request::Request;
use wardgate_native::Timestamp;
use wardgate_native::decision_log::{
    CallNotes, Effect, Entry, Evidence, SearchCounts, request_evidence, whole_micros,
};
use wardgate_native::protocol::authzen::{Search, SearchKind, SearchRun};

use super::by_rules::RuleDecision;
use super::recorder::{Recorder, now_micros};

/// A decision, or a search, that is not recorded yet.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    micros: i64,
    /// The number of the rules of SPOCP that decided; without it the policies of the request did.
    rules: Option<u32>,
    request: String,
    principal: String,
    kind: String,
    version: String,
    scope: String,
    resource: String,
    actions: Vec<(String, Effect)>,
    evidence: NotedEvidence,
    search: Option<SearchCounts>,
}

/// The evidence of a decision that is not recorded yet.
#[derive(Clone, Debug)]
enum NotedEvidence {
    None,
    Request(Box<[u8]>),
    Digest([u8; 32]),
    LeftOut,
}

/// What is noted of decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noting {
    has_evidence: bool,
}

/// The decisions on a request.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// The decisions that are to be recorded with their answer.
    pub(crate) noted: Vec<Noted>,
    /// True if others are recorded already.
    pub(crate) has_recorded: bool,
}

thread_local! {
    /// The decisions on the request that this thread decides; `None` where nothing is recorded.
    static NOTED: RefCell<Option<(Noting, Collected)>> = const { RefCell::new(None) };

    /// Memory for the evidence of one decision.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };

    /// Memory for the decisions of a call that a fast path answers.
    static CALL: RefCell<CallNotes> = RefCell::default();
}

/// Answers a call at a time by `answer`, which notes its decisions, and records them under the number of the policies. Returns
/// false with the answer if it must be a denial. It may leave once [`Recorder::kept`] has returned.
pub(crate) fn answered<R>(
    recorder: &Recorder,
    policies: u32,
    (call, now): (&[u8], Timestamp),
    answer: impl FnOnce(&mut CallNotes) -> Option<R>,
) -> Option<(R, bool)> {
    CALL.with_borrow_mut(|notes| {
        notes.begin(now, recorder.has_evidence());
        let answer = answer(notes)?;
        let record =
            |entry: &Entry<'_>, actions: &[(&str, Effect)]| recorder.record(entry, actions);
        let is_recorded = notes.each(call, policies, record);
        NOTED.with_borrow_mut(|noted| {
            if let Some((_, collected)) = noted {
                collected.has_recorded = true;
            }
        });
        Some((answer, is_recorded))
    })
}

/// Calls `decide`, and returns the decisions that it noted or recorded, if they are to be recorded.
pub(crate) fn collected<R>(noting: Option<Noting>, decide: impl FnOnce() -> R) -> (R, Collected) {
    let before = NOTED.replace(noting.map(|noting| (noting, Collected::default())));
    let decided = decide();
    (decided, NOTED.replace(before).map(|(_, collected)| collected).unwrap_or_default())
}

/// Notes a decision at a time, if it is to be recorded.
pub(crate) fn note(request: &Request, decision: &Decision, now: Timestamp) {
    NOTED.with_borrow_mut(|noted| {
        if let Some((noting, collected)) = noted {
            collected.noted.push(Noted::new(*noting, request, decision, now));
        }
    });
}

/// Notes a page of a search at a time, if it is to be recorded: what was decided about many is a search for each run of one kind,
/// version, scope and action; what was decided about actions is a decision. `rules` is the number of the rules of SPOCP that
/// decided; without it the policies of the request did.
pub(crate) fn note_search(
    search: &Search,
    (runs, rules): (&[SearchRun], Option<u32>),
    now: Timestamp,
) {
    let by = |noted| Noted { rules, ..noted };
    NOTED.with_borrow_mut(|noted| {
        let Some((_, Collected { noted, .. })) = noted else { return };
        match (search.search_kind, runs) {
            // A page about nobody was answered too.
            (_, []) => {
                let (kind, action) = (search.resource.kind.clone(), search.action.name.clone());
                let run = SearchRun { kind, action, ..SearchRun::default() };
                noted.push(by(Noted::of_run(&run, now)));
            }
            (SearchKind::Actions, [first, ..]) => {
                noted.push(by(Noted::of_actions(search, (first, runs), now)));
            }
            _ => noted.extend(runs.iter().map(|run| by(Noted::of_run(run, now)))),
        }
    });
}

/// Notes what the policies decided about many as a search for each run, if it is to be recorded.
pub(crate) fn note_runs(runs: &[SearchRun], now: Timestamp) {
    NOTED.with_borrow_mut(|noted| {
        if let Some((_, collected)) = noted {
            collected.noted.extend(runs.iter().map(|run| Noted::of_run(run, now)));
        }
    });
}

/// Notes a decision of rules of SPOCP, if it is to be recorded.
pub(crate) fn note_by_rules(decision: &RuleDecision<'_>) {
    NOTED.with_borrow_mut(|noted| {
        if let Some((_, collected)) = noted {
            collected.noted.push(Noted::by_rules(decision));
        }
    });
}

impl Noting {
    pub(crate) fn of(recorder: &Recorder) -> Self {
        Self { has_evidence: recorder.has_evidence() }
    }
}

impl NotedEvidence {
    fn of(request: &Request, decision: &Decision) -> Self {
        BYTES.with_borrow_mut(|bytes| {
            bytes.resize(MAX_EVIDENCE_BYTES, 0);
            match request_evidence(request, decision, bytes) {
                Evidence::Request(bytes) => Self::Request(bytes.into()),
                Evidence::Digest(digest) => Self::Digest(*digest),
                _ => Self::LeftOut,
            }
        })
    }

    fn as_evidence(&self) -> Evidence<'_> {
        match self {
            Self::None => Evidence::None,
            Self::Request(bytes) => Evidence::Request(bytes),
            Self::Digest(digest) => Evidence::Digest(digest),
            Self::LeftOut => Evidence::TooLarge,
        }
    }
}

impl Noted {
    /// Notes a decision of the policies, which was made at a time of whole microseconds.
    pub(crate) fn new(
        noting: Noting,
        request: &Request,
        decision: &Decision,
        now: Timestamp,
    ) -> Self {
        let resource = &request.resource;
        let names = [&resource.kind, &resource.policy_version, &resource.scope, &resource.id];
        let [kind, version, scope, resource] = names.map(String::clone);
        Self {
            micros: whole_micros(now).1,
            rules: None,
            request: request.request_id.clone(),
            principal: request.principal.id.clone(),
            kind,
            version,
            scope,
            resource,
            actions: outcomes(decision),
            evidence: match noting.has_evidence {
                true => NotedEvidence::of(request, decision),
                false => NotedEvidence::None,
            },
            search: None,
        }
    }

    /// Notes what was decided about an action at a time, without evidence.
    pub(crate) fn of_outcome(
        request: &Request,
        (action, is_allowed): (&str, bool),
        now: Timestamp,
    ) -> Self {
        let resource = &request.resource;
        let effect = if is_allowed { Effect::Allowed } else { Effect::Denied };
        Self {
            micros: whole_micros(now).1,
            rules: None,
            request: request.request_id.clone(),
            principal: request.principal.id.clone(),
            kind: resource.kind.clone(),
            version: resource.policy_version.clone(),
            scope: resource.scope.clone(),
            resource: resource.id.clone(),
            actions: vec![(action.to_owned(), effect)],
            evidence: NotedEvidence::None,
            search: None,
        }
    }

    fn of_run(run: &SearchRun, now: Timestamp) -> Self {
        let SearchRun { asked, allowed, .. } = *run;
        Self {
            micros: whole_micros(now).1,
            rules: None,
            request: String::new(),
            principal: String::new(),
            kind: run.kind.clone(),
            version: run.version.clone(),
            scope: run.scope.clone(),
            resource: String::new(),
            // No filter leaves out what denies an action. The record of a search has no effect.
            actions: vec![(run.action.clone(), Effect::Denied)],
            evidence: NotedEvidence::None,
            search: Some(SearchCounts { asked, allowed }),
        }
    }

    fn of_actions(
        search: &Search,
        (first, runs): (&SearchRun, &[SearchRun]),
        now: Timestamp,
    ) -> Self {
        // Of one action twice in a row, which is one run, all decisions are the same.
        let outcome = |run: &SearchRun| {
            let effect = if run.allowed > 0 { Effect::Allowed } else { Effect::Denied };
            (run.action.clone(), effect)
        };
        Self {
            principal: search.subject.id.clone(),
            resource: search.resource.id.clone(),
            actions: runs.iter().map(outcome).collect(),
            search: None,
            ..Self::of_run(first, now)
        }
    }

    /// Notes a decision of rules of SPOCP.
    fn by_rules(decision: &RuleDecision<'_>) -> Self {
        Self {
            micros: now_micros(),
            rules: Some(decision.rules),
            request: String::new(),
            principal: decision.principal.to_owned(),
            kind: decision.kind().into_owned(),
            version: String::new(),
            scope: String::new(),
            resource: decision.resource().into_owned(),
            actions: vec![(decision.action.to_owned(), decision.effect())],
            evidence: NotedEvidence::None,
            search: None,
        }
    }

    /// Returns the same with the outcomes that rate limits have left. The evidence stays that of the policies.
    pub(crate) fn narrowed(self, decision: &Decision) -> Self {
        Self { actions: outcomes(decision), ..self }
    }

    /// Records the decision under the number of its policies. Returns false if its answer must be a denial.
    pub(crate) fn record(&self, recorder: &Recorder, policies: u32) -> bool {
        let entry = Entry {
            micros: self.micros,
            policies: self.rules.unwrap_or(policies),
            caller: 0,
            is_general: true,
            principal: &self.principal,
            resource: &self.resource,
            kind: &self.kind,
            version: &self.version,
            scope: &self.scope,
            trace: None,
            request: &self.request,
            evidence: self.evidence.as_evidence(),
            search: self.search,
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
