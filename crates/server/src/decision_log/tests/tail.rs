//! The tail of a log: what is read again of it, and what is left of it.

use wardgate_decision_log::record::{Decision, Identity};
use wardgate_native::decision_log::{Batch, Effect, Entry, EvidenceForm, Form, Redaction, ring};

use super::memory_disk::{Failure, MemoryDisk, MemoryFile, Random};
use super::*;
use crate::config::{Keep, OnFull};
use crate::decision_log::core::Core;
use crate::decision_log::private::Private;
use crate::decision_log::segments::Disk;
use crate::decision_log::tail::{Floor, Round, Tail, TailFile, read_rounds};

const FORMS: (Form, Form, EvidenceForm) =
    (Form::Pseudonym, Form::Commitment, EvidenceForm::Commitment);

fn tail(disk: &MemoryDisk) -> Tail<MemoryFile> {
    let [grows, free] = ["tail.0", "tail.1"]
        .map(|name| TailFile::new(name.into(), disk.open(Path::new(name)).unwrap()));
    disk.sync_names().unwrap();
    Tail::new(grows, free, FORMS)
}

/// Reads the rounds on a disk, in their order.
fn left(disk: &MemoryDisk) -> Vec<Round> {
    let files = ["tail.0", "tail.1"].map(|name| disk.bytes(Path::new(name)));
    let mut rounds: Vec<_> = files.iter().flat_map(|bytes| read_rounds(bytes)).collect();
    rounds.sort_by_key(|round| round.number);
    rounds
}

#[test]
fn a_loss_of_power_loses_no_round_that_was_synced() {
    let cases = if std::env::var_os("SLOW_TESTS").is_some() { 200_000 } else { 2_000 };
    let (mut switches, mut failures, mut found) = (0, 0, 0);
    for seed in 0..cases {
        let (disk, mut random) = (MemoryDisk::new(seed), Random(seed));
        let mut tail = tail(&disk);
        let (mut used, mut rounds): (Option<TailFile<_>>, Vec<Round>) = (None, Vec::new());
        // The rounds that are on the disk, and those before which all are in frames on the disk.
        let (mut synced, mut framed, mut to_frame) = (0, 0, 0);
        for _ in 0..4 + random.below(24) {
            if random.below(6) == 0 {
                let (at, taken) = (disk.calls().len() + random.below(3), random.below(900));
                disk.fail(Some(Failure { at, count: 1, taken }));
            }
            match random.below(8) {
                0..5 => {
                    let entries = vec![random.below(256) as u8; random.below(1500)];
                    let floor = Floor { frame: seed, sequence: 7 };
                    let number = tail.rounds();
                    match tail.write(&entries, floor) {
                        Ok(()) => rounds.push(Round { number, floor, forms: FORMS, entries }),
                        Err(_) => failures += 1,
                    }
                }
                5 => match tail.sync_all(used.as_mut()) {
                    Ok(()) => synced = rounds.len(),
                    Err(_) => {
                        failures += 1;
                        break;
                    }
                },
                6 => {
                    if used.is_none() {
                        used = tail.switch();
                        to_frame = rounds.len();
                        switches += u32::from(used.is_some());
                    }
                }
                _ => {
                    if let Some(mut file) = used.take() {
                        framed = to_frame;
                        match file.clear() {
                            Ok(()) => tail.take_back(file),
                            Err(_) => used = Some(file),
                        }
                    }
                }
            }
        }
        for disk in (0..4).map(|power| disk.without_power(power)).chain([disk.copied()]) {
            let left = left(&disk);
            assert!(left.iter().all(|round| rounds.contains(round)));
            let is_left = |round: &Round| left.contains(round);
            assert!(rounds[framed.min(synced)..synced].iter().all(is_left), "{seed}");
            found += left.len();
        }
        let all = left(&disk);
        assert!(rounds[framed..].iter().all(|round| all.contains(round)), "{seed}");
    }
    println!("{cases} cases, {switches} switches, {failures} failures, {found} rounds found");
    assert!(switches > 0 && failures > 0 && found > 0);
}

#[test]
fn bytes_that_are_no_round_end_a_file() {
    let disk = MemoryDisk::new(1);
    let mut tail = tail(&disk);
    for entries in [&b"one"[..], b"", b"three"] {
        tail.write(entries, Floor::default()).unwrap();
    }
    let bytes = disk.bytes(Path::new("tail.0"));
    let ends = [51, 99, 152];
    assert_eq!(bytes.len(), ends[2]);
    for at in 0..bytes.len() {
        let whole = ends.iter().filter(|end| **end <= at).count();
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert_eq!(read_rounds(&changed).len(), whole, "{at}");
        assert_eq!(read_rounds(&bytes[..at]).len(), whole);
    }
    // Rounds of a time before are behind the end.
    assert_eq!(read_rounds(&[&bytes[99..], &bytes[..51]].concat()).len(), 1);
}

fn settings(keep: Keep) -> RecorderSettings {
    let (principal, resource) = (Form::Commitment, Form::Clear);
    let redaction = Redaction {
        principal,
        resource,
        evidence: EvidenceForm::Absent,
        secret: signer().secret(),
    };
    RecorderSettings { redaction, ..super::recording::settings(Form::Clear, OnFull::Deny, keep) }
}

fn start(folder: &Path) -> Recorder {
    let (writer, _) = open(folder, 10_000).unwrap();
    Recorder::start(folder, writer, signer().secret(), settings(Keep::System)).unwrap()
}

fn record(recorder: &Recorder, principal: &str, number: usize) {
    let resource = number.to_string();
    let entry =
        Entry { micros: 5, policies: 1, principal, resource: &resource, ..Entry::default() };
    assert!(recorder.record(&entry, &[("view", Effect::Allowed)]) && recorder.keep());
}

/// Returns the decisions of a log in their order.
fn decisions(folder: &Temporary) -> Vec<Decision> {
    let (mut reader, mut found) = (LogReader::open(&folder.0).unwrap(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        let records = stored.frame().unwrap().records;
        found.extend(records.iter().filter_map(|bytes| match Record::read(bytes).unwrap().body {
            Body::Decision(decision) => Some(decision),
            _ => None,
        }));
    }
    found
}

#[test]
fn what_a_killed_process_left_is_recorded_once() {
    let folder = Temporary::new();
    let recorder = start(&folder.0);
    for number in 0..400 {
        record(&recorder, "ada", number);
        if number % 40 > 0 {
            continue;
        }
        let killed = folder.as_killed();
        // A start that is killed before it removes the tail leaves it to the next one.
        let tails = ["private/tail.0", "private/tail.1"].map(|name| killed.0.join(name));
        let left = tails.each_ref().map(|path| fs::read(path).unwrap());
        for _ in 0..2 {
            let (writer, _) = open(&killed.0, 10_000).unwrap();
            let next = writer.next();
            let private = Private::open(&killed.0, signer().secret(), next).unwrap();
            let mut core = Core::new(writer, private, settings(Keep::Memory));
            let found = core.left().unwrap();
            core.recover(found, 9).unwrap();
            assert!(tails.iter().all(|path| !path.exists()));
            tails.iter().zip(&left).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        }
        start(&killed.0).close().unwrap();
        assert!(tails.iter().all(|path| !path.exists()));
        let found = decisions(&killed);
        assert_eq!(found.len(), number + 1);
        for (number, decision) in found.iter().enumerate() {
            assert!(matches!(decision.principal, Identity::Commitment(_)));
            assert_eq!(decision.resource, Identity::Clear(ShortText::cut(&number.to_string())));
        }
        verified(&killed).unwrap();
    }
    recorder.close().unwrap();
    assert_eq!(decisions(&folder).len(), 400);
}

#[test]
fn what_is_erased_is_not_in_the_tail_of_a_killed_process() {
    let folder = Temporary::new();
    let recorder = start(&folder.0);
    let mut found = 0;
    for number in 0..200 {
        record(&recorder, "word-7", number);
        let killed = folder.as_killed();
        let has = |value: &[u8]| {
            let all = killed.files().into_iter().map(|path| fs::read(path).unwrap());
            all.filter(|bytes| bytes.windows(value.len()).any(|found| found == value)).count()
        };
        found += has(b"word-7");
        assert_eq!(erase(&killed.0, signer(), &["word-7"]).unwrap(), 1);
        assert_eq!(has(b"word-7"), 0);
        assert_eq!(decisions(&killed).len(), number + 1);
    }
    assert!(found > 0);
    recorder.close().unwrap();
    let all: Vec<u8> = folder.files().iter().flat_map(|path| fs::read(path).unwrap()).collect();
    assert!(!all.windows(6).any(|found| found == b"word-7"));
}

#[test]
fn entries_that_cannot_be_written_to_the_tail_go_into_frames() {
    for keep in [Keep::System, Keep::Disk] {
        let folder = Temporary::new();
        let (writer, _) = open(&folder.0, 10_000).unwrap();
        let recorder =
            Recorder::start(&folder.0, writer, signer().secret(), settings(keep)).unwrap();
        record(&recorder, "ada", 0);
        recorder.break_tail();
        for number in 1..20 {
            record(&recorder, "ada", number);
            assert_eq!(after_kill(&folder), number + 1);
        }
        recorder.close().unwrap();
        assert_eq!(decisions(&folder).len(), 20);
    }
}

/// Returns how many decisions are in the log if its process is killed now.
fn after_kill(folder: &Temporary) -> usize {
    let killed = folder.as_killed();
    start(&killed.0).close().unwrap();
    decisions(&killed).len()
}

#[test]
fn a_batch_in_a_round_is_the_same_batch() {
    let ((mut writer, mut reader), mut batch) = (ring(0), Batch::default());
    assert!(writer.write(&Entry::default(), &[("view", Effect::Allowed)]));
    batch.take(3, &mut reader, usize::MAX);
    let disk = MemoryDisk::new(1);
    let mut tail = tail(&disk);
    let floor = Floor { frame: 1 << 40, sequence: u32::MAX };
    tail.write(batch.bytes(), floor).unwrap();
    let entries = batch.bytes().to_vec();
    assert_eq!(left(&disk), [Round { number: 0, floor, forms: FORMS, entries }]);
}
