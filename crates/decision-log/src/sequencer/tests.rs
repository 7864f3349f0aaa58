//! A sequencer over a store in memory, which fails as a test says.

mod hiding;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::frame::{Draft, FrameError, FramePosition};
use crate::record::{Decision, Effect, Evidence, Identity, Outcome, Policies, Target};

const NOW: i64 = 1_790_000_000_000_000;

fn signer() -> LogSigner {
    LogSigner::new("log.example/edge", &[7; 32]).unwrap()
}

fn text(text: &str) -> ShortText {
    ShortText::cut(text)
}

fn record(stream: u16, sequence: u32, body: Body) -> Vec<u8> {
    Record { stream, caller: 0, sequence, body }.to_bytes()
}

fn begin(isolate: u8) -> Vec<u8> {
    let event = ProcessEvent::Started;
    let process = Process { micros: NOW, event, instance: [isolate; 16], version: text(FORM) };
    record(0, 0, Body::Process(process))
}

fn policies(number: u32, revision: u64) -> Vec<u8> {
    let body = Policies { micros: NOW, number, revision, root: [1; 32], name: text("shop") };
    record(0, 0, Body::Policies(body))
}

fn target(number: u32, action: &str) -> Vec<u8> {
    let (kind, version, scope, action) = (text("album"), text(""), text(""), text(action));
    record(0, 0, Body::Target(Target { policies: 3, number, kind, version, scope, action }))
}

fn decided(sequence: u32, target: u32, id: &str) -> Vec<u8> {
    let decision = Decision {
        micros: NOW,
        policies: 3,
        outcomes: alloc::vec![Outcome { target, effect: Effect::Allowed }],
        principal: Identity::Clear(text(id)),
        resource: Identity::Absent,
        trace: None,
        request: None,
        is_general: false,
        is_cut: false,
        evidence: Evidence::None,
    };
    record(1, sequence, Body::Decision(decision))
}

fn framed(records: &[Vec<u8>]) -> Vec<u8> {
    let (mut draft, mut out) = (Draft::default(), Vec::new());
    records.iter().for_each(|record| assert!(draft.add(record, NOW)));
    draft.write(FramePosition { first: 0, durable: 0, before: [0; 32] }, NOW, &mut out);
    out
}

/// Returns a frame of an isolate with so many decisions, each about an action and an id of its own.
fn part(isolate: u8, first: u32, count: u32) -> Vec<u8> {
    let mut records =
        alloc::vec![begin(isolate), policies(3, 9), target(5, "view"), target(6, "edit")];
    let id = |sequence: u32| format!("{isolate}-{sequence}");
    records.extend((first..first + count).map(|at| decided(at, 5 + at % 2, &id(at))));
    framed(&records)
}

/// Objects, whose writes fail from a certain one on.
#[derive(Clone, Default)]
struct Store {
    objects: BTreeMap<String, (Vec<u8>, u64)>,
    /// The writes until the one that fails, and whether that one is done nevertheless.
    fails: Option<(usize, bool)>,
    writes: usize,
}

#[derive(Debug, PartialEq)]
enum Failure {
    Away,
    Refused,
}

impl Store {
    fn get(&self, name: &str) -> Option<&[u8]> {
        self.objects.get(name).map(|(bytes, _)| bytes.as_slice())
    }

    fn version(&self, name: &str) -> u64 {
        self.objects.get(name).map_or(0, |(_, version)| *version)
    }

    fn put(&mut self, write: &Write, checkpoint: u64) -> Result<(), Failure> {
        self.writes += 1;
        let fails = self.fails.filter(|(at, _)| self.writes == *at);
        if matches!(fails, Some((_, false))) {
            return Err(Failure::Away);
        }
        let version = self.version(&write.name);
        match write.condition {
            Condition::New if version != 0 => return Err(Failure::Refused),
            Condition::Unchanged if version != checkpoint => return Err(Failure::Refused),
            Condition::Deletion => {
                self.objects.remove(&write.name);
            }
            _ => {
                self.objects.insert(write.name.clone(), (write.bytes.clone(), version + 1));
            }
        }
        if fails.is_some() { Err(Failure::Away) } else { Ok(()) }
    }

    /// Opens the sequencer as a host does, and returns the version of the checkpoint.
    fn open(&self) -> (Sequencer, u64) {
        let objects = (self.get("sequencer"), self.get("checkpoint"));
        let mut opened = Sequencer::open(signer(), [1; 16], objects).unwrap();
        while let Some(segment) = self.get(&opened.next_segment()) {
            opened.follow(segment, NOW).unwrap();
        }
        opened.must_be_whole().unwrap();
        (opened, self.version("checkpoint"))
    }

    /// Returns the ids of all decisions after following the log from its first frame to its checkpoint.
    fn decisions(&self) -> Vec<String> {
        let mut opened =
            Sequencer::open(signer(), [1; 16], (None, self.get("checkpoint"))).unwrap();
        let mut ids = Vec::new();
        while let Some(segment) = self.get(&opened.next_segment()) {
            let mut actions = BTreeMap::new();
            let mut rest = &segment[START.len()..];
            while !rest.is_empty() {
                let frame = Frame::read(rest).unwrap();
                for record in &frame.records {
                    ids.extend(named(&Record::read(record).unwrap().body, &mut actions));
                }
                rest = &rest[frame.bytes()..];
            }
            opened.follow(segment, NOW).unwrap();
        }
        opened.must_be_whole().unwrap();
        ids.sort();
        ids
    }
}

/// Returns the id of a decision, whose action must be the one that it was made about.
fn named(body: &Body, actions: &mut BTreeMap<u32, ShortText>) -> Option<String> {
    match body {
        Body::Target(target) => {
            actions.insert(target.number, target.action.clone());
            None
        }
        Body::Decision(decision) => {
            let Identity::Clear(id) = &decision.principal else { return None };
            let sequence: u32 = id.as_str().split_once('-').unwrap().1.parse().unwrap();
            let action = actions[&decision.outcomes[0].target].as_str();
            assert_eq!(action, if (5 + sequence % 2) == 5 { "view" } else { "edit" });
            Some(id.as_str().into())
        }
        _ => None,
    }
}

fn committed(
    sequencer: &mut Sequencer,
    store: &mut Store,
    checkpoint: &mut u64,
) -> Result<(), Failure> {
    for write in sequencer.commit(NOW, &[0; 32]).unwrap() {
        match (write.condition, store.put(&write, *checkpoint)) {
            (Condition::Deletion, _) => {}
            (_, put) => put?,
        }
    }
    *checkpoint = store.version("checkpoint");
    Ok(())
}

/// Delivers batches of frames until each was acknowledged, with a crash at a write; returns what was written.
fn delivered(batches: &[Vec<Vec<u8>>], fails: Option<(usize, bool)>) -> Store {
    let mut store = Store { fails, ..Store::default() };
    for batch in batches {
        for attempt in 0.. {
            assert!(attempt < 3);
            let (mut sequencer, mut checkpoint) = store.open();
            for frame in batch {
                sequencer.take(frame, NOW).unwrap();
            }
            let acknowledged = store.decisions();
            let result = committed(&mut sequencer, &mut store, &mut checkpoint);
            let after = store.decisions();
            assert!(acknowledged.iter().all(|id| after.contains(id)));
            if result.is_ok() {
                // What is acknowledged is signed.
                let (mut opened, _) = store.open();
                assert_eq!(opened.commit(NOW, &[0; 32]).unwrap(), []);
                break;
            }
        }
    }
    store
}

fn batches() -> Vec<Vec<Vec<u8>>> {
    let mut batches = alloc::vec![
        alloc::vec![part(1, 0, 3), part(2, 4, 2), part(1, 0, 3)],
        alloc::vec![part(2, 0, 4), part(1, 3, 1)],
    ];
    batches.push(alloc::vec![part(3, 0, 5), part(1, 0, 3)]);
    batches
}

fn expected() -> Vec<String> {
    let of = |isolate: u32, count: u32| (0..count).map(move |at| format!("{isolate}-{at}"));
    of(1, 4).chain(of(2, 6)).chain(of(3, 5)).collect()
}

#[test]
fn each_frame_is_in_the_log_once() {
    assert_eq!(delivered(&batches(), None).decisions(), expected());
}

#[test]
fn a_crash_at_any_write_loses_and_repeats_nothing() {
    let writes = delivered(&batches(), None).writes;
    assert_eq!(writes, 15, "five for each batch");
    for at in 1..=writes {
        for is_done in [false, true] {
            let store = delivered(&batches(), Some((at, is_done)));
            assert_eq!(store.decisions(), expected(), "write {at}, done: {is_done}");
        }
    }
}

/// A second sequencer runs between any two writes of the first.
#[test]
fn of_two_sequencers_one_is_refused_and_the_log_is_one() {
    let [first, second, third] = <[Vec<Vec<u8>>; 3]>::try_from(batches()).unwrap();
    for at in 0..5 {
        let mut store = delivered(core::slice::from_ref(&first), None);
        let (mut one, mut seen_by_one) = store.open();
        let (mut other, mut seen_by_other) = store.open();
        second.iter().for_each(|frame| assert!(one.take(frame, NOW).is_ok()));
        third.iter().for_each(|frame| assert!(other.take(frame, NOW).is_ok()));
        let mut refused = 0;
        for (number, write) in one.commit(NOW, &[0; 32]).unwrap().iter().enumerate() {
            if number == at {
                let result = committed(&mut other, &mut store, &mut seen_by_other);
                refused += usize::from(result == Err(Failure::Refused));
            }
            if store.put(write, seen_by_one) == Err(Failure::Refused) {
                refused += 1;
                break;
            }
            if write.name == "checkpoint" {
                seen_by_one = store.version("checkpoint");
            }
        }
        assert!(refused == 1, "at {at}: {refused}");
        // Whoever was refused opens the log again, and its frames are delivered again.
        let (mut next, mut seen) = store.open();
        second.iter().chain(&third).for_each(|frame| assert!(next.take(frame, NOW).is_ok()));
        committed(&mut next, &mut store, &mut seen).unwrap();
        assert_eq!(store.decisions(), expected(), "at {at}");
    }
}

#[test]
fn what_does_not_come_in_time_is_recorded_as_lost() {
    let mut store = delivered(&[alloc::vec![part(1, 0, 2), part(1, 5, 1)]], None);
    let later = NOW + LATE_MICROS;
    let (mut sequencer, seen) = store.open();
    sequencer.take(&part(2, 0, 1), later).unwrap();
    for write in sequencer.commit(later, &[0; 32]).unwrap() {
        store.put(&write, seen).unwrap();
    }
    let segment = store.get("000000000001.wgl").unwrap();
    let frame = Frame::read(&segment[START.len()..]).unwrap();
    let lost: Vec<Lost> = frame
        .records
        .iter()
        .filter_map(|record| match Record::read(record)?.body {
            Body::Lost(lost) => Some(lost),
            _ => None,
        })
        .collect();
    assert_eq!(
        lost.iter().map(|lost| (lost.stream, lost.first, lost.count)).collect::<Vec<_>>(),
        [(1, 2, 3)]
    );
    let (mut sequencer, _) = store.open();
    assert_eq!(sequencer.take(&part(1, 2, 3), later), Err(Refusal::Late));
    assert_eq!(sequencer.take(&part(1, 0, 2), later), Ok(Taken::Known));
    // The same from the segments alone.
    let mut opened = Sequencer::open(signer(), [1; 16], (None, store.get("checkpoint"))).unwrap();
    while let Some(segment) = store.get(&opened.next_segment()) {
        opened.follow(segment, later).unwrap();
    }
    assert_eq!(opened.take(&part(1, 2, 3), later), Err(Refusal::Late));
}

#[test]
fn other_frames_are_refused() {
    let (mut sequencer, _) = Store::default().open();
    let mut check = |frame: &[u8], refusal: Refusal| {
        assert_eq!(sequencer.take(frame, NOW), Err(refusal));
    };
    let good = part(1, 0, 2);
    check(b"", Refusal::Frame(FrameError::Short));
    check(&good[..good.len() - 1], Refusal::Frame(FrameError::Short));
    check(&[good.as_slice(), b"x"].concat(), Refusal::Trailing);
    check(&alloc::vec![0; 128_001], Refusal::Large);
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 1;
        assert!(sequencer.take(&damaged, NOW).is_err(), "{at}");
    }
    let mut check = |records: &[Vec<u8>], refusal: Refusal| {
        assert_eq!(sequencer.take(&framed(records), NOW), Err(refusal));
    };
    let named = || [begin(1), policies(3, 9), target(5, "view")];
    let with = |more: Vec<u8>| [named().as_slice(), &[more]].concat();
    check(&[], Refusal::Version);
    check(&named()[1..], Refusal::Version);
    check(&named(), Refusal::Empty);
    check(&with(begin(1)), Refusal::Kind);
    check(&with(decided(0, 6, "a")), Refusal::Name);
    check(&[with(decided(0, 5, "a")), alloc::vec![decided(2, 5, "a")]].concat(), Refusal::Sequence);
    check(&with(decided(u32::MAX, 5, "a")), Refusal::Sequence);
    check(&[begin(1), alloc::vec![99; 20]], Refusal::Frame(FrameError::Records));
    check(&with([&[0, 0, 12, 0], [0; 8].as_slice()].concat()), Refusal::Record);
    assert_eq!(sequencer.take(&good, NOW + FORGET_MICROS + 1), Err(Refusal::Old));
    assert_eq!(sequencer.take(&good, NOW - AHEAD_MICROS - 1), Err(Refusal::Future));
    assert_eq!(sequencer.commit(NOW, &[0; 32]).unwrap(), []);
    assert_eq!(sequencer.take(&good, NOW), Ok(Taken::New));
    assert_eq!(sequencer.take(&part(1, 1, 2), NOW), Err(Refusal::Overlap));
}

#[test]
fn objects_of_another_log_or_time_are_refused() {
    let store = delivered(&batches(), None);
    let open = |state: Option<&[u8]>, checkpoint: Option<&[u8]>| {
        Sequencer::open(signer(), [1; 16], (state, checkpoint)).map(|opened| opened.must_be_whole())
    };
    let (state, checkpoint) = (store.get("sequencer"), store.get("checkpoint"));
    assert!(matches!(open(state, checkpoint), Ok(Ok(()))));
    assert_eq!(open(None, checkpoint).unwrap(), Err(SequencerError::Truncated));
    assert_eq!(open(state, None).unwrap_err(), SequencerError::State);
    let mut changed = state.unwrap().to_vec();
    changed[60] ^= 1;
    assert_eq!(open(Some(&changed), checkpoint).unwrap_err(), SequencerError::State);
    let other = LogSigner::new("log.example/edge", &[8; 32]).unwrap();
    let opened = Sequencer::open(other, [1; 16], (None, checkpoint));
    let unsigned = SequencerError::Checkpoint(CheckpointError::Unsigned);
    assert_eq!(opened.unwrap_err(), unsigned);
}

#[test]
fn a_segment_that_another_program_wrote_is_not_signed() {
    let store = delivered(&batches(), None);
    let (mut next, _) = store.open();
    let check = |next: &mut Sequencer, segment: &[u8], error: SequencerError| {
        assert_eq!(next.follow(segment, NOW), Err(error));
    };
    // Right frames at the right place, by one who has no key.
    let mut forged = Vec::from(START);
    let (mut draft, place) = (Draft::default(), &next.state.place);
    assert!(draft.add(&begin(1), NOW));
    let position = FramePosition { first: place.next, durable: 0, before: place.before };
    draft.write(position, NOW, &mut forged);
    check(&mut next, &forged, SequencerError::Foreign);
    check(&mut next, &forged[..forged.len() - 1], SequencerError::Segment);
    check(&mut next, START, SequencerError::Segment);
    // Neither does another place have a mark of this log.
    let first = store.get("000000000000.wgl").unwrap().to_vec();
    check(&mut next, &first, SequencerError::Foreign);
}

#[test]
fn a_log_that_fills_tiles_is_read_again() {
    let mut store = Store::default();
    let (mut sequencer, mut checkpoint) = store.open();
    for number in 0..260 {
        sequencer.take(&part(1, number, 1), NOW).unwrap();
        committed(&mut sequencer, &mut store, &mut checkpoint).unwrap();
    }
    assert!(store.get("tile/0/000").is_some_and(|tile| tile.len() == 256 * 32));
    assert!(store.get("tile/0/000.p/255").is_none());
    assert!(store.get("tile/0/001.p/4").is_some());
    let (mut sequencer, mut checkpoint) = store.open();
    sequencer.take(&part(1, 260, 1), NOW).unwrap();
    committed(&mut sequencer, &mut store, &mut checkpoint).unwrap();
    assert_eq!(store.decisions().len(), 261);
}

#[test]
fn isolates_are_forgotten_when_their_frames_would_be_refused() {
    let (mut sequencer, _) = Store::default().open();
    sequencer.take(&part(1, 0, 1), NOW).unwrap();
    sequencer.commit(NOW + FORGET_MICROS, &[0; 32]).unwrap();
    assert_eq!(sequencer.state.isolates.len(), 1);
    assert_eq!(sequencer.take(&part(1, 0, 1), NOW + FORGET_MICROS), Ok(Taken::Known));
    sequencer.take(&part(2, 0, 1), NOW).unwrap();
    sequencer.commit(NOW + FORGET_MICROS + 1, &[0; 32]).unwrap();
    assert_eq!(sequencer.state.isolates.len(), 0);
    assert_eq!(sequencer.take(&part(1, 0, 1), NOW + FORGET_MICROS + 1), Err(Refusal::Old));
}
