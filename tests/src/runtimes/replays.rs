//! Logs of decisions on generated requests, which every runtime decides again from their evidence.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_bundle::{Conditions, Trust, open};
use wardgate_decision_log::frame::{Draft, FramePosition, START};
use wardgate_decision_log::record::{Body, Policies, ShortText};
use wardgate_decision_log::redaction::{HiddenValue, LogSecret, SubjectKey};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_native::Pdp;
use wardgate_native::decision_log::{
    Assembler, Drained, Evidence, EvidenceForm, Form, Recorder, Recording, Redaction, RingReader, Sink, ring,
    whole_micros,
};

use super::decisions::Size;
use super::{Entry, Put, Suite};
use crate::check;
use crate::compiled::Compiled;
use crate::generate::{World, worlds};

/// Puts the logs, and the answers of another bundle that differs by one rule. Policies that do not compile are left out.
pub(super) fn entries(size: &Size, put: &mut Put<'_>) -> Result<(), String> {
    let mut left = size.replays;
    for (number, world) in worlds(size.seed, PER_WORLD).enumerate() {
        if left == 0 {
            break;
        }
        // Plain worlds have more fast paths.
        let world = if number.is_multiple_of(2) { world } else { world.plain() };
        let changed = world.clone().with_changed_rule(number);
        let (Ok(compiled), Ok(changed)) = (world.compiled(), changed.compiled()) else { continue };
        let mut logged = Logged::new(compiled)?;
        for (at, json) in world.requests.iter().take(left).enumerate() {
            logged.decide(&check::request(json)?, at, &changed)?;
        }
        left = left.saturating_sub(logged.answers.len());
        put(logged.entry(format!("world {number}"), &changed.bundle))?;
    }
    Ok(())
}

/// The policies of a world, and the log of their decisions.
struct Logged {
    pdp: Pdp,
    bundle: Vec<u8>,
    now: Timestamp,
    recorder: Recorder,
    reader: RingReader,
    assembler: Assembler,
    segment: SegmentWriter,
    answers: Vec<Vec<u8>>,
    /// The answers of the bundle with a changed rule.
    changed: Vec<Option<bool>>,
}

impl Logged {
    fn new(Compiled { bundle, .. }: Compiled) -> Result<Self, String> {
        let opened = open(&bundle, Trust::Unsigned, &Conditions::default());
        let root = opened.map_err(|error| error.to_string())?.header.content;
        let pdp = Pdp::open(&bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
        let (now, micros) = whole_micros(World::now()?);
        let (writer, reader) = ring(RING_BYTES);
        let recording = Recording { has_evidence: true, ..Recording::default() };
        let redaction = Redaction {
            principal: Form::Clear,
            resource: Form::Clear,
            evidence: EvidenceForm::Clear,
            secret: LogSecret::new([1; 32]),
        };
        let mut assembler = Assembler::new(redaction, 0);
        let mut segment = SegmentWriter::new();
        let name = ShortText::cut("");
        let policies = Policies { micros, number: 0, revision: 0, root, name };
        assembler.event(Body::Policies(policies), micros, &mut segment);
        Ok(Self {
            pdp,
            bundle,
            now,
            recorder: Recorder::new(writer, recording),
            reader,
            assembler,
            segment,
            answers: Vec::new(),
            changed: Vec::new(),
        })
    }

    /// Decides one of the actions of a request, and records it.
    fn decide(&mut self, request: &Request, at: usize, changed: &Compiled) -> Result<(), String> {
        let action = at.checked_rem(request.actions.len()).and_then(|at| request.actions.get(at));
        let Some(action) = action else { return Ok(()) };
        let answer = self.pdp.snapshot().table().is_allowed(request, action, self.now);
        if self.recorder.is_allowed_request(&self.pdp, request, action, self.now) != answer {
            return Err(format!("the recorder and the general path differ about {request:?}"));
        }
        let (_, micros) = whole_micros(self.now);
        let drained = self.reader.next().ok_or("a decision was not recorded")?;
        let Drained::Entry(_, entry) = &drained else { return Err("an entry is lost".to_owned()) };
        let has_evidence =
            matches!(entry.entry.evidence, Evidence::Read(_) | Evidence::Request(_));
        self.assembler.drained(1, &drained, micros, &mut self.segment);
        self.answers.push(answer_text(has_evidence.then_some(answer)).into());
        let by_changed = || changed.table.is_allowed(request, action, self.now);
        self.changed.push(has_evidence.then(by_changed));
        Ok(())
    }

    fn entry(mut self, name: String, changed: &[u8]) -> Entry {
        self.assembler.flush(&mut self.segment);
        let question: Json = json!({
            "bundle": STANDARD.encode(&self.bundle),
            "segment": STANDARD.encode(self.segment.end()),
            "with": STANDARD.encode(changed),
            "changed": self.changed,
        });
        Entry { suite: Suite::Replays, name, question, answers: self.answers }
    }
}

/// Returns the answer to a recorded decision as every runtime gives it.
pub(super) const fn answer_text(again: Option<bool>) -> &'static str {
    match again {
        Some(true) => "allowed",
        Some(false) => "denied",
        None => "none",
    }
}

/// Writes records into frames.
struct SegmentWriter {
    bytes: Vec<u8>,
    draft: Draft,
    place: FramePosition,
}

impl SegmentWriter {
    fn new() -> Self {
        let place = FramePosition { first: 0, durable: 0, before: [0; 32] };
        Self { bytes: START.to_vec(), draft: Draft::default(), place }
    }

    fn write(&mut self) {
        let head = self.draft.write(self.place, 0, &mut self.bytes);
        self.place = FramePosition { first: head.next(), durable: 0, before: head.digest() };
    }

    fn end(mut self) -> Vec<u8> {
        self.write();
        self.bytes
    }
}

impl Sink for SegmentWriter {
    fn record(&mut self, record: &[u8], micros: i64) {
        if !self.draft.add(record, micros) {
            self.write();
            self.draft.add(record, micros);
        }
    }

    fn sealed(&mut self, _: HiddenValue<'_>) {}

    fn key(&mut self, _: &str) -> Option<Arc<SubjectKey>> {
        None
    }
}

/// The largest number of requests to one generated policy set.
const PER_WORLD: usize = 300;
const RING_BYTES: usize = 1 << 20;
