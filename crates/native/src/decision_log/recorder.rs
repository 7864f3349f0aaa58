//! Deciding and recording in one step.
//!
//! A decision stays on its fast path. It is made at a time of whole microseconds, as its record holds it, so that it can be
//! made again from the record. **An error gives no answer but a denial.**

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{self, ActionDecision, Decision};
use wardgate_engine::request::Request;

use super::entry::{Entry, Evidence};
use super::evidence::{Recordable, decide_fast, part, request_evidence, whole};
use super::ring::RingWriter;
use crate::fast::index::Target;
use crate::fast::request::RequestInput;
use crate::field::Lookup;
use crate::pdp::Pdp;
use crate::policies::Policies;
use crate::question::Question;
use wardgate_decision_log::limits::MAX_EVIDENCE_BYTES;
use wardgate_decision_log::record::Effect;

/// Decides questions and writes each decision into the ring of its thread.
///
/// ```no_run
/// use wardgate_native::decision_log::{Recorder, Recording, ring};
/// use wardgate_native::{Clock, Pdp, PrincipalRef, Question, ResourceRef, SystemClock, Trust};
///
/// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
/// let (writer, reader) = ring(1 << 20);
/// let recording = Recording { has_evidence: true, denies_unrecorded: true, caller: 0 };
/// let mut recorder = Recorder::new(writer, recording);
/// let attributes = vec![("owner", "ada")];
/// let question = Question {
///     principal: PrincipalRef::new("ada", &["member"], &()),
///     action: "delete",
///     resource: ResourceRef::new("document", "d1", &attributes),
/// };
/// let is_allowed = recorder.is_allowed(&pdp, &question, SystemClock.now());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recorder {
    writer: RingWriter,
    recording: Recording,
    /// Memory for the evidence of one decision.
    bytes: Box<[u8]>,
}

/// Sets what a recorder records, and how it treats a decision that it cannot record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recording {
    /// True if each entry has the evidence for its decision: of a request of more than 16 KiB the digest.
    pub has_evidence: bool,
    /// True if a decision for whose entry there is no room is a denial.
    pub denies_unrecorded: bool,
    /// The number that the host gives to the caller; 0 is the host itself.
    pub caller: u16,
}

impl Recorder {
    /// Makes a recorder of a thread. Its memory is taken here.
    #[must_use]
    pub fn new(writer: RingWriter, recording: Recording) -> Self {
        let bytes = if recording.has_evidence { MAX_EVIDENCE_BYTES } else { 0 };
        Self { writer, recording, bytes: vec![0; bytes].into() }
    }

    /// Returns true if the principal of a question may perform its action, and records the answer under the serial number
    /// of the policies in the PDP. Allocates nothing where a fast path decides.
    #[must_use]
    pub fn is_allowed<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized>(
        &mut self,
        pdp: &Pdp,
        question: &Question<'_, S, P, R>,
        now: Timestamp,
    ) -> bool {
        self.decide(&pdp.current(), question, now)
    }

    /// Decides like [`Recorder::is_allowed`] about a request; its list of actions is not read.
    #[must_use]
    pub fn is_allowed_request(
        &mut self,
        pdp: &Pdp,
        request: &Request,
        action: &str,
        now: Timestamp,
    ) -> bool {
        self.decide(&pdp.current(), &RequestInput { request, action }, now)
    }

    /// Decides every action of a request by the general path, and records the answers. Returns `None` if nothing may be
    /// decided unrecorded and there is no room.
    #[must_use]
    pub fn check(&mut self, pdp: &Pdp, request: &Request, now: Timestamp) -> Option<Decision> {
        let policies = pdp.current();
        let (now, micros) = whole_micros(now);
        let decision = policies.check(request, now);
        let Self { writer, recording, bytes } = self;
        let evidence = match recording.has_evidence {
            true => request_evidence(request, &decision, bytes),
            false => Evidence::None,
        };
        let mut are_recorded = true;
        // An entry has so many actions at most.
        for actions in decision.actions.chunks(MAX_ACTIONS) {
            let entry = Entry {
                micros,
                policies: number(&policies),
                caller: recording.caller,
                is_general: true,
                principal: &request.principal.id,
                resource: &request.resource.id,
                kind: &request.resource.kind,
                version: &request.resource.policy_version,
                scope: &request.resource.scope,
                evidence,
                ..Entry::default()
            };
            let outcome =
                |action: &ActionDecision| effect(action.effect == decision::Effect::Allow);
            let outcomes = actions.iter().map(|action| (&*action.action, outcome(action)));
            let outcomes: Vec<_> = outcomes.collect();
            are_recorded &= writer.write(&entry, &outcomes);
        }
        (are_recorded || !recording.denies_unrecorded).then_some(decision)
    }

    /// Returns the writer, to end the recording or to look at its room.
    #[must_use]
    pub fn into_writer(self) -> RingWriter {
        self.writer
    }

    #[inline]
    fn decide(&mut self, policies: &Policies, question: &impl Recordable, now: Timestamp) -> bool {
        let (now, micros) = whole_micros(now);
        let Self { writer, recording, bytes } = self;
        let has_evidence = recording.has_evidence;
        let memory = has_evidence.then_some(&mut **bytes);
        let (fast, read) = decide_fast(policies, question, now, memory);
        let is_allowed = fast.unwrap_or_else(|| question.decide_general(policies, now));
        let evidence = match read {
            Some(length) => Evidence::Read(part(bytes, length)),
            None if has_evidence => {
                whole(bytes, |writer| question.write(writer), || question.digest())
            }
            None => Evidence::None,
        };
        let Target { kind, action, policy_version, scope } = question.target();
        let entry = Entry {
            micros,
            policies: number(policies),
            caller: recording.caller,
            is_general: fast.is_none(),
            principal: question.principal(),
            resource: question.resource(),
            kind,
            version: policy_version,
            scope,
            evidence,
            ..Entry::default()
        };
        let is_recorded = writer.write(&entry, &[(action, effect(is_allowed))]);
        is_allowed && (is_recorded || !recording.denies_unrecorded)
    }
}

/// Returns a time without its part below a microsecond, as a record holds it, and its microseconds since 1970.
#[must_use]
pub fn whole_micros(now: Timestamp) -> (Timestamp, i64) {
    let micros = now.nanos() / 1000;
    let whole = Timestamp::new(now.seconds(), micros * 1000).unwrap_or_default();
    (whole, whole.seconds().saturating_mul(1_000_000).saturating_add(micros.into()))
}

fn number(policies: &Policies) -> u32 {
    u32::try_from(policies.serial()).unwrap_or(u32::MAX)
}

pub(super) const fn effect(is_allowed: bool) -> Effect {
    if is_allowed { Effect::Allowed } else { Effect::Denied }
}

const MAX_ACTIONS: usize = wardgate_decision_log::limits::MAX_ACTIONS;
