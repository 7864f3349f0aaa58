//! The readers of the decision log: of what lies on a disk, or came from somebody who wants to be
//! believed.

use std::sync::OnceLock;

use wardgate_bundle::Trust;
use wardgate_decision_log::checkpoint::Checkpoint;
use wardgate_decision_log::frame::{Draft, Frame, FramePosition};
use wardgate_decision_log::note::{Note, VerifierKey};
use wardgate_decision_log::proof::Proof;
use wardgate_decision_log::record::{Body, Clock, Identity, Record, ShortText};
use wardgate_decision_log::record::{Decision, Effect, Evidence, Outcome};
use wardgate_decision_log::redaction::{Field, Sealed};
use wardgate_decision_log::witness::{self, AddCheckpoint};
use wardgate_decision_log::witness_policy::WitnessPolicy;
use wardgate_decision_log::{redaction, tile};
use wardgate_engine::cel::Timestamp;
use wardgate_native::decision_log::{
    self as recording, Drained, Recorder, Recording, replay, ring,
};
use wardgate_native::{Pdp, Target};

use super::{packed, request};

/// Reads the input in every form, and writes again what was read.
///
/// # Panics
/// If a record or a frame is written otherwise than it was read.
pub fn decision_log(input: &[u8]) {
    if let Some(record) = Record::read(input) {
        assert_eq!(record.to_bytes(), input, "a record that has two forms");
    }
    if let Ok(frame) = Frame::read(input) {
        frame.records.iter().for_each(|record| drop(Record::read(record)));
        assert_eq!(input.get(..128), Some(frame.head.to_bytes().as_slice()));
    }
    if let Ok(note) = Note::read(input) {
        assert_eq!(note.to_string().as_bytes(), input, "a note that has two forms");
        drop(Checkpoint::read(&note.text));
    }
    if let Ok(proof) = Proof::read(input) {
        assert_eq!(Proof::read(proof.to_string().as_bytes()), Ok(proof), "a proof that is lost");
    }
    let _ = (Sealed::read(input), tile::entries(input));
    witnesses(input);
    decide_again(input);
    let text = String::from_utf8_lossy(input);
    let _ = (Checkpoint::read(&text), VerifierKey::read(&text));
}

/// Reads the input as a request to a witness, as its answers, and as a policy of witnesses.
fn witnesses(input: &[u8]) {
    if let Some(request) = AddCheckpoint::read(input) {
        assert_eq!(request.to_string().as_bytes(), input, "a request that has two forms");
        let signed = request.signed(&[]);
        assert!(signed.is_err(), "a checkpoint of a log that nobody trusts");
    }
    if let Ok(note) = witness::cosigned(CHECKPOINT, input) {
        assert_eq!(note.text, CHECKPOINT, "an answer that changes the checkpoint");
    }
    let _ = witness::conflict_size(input);
    if let Ok(policy) = WitnessPolicy::read(input) {
        let is_monotonic = policy.is_enough(|_| true) || !policy.is_enough(|_| false);
        assert!(is_monotonic, "more cosignatures that are fewer");
    }
}

/// Decides from the input as evidence.
fn decide_again(input: &[u8]) {
    let Some(pdp) = pdp() else { return };
    let target = |action| Target { kind: "album", action, ..Target::default() };
    let targets = [target("view"), target("edit")];
    for targets in [&targets[..1], &targets] {
        for evidence in [recording::Evidence::Read(input), recording::Evidence::Request(input)] {
            let answers = replay(&pdp.snapshot(), targets, evidence, 0);
            assert_eq!(answers.len(), targets.len(), "a target without an answer");
        }
    }
}

fn pdp() -> Option<&'static Pdp> {
    static OPENED: OnceLock<Option<Pdp>> = OnceLock::new();
    OPENED.get_or_init(|| Pdp::open(packed(), Trust::Unsigned).ok()).as_ref()
}

/// Returns the evidence of decisions: what a fast path read for one and for two actions, and a request.
fn evidence() -> Vec<Vec<u8>> {
    let Some(pdp) = pdp() else { return Vec::new() };
    let (writer, mut reader) = ring(0);
    let recording = Recording { has_evidence: true, ..Recording::default() };
    let (mut recorder, request) = (Recorder::new(writer, recording), request());
    let mut found = Vec::new();
    let now = Timestamp::default();
    for action in &request.actions {
        let _ = recorder.is_allowed_request(pdp, &request, action, now);
    }
    let _ = recorder.check(pdp, &request, now);
    while let Some(Drained::Entry(_, read)) = reader.next() {
        match read.entry.evidence {
            recording::Evidence::Read(bytes) | recording::Evidence::Request(bytes) => {
                found.push(bytes.to_vec());
            }
            _ => {}
        }
    }
    found.push(found.iter().take(2).flatten().copied().collect());
    found
}

/// The text of a checkpoint.
const CHECKPOINT: &str = "log.example/a\n2\nCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=\n";

/// Returns a record, a frame, a note, a proof, a key, a sealed value, a bundle of entries, a request to a witness and its
/// answers, a policy of witnesses, and evidence.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let records = [
        Body::Clock(Clock { before: 2, now: 1 }),
        Body::Decision(Decision {
            micros: 1,
            policies: 1,
            outcomes: vec![Outcome { target: 7, effect: Effect::Allowed }],
            principal: Identity::Clear(ShortText::cut("ada")),
            resource: Identity::Commitment([1; 32]),
            trace: Some([2; 16]),
            request: Some(ShortText::cut("call")),
            is_general: false,
            is_cut: false,
            evidence: Evidence::Read(vec![1, 2, 3]),
        }),
    ];
    let records = records.map(|body| Record { stream: 1, caller: 0, sequence: 9, body }.to_bytes());
    let (mut draft, mut frame, mut entries) = (Draft::default(), Vec::new(), Vec::new());
    records.iter().for_each(|record| assert!(draft.add(record, 1)));
    let head = draft.write(FramePosition { first: 0, durable: 0, before: [0; 32] }, 1, &mut frame);
    tile::put_entry(&head.entry("log.example/a"), &mut entries);
    let signature = "— log.example/a AAAAAAA=\n";
    let note = &format!("{CHECKPOINT}\n{signature}");
    let read = Frame::read(&frame).ok();
    let proof = read.and_then(|frame| Proof::new((&frame, 1), (0, vec![[3; 32]]), note));
    let place = redaction::ValuePosition { record: 1, field: Field::Principal };
    let mut sealed = Vec::new();
    Sealed { place, key: [3; 16], bytes: vec![7; 20] }.write(&mut sealed);
    let key = VerifierKey { name: "log.example/a".into(), kind: 6, key: vec![1; 32] };
    let witness = VerifierKey { name: "w.example/1".into(), kind: 4, key: vec![2; 32] };
    let texts = [
        note.clone(),
        key.to_string(),
        proof.map_or_else(String::new, |it| it.to_string()),
        format!("old 1\nCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=\n\n{note}"),
        signature.to_owned(),
        "20852014\n".to_owned(),
        format!("# one\nlog {key}\nwitness A {witness} http://w.example\ngroup G 1 A\nquorum G\n"),
    ];
    records
        .into_iter()
        .chain([frame, entries, sealed])
        .chain(texts.map(String::into_bytes))
        .chain(evidence())
        .collect()
}
