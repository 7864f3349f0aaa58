//! Recording a decision: the write into the ring, the decision and its record together, and what the background thread
//! does with each record afterwards.
//!
//! A ring is written until it is nearly full and read between two samples, so a sample has writes alone. The
//! records of each sample are counted, and those of the last one are decided again from their evidence.

use std::sync::Arc;
use std::time::Instant;

use wardgate_bundle::Trust;
use wardgate_decision_log::frame::{Draft, FramePosition};
use wardgate_decision_log::redaction::{HiddenValue, LogSecret, SubjectKey};
use wardgate_native::decision_log::{
    Assembler, Drained, Effect, Entry, Evidence, EvidenceForm, Form, Recorder, Recording,
    Redaction, RingReader, Sink, replay, ring,
};
use wardgate_native::{Field, Lookup, Pdp, PrincipalRef, Question, ResourceRef, Target, Timestamp};

use crate::arguments::{Arguments, DECISION_LOG};
use crate::measure::{Figure, Side, float};
use crate::report::{NATIVE, Section};
use crate::workload::bundle;

/// Measures recording in this process.
pub(crate) fn section(arguments: &Arguments) -> Result<Section, String> {
    let samples = if arguments.quick { 41 } else { 401 };
    let start = Instant::now();
    let pdp = Pdp::open(&bundle(&[("album.yaml", ALBUM)])?, Trust::Unsigned);
    let pdp = pdp.map_err(|error| error.to_string())?;
    let mut figures = vec![
        ring_write("write into the ring", Evidence::None, samples)?,
        ring_write("write into the ring, evidence of 40 bytes", Evidence::Read(&[7; 40]), samples)?,
        decision(&pdp, samples)?,
        recorded("decide and record", (&pdp, false), samples)?,
        recorded("decide and record with evidence", (&pdp, true), samples)?,
    ];
    for (name, ids, evidence) in [
        ("make and frame a record, clear ids", Form::Clear, EvidenceForm::Absent),
        ("the same, ids as pseudonyms", Form::Pseudonym, EvidenceForm::Absent),
        ("the same, ids committed and sealed", Form::Commitment, EvidenceForm::Absent),
        ("the same, and evidence committed and sealed", Form::Commitment, EvidenceForm::Commitment),
    ] {
        figures.push(framed(name, (ids, evidence), samples)?);
    }
    eprintln!("{DECISION_LOG}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(Section::new(DECISION_LOG, TITLE, "").with(NATIVE, figures))
}

/// Times writes of an entry into a ring.
fn ring_write(name: &str, evidence: Evidence<'_>, samples: usize) -> Result<Figure, String> {
    let (mut writer, mut reader) = ring(RING_BYTES);
    let entry = Entry { evidence, ..ENTRY };
    let act = || writer.write(&entry, &[("view", Effect::Allowed)]);
    timed(name, samples, act, || drained(&mut reader, |_| true))
}

/// Times a decision that is not recorded.
fn decision(pdp: &Pdp, samples: usize) -> Result<Figure, String> {
    let now = now()?;
    let album = Album { owner: "ada" };
    timed("decide", samples, || pdp.is_allowed_fields(&question(&album), now), || Ok(RECORDS))
}

/// Times decisions and their records.
fn recorded(
    name: &str,
    (pdp, has_evidence): (&Pdp, bool),
    samples: usize,
) -> Result<Figure, String> {
    let (writer, mut reader) = ring(RING_BYTES);
    let recording = Recording { has_evidence, denies_unrecorded: true, caller: 0 };
    let mut recorder = Recorder::new(writer, recording);
    let (now, album, policies) = (now()?, Album { owner: "ada" }, pdp.snapshot());
    let target = Target { kind: "album", action: "edit", policy_version: "", scope: "" };
    let is_right = |drained: &Drained<'_>| {
        let Drained::Entry(_, found) = drained else { return false };
        let Entry { evidence, micros, .. } = found.entry;
        let expected = has_evidence.then_some(true);
        replay(&policies, &[target], evidence, micros).first().copied().flatten() == expected
    };
    let act = || recorder.is_allowed(pdp, &question(&album), now);
    timed(name, samples, act, || drained(&mut reader, is_right))
}

/// Times what becomes of entries: records, commitments, sealed values and frames.
fn framed(
    name: &str,
    (ids, evidence): (Form, EvidenceForm),
    samples: usize,
) -> Result<Figure, String> {
    let (mut writer, mut reader) = ring(RING_BYTES);
    let secret = LogSecret::new([1; 32]);
    let redaction = Redaction { principal: ids, resource: ids, evidence, secret };
    let mut assembler = Assembler::new(redaction, 0);
    let mut frames = Frames::default();
    let entry = Entry { evidence: Evidence::Read(&[7; 40]), ..ENTRY };
    let mut times = Vec::new();
    for _ in 0..samples {
        let written = (0..RECORDS).all(|_| writer.write(&entry, &[("view", Effect::Allowed)]));
        let before = Instant::now();
        let count = drained(&mut reader, |drained| {
            assembler.drained(1, drained, 0, &mut frames);
            true
        })?;
        assembler.flush(&mut frames);
        frames.write();
        times.push(before.elapsed().as_secs_f64() * 1e9 / float(RECORDS));
        if !written || count != RECORDS {
            return Err(format!("`{name}` framed {count} of {RECORDS} records"));
        }
    }
    Ok(figure(name, times))
}

/// Times acts in samples of as many as there are records, and calls `between` after each, which counts the records.
fn timed(
    name: &str,
    samples: usize,
    mut act: impl FnMut() -> bool,
    mut between: impl FnMut() -> Result<usize, String>,
) -> Result<Figure, String> {
    let mut times = Vec::new();
    for _ in 0..samples {
        let before = Instant::now();
        let right = (0..RECORDS).filter(|_| act()).count();
        times.push(before.elapsed().as_secs_f64() * 1e9 / float(RECORDS));
        let found = between()?;
        if (right, found) != (RECORDS, RECORDS) {
            return Err(format!("`{name}`: {right} right, {found} recorded of {RECORDS}"));
        }
    }
    Ok(figure(name, times))
}

fn figure(name: &str, times: Vec<f64>) -> Figure {
    let (name, side) = (format!("Wardgate, {name}"), Side::Ours);
    Figure::of_samples(name, side, &times)
}

/// Reads all entries of a ring, and returns how many there were.
fn drained(
    reader: &mut RingReader,
    mut is_right: impl FnMut(&Drained<'_>) -> bool,
) -> Result<usize, String> {
    let mut count = 0;
    while let Some(drained) = reader.next() {
        if !is_right(&drained) {
            return Err(format!("a wrong entry: {drained:?}"));
        }
        count += 1;
    }
    Ok(count)
}

/// Frames that nobody keeps.
#[derive(Default)]
struct Frames {
    draft: Draft,
    bytes: Vec<u8>,
    sealed: Vec<u8>,
    key: Option<Arc<SubjectKey>>,
}

impl Frames {
    fn write(&mut self) {
        self.bytes.clear();
        self.sealed.clear();
        let position = FramePosition { first: 0, durable: 0, before: [0; 32] };
        self.draft.write(position, 0, &mut self.bytes);
    }
}

impl Sink for Frames {
    fn record(&mut self, record: &[u8], micros: i64) {
        if !self.draft.add(record, micros) {
            self.write();
            self.draft.add(record, micros);
        }
    }

    fn sealed(&mut self, value: HiddenValue<'_>) {
        value.write(&mut self.sealed);
    }

    fn key(&mut self, _: &str) -> Option<Arc<SubjectKey>> {
        let key = self.key.get_or_insert_with(|| Arc::new(SubjectKey::new([2; 32])));
        Some(Arc::clone(key))
    }
}

/// Attributes in a struct.
struct Album {
    owner: &'static str,
}

impl Lookup for Album {
    fn get(&self, name: &str) -> Field<'_> {
        if name == "owner" { Field::Text(self.owner) } else { Field::Missing }
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        visit("owner", Field::Text(self.owner));
    }
}

fn question(album: &Album) -> Question<'_, &'static str, (), Album> {
    Question {
        principal: PrincipalRef::new("ada", &["user"], &()),
        action: "edit",
        resource: ResourceRef::new("album", "a1", album),
    }
}

fn now() -> Result<Timestamp, String> {
    Timestamp::new(1_767_323_045, 0).ok_or_else(|| "the time is beyond the bounds".to_owned())
}

/// The records of one sample, for which the ring has room.
const RECORDS: usize = 4096;

/// As in `wardgate serve`.
const RING_BYTES: usize = 1 << 20;

const ENTRY: Entry<'static> = Entry {
    micros: 1_767_323_045_000_000,
    policies: 1,
    caller: 0,
    is_general: false,
    principal: "ada",
    resource: "a1",
    kind: "album",
    version: "",
    scope: "",
    trace: None,
    request: "",
    evidence: Evidence::None,
    search: None,
};

const TITLE: &str = "Recording a decision";

const ALBUM: &str = r"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { actions: [view], roles: [user], effect: EFFECT_ALLOW }
    - { actions: [edit], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.owner == P.id } } }
";
