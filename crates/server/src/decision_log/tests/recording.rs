//! Recording on threads, into logs whose records are read again.

use wardgate_decision_log::record::{Decision, Identity};
use wardgate_decision_log::redaction::{Field, LogSecret, ValuePosition};
use wardgate_native::decision_log::{Effect, Entry, EvidenceForm, Form, Redaction};

use super::*;
use crate::config::{Filter, Keep, OnFull};
use crate::decision_log::private::Private;

pub(super) fn settings(ids: Form, on_full: OnFull, keep: Keep) -> RecorderSettings {
    let secret = LogSecret::new([9; 32]);
    let redaction =
        Redaction { principal: ids, resource: ids, evidence: EvidenceForm::Absent, secret };
    RecorderSettings {
        redaction,
        on_full,
        keep,
        sync: Duration::from_millis(20),
        checkpoint: Duration::from_millis(50),
        heartbeat: Duration::from_secs(10),
        segment: None,
        retention: None,
        shipped: None,
        filter: Filter::All,
        reserve: 0,
        ring_bytes: 0,
    }
}

fn start(folder: &Temporary, settings: RecorderSettings) -> Recorder {
    let (writer, torn) = open(&folder.0, 100_000).unwrap();
    assert_eq!(torn, None);
    Recorder::start(&folder.0, writer, LogSecret::new([9; 32]), settings).unwrap()
}

/// Records a decision, and waits until its answer may leave.
fn record(recorder: &Recorder, principal: &str, effect: Effect) -> bool {
    recorder.record(&entry(principal), &[("view", effect)]) && recorder.keep()
}

pub(super) fn entry(principal: &str) -> Entry<'_> {
    Entry { micros: 5, policies: 1, principal, kind: "album", resource: "a1", ..Entry::default() }
}

/// Returns the decisions of a log with the numbers of their records, and how many were lost.
pub(super) fn decisions(folder: &Temporary) -> (Vec<(u64, Decision)>, u64) {
    let mut reader = LogReader::open(&folder.0).unwrap();
    let (mut found, mut lost, mut number) = (Vec::new(), 0, 0);
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Decision(decision) => found.push((number, decision)),
                Body::Lost(gap) => lost += gap.count,
                _ => {}
            }
            number += 1;
        }
    }
    (found, lost)
}

/// Records decisions on four threads.
fn record_many(recorder: &Recorder, each: usize) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let name = format!("principal {thread}");
                for _ in 0..each {
                    assert!(record(recorder, &name, Effect::Allowed));
                }
            });
        }
    });
}

#[test]
fn every_decision_of_every_thread_is_recorded_or_told_as_lost() {
    for (on_full, may_lose) in
        [(OnFull::Block(Duration::from_secs(60)), false), (OnFull::Drop, true)]
    {
        let folder = Temporary::new();
        let recorder = start(&folder, settings(Form::Clear, on_full, Keep::Memory));
        record_many(&recorder, 20_000);
        recorder.close().unwrap();
        let (found, lost) = decisions(&folder);
        assert_eq!(found.len() as u64 + lost, 80_000);
        assert!(may_lose || lost == 0, "{lost}");
        let verified = verified(&folder).unwrap();
        assert_eq!((verified.decisions + verified.lost, verified.unsealed), (80_000, 0));
    }
}

/// Returns how many decisions are in the log once it starts again, if its process is killed at this moment.
fn after_kill(folder: &Temporary, keep: Keep) -> usize {
    let killed = folder.as_killed();
    start(&killed, settings(Form::Pseudonym, OnFull::Deny, keep)).close().unwrap();
    verified(&killed).unwrap();
    decisions(&killed).0.len()
}

#[test]
fn what_is_kept_is_in_the_files_when_its_answer_leaves() {
    for keep in [Keep::System, Keep::Disk] {
        let folder = Temporary::new();
        let recorder = start(&folder, settings(Form::Pseudonym, OnFull::Deny, keep));
        for number in 1..=50 {
            assert!(record(&recorder, "ada", Effect::Denied));
            assert_eq!(after_kill(&folder, keep), number);
        }
        // Several threads share writes, and each finds its own.
        record_many(&recorder, 500);
        assert_eq!(after_kill(&folder, keep), 2050);
        drop(recorder);
        assert_eq!(decisions(&folder).0.len(), 2050);
        verified(&folder).unwrap();
    }
}

#[test]
fn policies_come_before_the_decisions_under_their_number() {
    let folder = Temporary::new();
    let recorder = start(&folder, settings(Form::Absent, OnFull::Drop, Keep::Memory));
    recorder.policies(1, 7, [3; 32], "bundle");
    assert!(record(&recorder, "ada", Effect::Allowed));
    recorder.close().unwrap();
    let mut reader = LogReader::open(&folder.0).unwrap();
    let mut kinds = Vec::new();
    while let Some(stored) = reader.next_frame().unwrap() {
        let frame = stored.frame().unwrap();
        kinds.extend(frame.records.iter().map(|record| record[0]));
    }
    // Started, policies, target, decision, stopped.
    assert_eq!(kinds, [6, 2, 3, 1, 6]);
}

#[test]
fn committed_ids_are_opened_with_the_key_of_their_principal() {
    let folder = Temporary::new();
    for _ in 0..2 {
        let recorder = start(&folder, settings(Form::Commitment, OnFull::Drop, Keep::Memory));
        for principal in ["ada", "eve"] {
            assert!(record(&recorder, principal, Effect::Allowed));
        }
        recorder.close().unwrap();
    }
    let (found, _) = decisions(&folder);
    assert_eq!(found.len(), 4);
    let opened = |folder: &Temporary| -> Vec<Unsealed> {
        let mut values = Unsealer::open(&folder.0).unwrap();
        let value = |(number, decision): &(u64, Decision)| {
            let place = ValuePosition { record: *number, field: Field::Principal };
            let Identity::Commitment(commitment) = &decision.principal else { panic!() };
            values.open_value(place, commitment).unwrap()
        };
        found.iter().map(value).collect()
    };
    let value = |id: &str| Unsealed::Value(id.into());
    assert_eq!(opened(&folder), ["ada", "eve", "ada", "eve"].map(value));
    let all: Vec<u8> = folder.files().iter().flat_map(|path| fs::read(path).unwrap()).collect();
    assert!(!all.windows(3).any(|window| window == b"ada"));

    // The first key, of ada, is gone; then all values are.
    let private = folder.0.join("private");
    let keys = fs::read(private.join("keys.wgk")).unwrap();
    fs::write(private.join("keys.wgk"), &keys[56..]).unwrap();
    let erased = [Unsealed::Erased, value("eve"), Unsealed::Erased, value("eve")];
    assert_eq!(opened(&folder), erased);
    fs::remove_file(private.join("000000000000.wgv")).unwrap();
    assert_eq!(opened(&folder), [const { Unsealed::Missing }; 4]);
    fs::remove_dir_all(private).unwrap();
    assert_eq!(opened(&folder), [const { Unsealed::Missing }; 4]);
}

#[test]
fn values_of_records_that_are_gone_go_at_the_start() {
    let folder = Temporary::new();
    let recorder = start(&folder, settings(Form::Commitment, OnFull::Drop, Keep::System));
    assert!(record(&recorder, "ada", Effect::Allowed));
    drop(recorder);
    let kept = fs::read(folder.0.join("private/000000000000.wgv")).unwrap();
    let segment = folder.last_segment();
    let end = fs::metadata(&segment).unwrap().len();
    let recorder = start(&folder, settings(Form::Commitment, OnFull::Drop, Keep::System));
    assert!(record(&recorder, "eve", Effect::Allowed));
    drop(recorder);
    assert_ne!(fs::read(folder.0.join("private/000000000000.wgv")).unwrap(), kept);
    // Without a checkpoint the last frames may be gone after a loss of power, but not their values.
    let bytes = fs::read(&segment).unwrap();
    fs::write(&segment, &bytes[..usize::try_from(end).unwrap()]).unwrap();
    fs::remove_file(folder.0.join("checkpoint")).unwrap();
    drop(start(&folder, settings(Form::Commitment, OnFull::Drop, Keep::Memory)));
    assert_eq!(fs::read(folder.0.join("private/000000000000.wgv")).unwrap(), kept);
}

#[test]
fn nothing_is_decided_without_a_record_where_that_is_asked() {
    let folder = Temporary::new();
    let recorder = start(&folder, settings(Form::Clear, OnFull::Deny, Keep::System));
    assert!(record(&recorder, "ada", Effect::Allowed));
    // The folder is gone, and with it the place for the next segment.
    let away = folder.0.with_extension("away");
    fs::rename(&folder.0, &away).unwrap();
    let long = "x".repeat(1000);
    let denied = (0..200).any(|_| !record(&recorder, &long, Effect::Allowed));
    assert!(denied && recorder.is_failing());
    fs::rename(&away, &folder.0).unwrap();
    assert!(record(&recorder, "ada", Effect::Allowed));
    assert!(!recorder.is_failing());
    recorder.close().unwrap();
    verified(&folder).unwrap();
}

#[test]
fn a_failed_sync_is_recorded_behind_its_segment() {
    let folder = Temporary::new();
    let recorder = start(&folder, settings(Form::Clear, OnFull::Deny, Keep::Disk));
    assert!(record(&recorder, "ada", Effect::Allowed));
    recorder.break_off();
    assert!(record(&recorder, "eve", Effect::Allowed));
    recorder.close().unwrap();
    let mut reader = LogReader::open(&folder.0).unwrap();
    let (mut marks, mut segments) = (Vec::new(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        segments.push(stored.path.clone());
        for bytes in stored.frame().unwrap().records {
            if let Body::Settings(settings) = Record::read(bytes).unwrap().body {
                marks.push((settings.text.as_str().to_owned(), stored.path.clone()));
            }
        }
    }
    segments.dedup();
    let [(mark, path)] = marks.as_slice() else { panic!("{marks:?}") };
    assert!(mark.starts_with("failed-sync = { segment = 0, frame = "), "{mark}");
    assert!(segments.len() > 1 && *path != segments[0]);
    assert_eq!(decisions(&folder).0.len(), 2);
    assert_eq!(verified(&folder).unwrap().unsealed, 0);
}

#[test]
fn what_a_failing_disk_leaves_no_room_for_is_told_as_lost() {
    let folder = Temporary::new();
    let recorder = start(&folder, settings(Form::Clear, OnFull::Drop, Keep::System));
    let away = folder.0.with_extension("away");
    let long = "x".repeat(1000);
    assert!(record(&recorder, &long, Effect::Allowed));
    fs::rename(&folder.0, &away).unwrap();
    for _ in 0..3000 {
        assert!(record(&recorder, &long, Effect::Allowed));
    }
    assert!(recorder.is_failing());
    let mut metrics = String::new();
    recorder.write_metrics(&mut metrics);
    assert!(!metrics.contains("\nwardgate_decision_log_failures_total 0\n"), "{metrics}");
    fs::rename(&away, &folder.0).unwrap();
    assert!(record(&recorder, &long, Effect::Allowed));
    assert!(!recorder.is_failing());
    recorder.close().unwrap();
    let (found, lost) = decisions(&folder);
    assert!(lost > 0 && found.len() > 500);
    assert_eq!(found.len() as u64 + lost, 3002);
    assert_eq!(verified(&folder).unwrap().lost, lost);
}

#[test]
fn what_is_erased_is_in_no_file_and_all_proofs_hold() {
    let folder = Temporary::new();
    let secret = || signer().secret();
    let (principal, resource) = (Form::Commitment, Form::Commitment);
    let redaction =
        Redaction { principal, resource, evidence: EvidenceForm::Absent, secret: secret() };
    let settings = RecorderSettings {
        redaction,
        ..settings(Form::Clear, OnFull::Block(Duration::from_secs(60)), Keep::Memory)
    };
    let (writer, _) = open(&folder.0, 10_000).unwrap();
    let recorder = Recorder::start(&folder.0, writer, secret(), settings).unwrap();
    let words: Vec<String> = (0..1000).map(|number| format!("word-{number}")).collect();
    for word in ["word-7", "word-8"].repeat(100) {
        assert!(record(&recorder, word, Effect::Allowed));
    }
    assert_eq!(erase(&folder.0, signer(), &["word-7"]).unwrap_err().code(), "log-in-use");
    recorder.close().unwrap();
    drop(recorder);
    let proofs: Vec<String> =
        (0..200).map(|number| prove(&folder.0, number).unwrap().to_string()).collect();
    let name = secret().subject("word-7");
    let keys = fs::read(folder.0.join("private/keys.wgk")).unwrap();
    let entry = keys.as_chunks::<56>().0.iter().find(|entry| entry.starts_with(&name)).unwrap();
    let all = |folder: &Temporary| -> Vec<u8> {
        folder.files().iter().flat_map(|path| fs::read(path).unwrap()).collect()
    };
    let has = |all: &[u8], value: &[u8]| all.windows(value.len()).any(|found| found == value);
    assert!(has(&all(&folder), &entry[16..48]));

    assert_eq!(erase(&folder.0, signer(), &["word-7", "nobody"]).unwrap(), 1);
    assert_eq!(erase(&folder.0, signer(), &["word-7"]).unwrap(), 0);

    let files = all(&folder);
    for value in [&name[..], &entry[16..32], &entry[32..48], b"word-7"] {
        assert!(!has(&files, value));
    }
    // Every proof of before still holds, and the log goes on from its checkpoint with a record of the act.
    for (number, proof) in (0..).zip(&proofs) {
        let proof = wardgate_decision_log::proof::Proof::read(proof.as_bytes()).unwrap();
        assert_eq!(proof.verify(&key()).unwrap().number, number);
        prove(&folder.0, number).unwrap().verify(&key()).unwrap();
    }
    let found = verified(&folder).unwrap();
    assert_eq!((found.decisions, found.unsealed), (200, 0));
    // Who has all files and the key of the log can try no guess.
    let mut private = Private::open(&folder.0, secret(), u64::MAX).unwrap();
    let (recorded, mut guessed) = (decisions(&folder).0, Vec::new());
    for word in &words {
        let key = private.key(word).unwrap();
        let is_of = |(number, decision): &(u64, Decision)| {
            let place = ValuePosition { record: *number, field: Field::Principal };
            matches!(&decision.principal, Identity::Commitment(commitment)
                if key.is_commitment(commitment, place, word.as_bytes()))
        };
        let count = recorded.iter().filter(|one| is_of(one)).count();
        guessed.extend((count > 0).then(|| (word.clone(), count)));
    }
    assert_eq!(guessed, [("word-8".to_owned(), 100)]);
}
