//! Processes that are killed while they record at full speed: what they told to be kept is in the log.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use wardgate_decision_log::record::{Identity, ProcessEvent};
use wardgate_decision_log::redaction::{Field, LogSecret, ValuePosition};
use wardgate_native::decision_log::{Effect, Entry, EvidenceForm, Form, Redaction};

use super::memory_disk::Random;
use super::*;
use crate::config::{Filter, Keep, OnFull};

const FOLDER: &str = "WARDGATE_TEST_LOG";
const MODE: &str = "WARDGATE_TEST_LOG_MODE";
const THREADS: usize = 3;

/// Where answers wait for their records, what is done without room, the most tickets until a kill, and the most decisions of a
/// thread that may be gone.
const MODES: [(Keep, OnFull, usize, u64); 4] = [
    (Keep::System, OnFull::Deny, 3000, 0),
    (Keep::Disk, OnFull::Deny, 300, 0),
    (Keep::Memory, OnFull::Block(Duration::from_secs(60)), 100_000, RING),
    // What had no room since the last look at a ring was not recorded at all.
    (Keep::Memory, OnFull::Drop, 100_000, u64::MAX),
];

/// The most entries of a ring, and of a frame that is being made: each of them has more than 64 bytes.
const RING: u64 = (1 << 20) / 64 + 4096;

fn start(folder: &Path, mode: usize) -> Recorder {
    let (keep, on_full, ..) = MODES[mode];
    let (principal, resource) = (Form::Commitment, Form::Clear);
    let secret = LogSecret::new([9; 32]);
    let settings = RecorderSettings {
        redaction: Redaction { principal, resource, evidence: EvidenceForm::Commitment, secret },
        on_full,
        keep,
        sync: Duration::from_millis(20),
        checkpoint: Duration::from_millis(30),
        heartbeat: Duration::from_secs(10),
        segment: None,
        retention: None,
        shipped: None,
        filter: Filter::All,
        reserve: 0,
        ring_bytes: 0,
    };
    let (writer, _) = open(folder, 100_000).unwrap();
    Recorder::start(folder, writer, LogSecret::new([9; 32]), settings).unwrap()
}

/// The process that is killed. Tells the threads and numbers of decisions whose answers may leave.
#[test]
fn records_until_it_is_killed() {
    let (Some(folder), Ok(mode)) = (std::env::var_os(FOLDER), std::env::var(MODE)) else { return };
    let recorder = start(Path::new(&folder), mode.parse().unwrap());
    writeln!(std::io::stdout()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let recorder = &recorder;
            scope.spawn(move || {
                let (principal, resource) = (format!("principal {thread}"), thread.to_string());
                for number in 0_u64.. {
                    let entry = Entry {
                        micros: 5,
                        policies: 1,
                        principal: &principal,
                        kind: "album",
                        resource: &resource,
                        ..Entry::default()
                    };
                    assert!(recorder.record(&entry, &[("view", Effect::Allowed)]));
                    assert!(recorder.keep());
                    if writeln!(std::io::stdout(), "kept {thread} {number}").is_err() {
                        return;
                    }
                }
            });
        }
    });
}

/// Starts a process that records, kills it at a random moment, and returns how many decisions of each thread it told.
fn kill(folder: &Path, mode: usize, random: &mut Random) -> [u64; THREADS] {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "decision_log::tests::killing::records_until_it_is_killed"])
        .args(["--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(MODE, mode.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut told = [0; THREADS];
    let mut note = |line: String| -> bool {
        let ticket = line.strip_prefix("kept ").and_then(|rest| rest.split_once(' '));
        let Some((thread, number)) = ticket else { return false };
        told[thread.parse::<usize>().unwrap()] = number.parse::<u64>().unwrap() + 1;
        true
    };
    let tickets = 1 + random.below(MODES[mode].2);
    let mut read = 0;
    while read < tickets {
        read += usize::from(note(lines.next().expect("the process has ended by itself")));
    }
    for _ in 0..random.below(100_000) {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    lines.for_each(|line| {
        note(line);
    });
    child.wait().unwrap();
    told
}

/// What a log says of one process: the decisions of each thread, in their order, and whether it ended by itself.
#[derive(Debug, Default)]
struct Epoch {
    /// For each stream its next sequence, and the thread if one of its decisions is in the log.
    streams: BTreeMap<u16, (u64, Option<usize>)>,
    lost: u64,
    is_stopped: bool,
}

/// Checks that all values to which the records of a log commit are beside it. They are written behind each frame, so those of
/// the last frame of a killed process may be missing: none of its answers has left.
fn check_values(folder: &Path) {
    let mut reader = LogReader::open(folder).unwrap();
    let (mut values, mut is_missing) = (Unsealer::open(folder).unwrap(), false);
    while let Some(stored) = reader.next_frame().unwrap() {
        let frame = stored.frame().unwrap();
        for (number, bytes) in (frame.head.first..).zip(&frame.records) {
            let body = Record::read(bytes).unwrap().body;
            if number == frame.head.first && is_missing {
                assert!(matches!(&body, Body::Process(one) if one.event == ProcessEvent::Started));
                is_missing = false;
            }
            let Body::Decision(decision) = body else { continue };
            let Identity::Commitment(commitment) = &decision.principal else { panic!() };
            let place = ValuePosition { record: number, field: Field::Principal };
            match values.open_value(place, commitment).unwrap() {
                Unsealed::Value(_) => {}
                Unsealed::Missing => is_missing = true,
                other => panic!("record {number}: {other:?}"),
            }
        }
    }
}

/// Reads what a log says of each process. Every sequence of a stream is there, or told as lost.
fn epochs(folder: &Path) -> Vec<Epoch> {
    let (mut reader, mut epochs) = (LogReader::open(folder).unwrap(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            let record = Record::read(bytes).unwrap();
            if let Body::Process(process) = &record.body
                && process.event == ProcessEvent::Started
            {
                epochs.push(Epoch::default());
            }
            let epoch = epochs.last_mut().unwrap();
            match record.body {
                Body::Process(process) => epoch.is_stopped = process.event == ProcessEvent::Stopped,
                Body::Decision(decision) => {
                    let Identity::Clear(thread) = &decision.resource else { panic!() };
                    let (next, of) = epoch.streams.entry(record.stream).or_default();
                    assert_eq!(u64::from(record.sequence), *next);
                    (*next, *of) = (*next + 1, Some(thread.as_str().parse().unwrap()));
                }
                Body::Lost(lost) => {
                    let (next, _) = epoch.streams.entry(lost.stream).or_default();
                    assert_eq!(u64::from(lost.first), *next);
                    *next += lost.count;
                    epoch.lost += lost.count;
                }
                _ => {}
            }
        }
    }
    epochs
}

#[test]
fn a_killed_process_loses_nothing_that_was_kept() {
    let kills = if std::env::var_os("SLOW_TESTS").is_some() { 2000 } else { 20 };
    let mut random = Random(kills);
    let (mut decisions, mut unwritten, mut dropped) = (0, 0, 0);
    for round in 0..kills / 5 {
        let (folder, mode) = (Temporary::new(), round as usize % MODES.len());
        for number in 1..=5 {
            let told = kill(&folder.0, mode, &mut random);
            // It starts again.
            start(&folder.0, mode).close().unwrap();
            let found = epochs(&folder.0);
            assert_eq!(found.len(), 2 * number);
            let [.., epoch, restarted] = &found[..] else { panic!() };
            // The missing end shows: the process did not stop before the next one started.
            assert!(!epoch.is_stopped && restarted.is_stopped);
            let mut written = [0; THREADS];
            for (next, thread) in epoch.streams.values() {
                thread.iter().for_each(|thread| written[*thread] = *next);
            }
            for (told, written) in told.into_iter().zip(written) {
                let lost = told.saturating_sub(written);
                assert!(lost <= MODES[mode].3, "{lost} in mode {mode}");
                (decisions, unwritten) = (decisions + told, unwritten + lost);
            }
            dropped += epoch.lost;
            verified(&folder).unwrap();
        }
        if mode < 2 {
            check_values(&folder.0);
        }
    }
    println!(
        "{kills} kills, {decisions} decisions told; {unwritten} of those in memory gone, {dropped} told as lost"
    );
    assert!(decisions > kills);
}
