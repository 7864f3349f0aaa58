//! The decisions of one call on its fast path, noted until all of the call is answered.
//!
//! A call that turns out to be one for the general path is decided anew there, so nothing of it may be recorded before its end.
//! Names are noted by their positions in the text of the call, and the next call uses the same memory: **once it is large
//! enough, noting allocates nothing.**

use wardgate_decision_log::limits::MAX_EVIDENCE_BYTES;
use wardgate_decision_log::record::Effect;
use wardgate_engine::cel::Timestamp;

use super::entry::{Entry, Evidence};
use super::evidence::{MAX_OUTCOME_BYTES, decide_fast};
use super::recorder::{effect, whole_micros};
use crate::fast::index::Target;
use crate::fast::input::FastInput;
use crate::fast::json::input::JsonInput;
use crate::names::Names;
use crate::policies::Policies;
use crate::protocol::authzen::fast as authzen;
use crate::protocol::cerbos::fast::{Answered, CallLimits, Decide, MAX_COMPARED, written};

/// The decisions of one call.
#[derive(Debug, Default)]
pub struct CallNotes {
    has_evidence: bool,
    now: Timestamp,
    request: Span,
    principal: Span,
    resources: Vec<NotedResource>,
    actions: Vec<(Span, Effect)>,
    evidence: Vec<u8>,
    /// True if the next action is about the last one of the resources.
    is_open: bool,
}

/// The decisions about one resource.
#[derive(Debug)]
struct NotedResource {
    id: Span,
    kind: Span,
    version: Span,
    scope: Span,
    /// The end of its actions, which begin where those of the resource before end.
    actions: usize,
    /// The end of its evidence, likewise.
    evidence: usize,
}

/// The position of a part of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: usize,
    length: usize,
}

impl CallNotes {
    /// Forgets the last call, and begins one whose decisions are made at a time. It loses its part below a microsecond.
    pub fn begin(&mut self, now: Timestamp, has_evidence: bool) {
        (self.now, self.has_evidence) = (whole_micros(now).0, has_evidence);
        (self.request, self.principal, self.is_open) = Default::default();
        self.resources.clear();
        self.actions.clear();
        self.evidence.clear();
    }

    /// Calls `record` with the decisions about each resource of a call, under the number of the policies. Ends and returns
    /// false where that returns false.
    #[must_use]
    pub fn each(
        &self,
        call: &[u8],
        policies: u32,
        mut record: impl FnMut(&Entry<'_>, &[(&str, Effect)]) -> bool,
    ) -> bool {
        let ((_, micros), mut outcomes) =
            (whole_micros(self.now), [("", Effect::Denied); MAX_COMPARED]);
        let (mut action, mut part) = (0, 0);
        self.resources.iter().all(|resource| {
            let actions = self.actions.get(action..resource.actions).unwrap_or_default();
            let bytes = self.evidence.get(part..resource.evidence).unwrap_or_default();
            (action, part) = (resource.actions, resource.evidence);
            for (outcome, (name, effect)) in outcomes.iter_mut().zip(actions) {
                *outcome = (name.of(call), *effect);
            }
            let entry = Entry {
                micros,
                policies,
                principal: self.principal.of(call),
                resource: resource.id.of(call),
                kind: resource.kind.of(call),
                version: resource.version.of(call),
                scope: resource.scope.of(call),
                request: self.request.of(call),
                evidence: if self.has_evidence { Evidence::Read(bytes) } else { Evidence::None },
                ..Entry::default()
            };
            record(&entry, outcomes.get(..actions.len()).unwrap_or_default())
        })
    }

    /// Decides by the fast path, and notes the answer. Returns `None` if it is unsure or its evidence does not fit.
    fn decide(&mut self, policies: &Policies, call: &[u8], input: &JsonInput<'_>) -> Option<bool> {
        let (begin, known) = self.begin_action(call, input);
        let (decided, written) = match self.has_evidence {
            false => decide_fast(policies, input, self.now, None),
            true => {
                self.evidence.resize(known.checked_add(MAX_OUTCOME_BYTES)?, 0);
                decide_fast(policies, input, self.now, self.evidence.get_mut(known..))
            }
        };
        let is_allowed = decided?;
        if self.has_evidence {
            let end = known.checked_add(written?)?;
            self.evidence.truncate(end);
            if end.saturating_sub(begin) > MAX_EVIDENCE_BYTES || end > MAX_CALL_EVIDENCE_BYTES {
                return None;
            }
        }
        self.actions.push((Span::in_text(call, input.target().action), effect(is_allowed)));
        let resource = self.resources.last_mut()?;
        (resource.actions, resource.evidence) = (self.actions.len(), self.evidence.len());
        Some(is_allowed)
    }

    /// Notes the names of a question. Returns the beginning and the end of the evidence about its resource.
    fn begin_action(&mut self, call: &[u8], input: &JsonInput<'_>) -> (usize, usize) {
        let end = self.evidence.len();
        if self.is_open {
            let before = self.resources.iter().rev().nth(1);
            return (before.map_or(0, |before| before.evidence), end);
        }
        self.is_open = true;
        let span = |part| Span::in_text(call, part);
        let Target { kind, policy_version, scope, .. } = input.target();
        let [id, kind, version, scope] = [input.resource(), kind, policy_version, scope].map(span);
        self.principal = span(input.principal());
        let actions = self.actions.len();
        self.resources.push(NotedResource { id, kind, version, scope, actions, evidence: end });
        (end, end)
    }
}

impl Span {
    /// Returns the position of a part of this text; of a part that is none, an empty one.
    fn in_text(text: &[u8], part: &str) -> Self {
        let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr());
        start.map_or(Self::default(), |start| Self { start, length: part.len() })
    }

    fn of(self, text: &[u8]) -> &str {
        let end = self.start.saturating_add(self.length);
        let part = text.get(self.start..end).unwrap_or_default();
        core::str::from_utf8(part).unwrap_or_default()
    }
}

impl Policies {
    /// Answers like [`Policies::answer_call`] at the time of the notes, and notes the decisions. Returns `None` also where their
    /// evidence does not fit; the notes are then good for nothing.
    #[must_use]
    pub fn answer_call_noted(
        &self,
        call: &[u8],
        limits: CallLimits,
        notes: &mut CallNotes,
    ) -> Option<Answered> {
        let decider = NotedDecider::new(self, call, notes)?;
        written(call, limits, decider).map(|(answered, _)| answered)
    }

    /// Answers like [`Policies::answer_evaluation`] at the time of the notes, and notes the decision. Returns `None` also
    /// where its evidence does not fit; the notes are then good for nothing.
    #[must_use]
    pub fn answer_evaluation_noted(
        &self,
        evaluation: &[u8],
        notes: &mut CallNotes,
    ) -> Option<bool> {
        let mut decider = NotedDecider::new(self, evaluation, notes)?;
        authzen::answer(evaluation, |input| decider.decide(input))
    }
}

/// Decides on a fast path and notes.
struct NotedDecider<'n> {
    policies: &'n Policies,
    kinds_with_outputs: &'n Names<()>,
    call: &'n [u8],
    notes: &'n mut CallNotes,
}

impl<'n> NotedDecider<'n> {
    fn new(policies: &'n Policies, call: &'n [u8], notes: &'n mut CallNotes) -> Option<Self> {
        let kinds_with_outputs = policies.kinds_with_outputs.as_ref()?;
        Some(Self { policies, kinds_with_outputs, call, notes })
    }
}

impl Decide for NotedDecider<'_> {
    fn decide(&mut self, input: &JsonInput<'_>) -> Option<bool> {
        let kind = input.target().kind;
        if !self.policies.has_effects_only(self.kinds_with_outputs, kind) {
            return None;
        }
        self.notes.decide(self.policies, self.call, input)
    }

    fn note_end(&mut self, _at: usize) {
        self.notes.is_open = false;
    }

    fn note_request(&mut self, id: &str) {
        self.notes.request = Span::in_text(self.call, id);
    }
}

/// The most bytes of the evidence for all decisions of a call.
const MAX_CALL_EVIDENCE_BYTES: usize = 256 << 10;
