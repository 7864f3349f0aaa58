//! Sequencers that hide values: what is in the log, and what opens it.

use super::*;
use crate::redaction::{Field, Sealed, SubjectKey, ValuePosition};
use crate::subjects::{ENTRY_BYTES, read_entry};

/// Returns a frame of an isolate with one decision: about a principal, the album `shared` and an evidence with both.
fn about(isolate: u8, sequence: u32, principal: Identity) -> Vec<u8> {
    with_evidence(isolate, sequence, principal, Evidence::Read(b"owner: sue".to_vec()))
}

fn with_evidence(isolate: u8, sequence: u32, principal: Identity, evidence: Evidence) -> Vec<u8> {
    let Body::Decision(plain) = Record::read(&decided(sequence, 5, "")).unwrap().body else {
        panic!("expected a decision");
    };
    let resource = Identity::Clear(text("shared"));
    let decision = Body::Decision(Decision { principal, resource, evidence, ..plain });
    let named = [begin(isolate), policies(3, 9), target(5, "view")];
    framed(&[named.as_slice(), &[record(1, sequence, decision)]].concat())
}

fn clear(id: &str) -> Identity {
    Identity::Clear(text(id))
}

/// The versions of the checkpoint and of the keys that a sequencer has seen.
#[derive(Clone, Copy)]
struct Seen {
    checkpoint: u64,
    keys: u64,
}

impl Store {
    /// Opens a sequencer that hides values, with a random number and a seed of its own.
    fn open_hiding(&self, random: u8) -> (Sequencer, Seen) {
        let objects = (self.get("sequencer"), self.get("checkpoint"));
        let keys = self.get(KEYS).unwrap_or_default();
        let opened = Sequencer::open(signer(), [random; 16], objects).unwrap();
        let mut opened = opened.hiding(keys, [random; 32]).unwrap();
        while let Some(segment) = self.get(&opened.next_segment()) {
            opened.follow(segment, NOW).unwrap();
        }
        opened.must_be_whole().unwrap();
        (opened, Seen { checkpoint: self.version("checkpoint"), keys: self.version(KEYS) })
    }

    fn write(&mut self, write: &Write, seen: &mut Seen) -> Result<(), Failure> {
        let of = if write.name == KEYS { &mut seen.keys } else { &mut seen.checkpoint };
        let version = *of;
        self.put(write, version)?;
        if write.condition == Condition::Unchanged {
            *of = version + 1;
        }
        Ok(())
    }

    fn commit(&mut self, sequencer: &mut Sequencer, seen: &mut Seen) -> Result<(), Failure> {
        let writes = sequencer.commit(NOW, &[0; 32]).unwrap();
        writes.iter().try_for_each(|write| self.write(write, seen))
    }

    /// Returns all values of the decisions in the log, in their order: `-` for one that nobody can open.
    fn values(&self) -> Vec<String> {
        let (entries, _) = self.get(KEYS).unwrap_or_default().as_chunks::<ENTRY_BYTES>();
        let keys = entries.iter().map(|entry| SubjectKey::new(read_entry(entry).unwrap().1));
        let keys: BTreeMap<_, _> = keys.map(|key| (key.number(), key)).collect();
        let mut sealed = Vec::new();
        for (_, (bytes, _)) in self.objects.iter().filter(|(name, _)| name.ends_with(".wgv")) {
            let mut rest = bytes.as_slice();
            while let Some((value, behind)) = Sealed::read(rest) {
                sealed.push(value);
                rest = behind;
            }
            assert_eq!(rest, b"");
        }
        let open = |place: ValuePosition, commitment: &Digest| {
            let values = sealed.iter().filter(|value| value.place == place);
            let opened = values
                .filter_map(|value| keys.get(&value.key)?.unseal(place, commitment, &value.bytes));
            let mut texts = opened.map(|bytes| String::from_utf8(bytes).unwrap());
            texts.next().unwrap_or("-".into())
        };
        let mut found = Vec::new();
        for (record, decision) in self.recorded() {
            let of = |field| ValuePosition { record, field };
            let (principal, resource, evidence) =
                (&decision.principal, &decision.resource, &decision.evidence);
            let Identity::Commitment(commitment) = principal else { continue };
            found.push(open(of(Field::Principal), commitment));
            let Identity::Commitment(commitment) = resource else { panic!("{resource:?}") };
            found.push(open(of(Field::Resource), commitment));
            let Evidence::CommittedRead(commitment) = evidence else { panic!("{evidence:?}") };
            found.push(open(of(Field::Evidence), commitment));
        }
        found
    }

    /// Returns the decisions with the numbers of their records.
    fn recorded(&self) -> Vec<(u64, Decision)> {
        let segments = self.objects.iter().filter(|(name, _)| name.ends_with(".wgl"));
        let mut found = Vec::new();
        for (_, (segment, _)) in segments {
            for frame in frames_of(segment).unwrap() {
                for (number, record) in (frame.head.first..).zip(&frame.records) {
                    if let Body::Decision(decision) = Record::read(record).unwrap().body {
                        found.push((number, decision));
                    }
                }
            }
        }
        found
    }

    /// Returns the records of erasures.
    fn erasures(&self) -> Vec<u32> {
        let segments = self.objects.iter().filter(|(name, _)| name.ends_with(".wgl"));
        let frames = segments.flat_map(|(_, (segment, _))| frames_of(segment).unwrap());
        let records = frames.flat_map(|frame| frame.records);
        let bodies = records.map(|record| Record::read(record).unwrap().body);
        bodies
            .filter_map(
                |body| if let Body::Erasure(found) = body { Some(found.keys) } else { None },
            )
            .collect()
    }

    /// Returns true if some object has these bytes.
    fn holds(&self, bytes: &[u8]) -> bool {
        self.objects.values().any(|(object, _)| object.windows(bytes.len()).any(|at| at == bytes))
    }
}

fn values_of(ids: &[&str]) -> Vec<String> {
    ids.iter().flat_map(|id| [*id, "shared", "owner: sue"]).map(String::from).collect()
}

#[test]
fn values_are_beside_the_log_alone() {
    let mut store = Store::default();
    let (mut sequencer, mut seen) = store.open_hiding(1);
    for (sequence, id) in (0..).zip(["adalbert", "beatrice", "adalbert"]) {
        sequencer.take(&about(1, sequence, clear(id)), NOW).unwrap();
        // A commitment is over the number of its record, wherever a segment or a frame begins.
        if sequence == 1 {
            store.commit(&mut sequencer, &mut seen).unwrap();
        }
    }
    store.commit(&mut sequencer, &mut seen).unwrap();
    assert_eq!(store.values(), values_of(&["adalbert", "beatrice", "adalbert"]));
    for value in ["adalbert", "beatrice", "shared", "owner"] {
        assert!(!store.holds(value.as_bytes()), "{value}");
    }
    assert_eq!(store.get(KEYS).unwrap().len(), 2 * ENTRY_BYTES);
}

#[test]
fn values_of_nobody_are_left_out() {
    let mut store = Store::default();
    let (mut sequencer, mut seen) = store.open_hiding(1);
    sequencer.take(&about(1, 0, Identity::Pseudonym([3; 16])), NOW).unwrap();
    sequencer.take(&about(1, 1, Identity::Absent), NOW).unwrap();
    store.commit(&mut sequencer, &mut seen).unwrap();
    let recorded = store.recorded().into_iter();
    let values = recorded.map(|(_, it)| (it.principal, it.resource, it.evidence));
    let others = [Identity::Pseudonym([3; 16]), Identity::Absent];
    let expected = others.map(|id| (id, Identity::Absent, Evidence::None));
    assert_eq!(values.collect::<Vec<_>>(), expected);
    assert_eq!(store.get(KEYS), None);
}

#[test]
fn who_is_erased_cannot_be_read_in_any_copy() {
    let mut store = Store::default();
    let (mut sequencer, mut seen) = store.open_hiding(1);
    for (sequence, id) in (0..).zip(["ada", "eve"]) {
        sequencer.take(&about(1, sequence, clear(id)), NOW).unwrap();
    }
    store.commit(&mut sequencer, &mut seen).unwrap();
    assert_eq!(sequencer.erase(["nobody"].into_iter(), 0, NOW), 0);
    assert_eq!(sequencer.commit(NOW, &[0; 32]).unwrap(), []);
    sequencer.take(&about(1, 2, clear("eve")), NOW).unwrap();
    assert_eq!(sequencer.erase(["eve", "nobody", "eve"].into_iter(), 0, NOW), 1);
    // She has another key from here on.
    sequencer.take(&about(1, 3, clear("eve")), NOW).unwrap();
    store.commit(&mut sequencer, &mut seen).unwrap();
    let expected =
        [values_of(&["ada"]), ["-"; 6].map(String::from).to_vec(), values_of(&["eve"])].concat();
    assert_eq!((store.values(), store.erasures()), (expected, alloc::vec![1]));
    // Another sequencer goes on with the keys that are left.
    let (mut next, mut seen) = store.open_hiding(2);
    assert_eq!(next.erase(["ada", "eve"].into_iter(), 3, NOW), 5);
    store.commit(&mut next, &mut seen).unwrap();
    assert_eq!((store.get(KEYS), store.erasures()), (Some(&[][..]), alloc::vec![1, 5]));
    assert!(store.values().iter().all(|value| value == "-"));
}

fn ids() -> [&'static str; 4] {
    ["ada", "bo", "ada", "cleo"]
}

/// Delivers a decision about each id until it is acknowledged, with a crash at a write; returns what was written.
fn delivered(fails: Option<(usize, bool)>) -> Store {
    let mut store = Store { fails, ..Store::default() };
    for (sequence, id) in (0..).zip(ids()) {
        for attempt in 0.. {
            assert!(attempt < 3);
            let (mut sequencer, mut seen) = store.open_hiding(attempt);
            sequencer.take(&about(1, sequence, clear(id)), NOW).unwrap();
            if store.commit(&mut sequencer, &mut seen).is_ok() {
                break;
            }
        }
    }
    store
}

#[test]
fn a_crash_at_any_write_loses_no_value() {
    let writes = delivered(None).writes;
    assert_eq!(writes, 6 * 4 + 3, "six for each, and the keys of three");
    for at in 1..=writes {
        for is_done in [false, true] {
            let store = delivered(Some((at, is_done)));
            assert_eq!(store.values(), values_of(&ids()), "write {at}, done: {is_done}");
        }
    }
}

/// A second sequencer runs between any two writes of the first.
#[test]
fn two_sequencers_lose_no_value_and_no_key() {
    for at in 0..7 {
        let mut store = Store::default();
        let (mut one, mut seen_by_one) = store.open_hiding(1);
        let (mut other, mut seen_by_other) = store.open_hiding(2);
        let [first, second] = ["ada", "bo"].map(clear);
        let frames = [about(1, 0, first.clone()), about(2, 0, second), about(2, 1, first)];
        assert!(one.take(&frames[0], NOW).is_ok());
        frames[1..].iter().for_each(|frame| assert!(other.take(frame, NOW).is_ok()));
        for (number, write) in one.commit(NOW, &[0; 32]).unwrap().iter().enumerate() {
            if number == at {
                let _ = store.commit(&mut other, &mut seen_by_other);
            }
            if store.write(write, &mut seen_by_one).is_err() {
                break;
            }
        }
        let (mut next, mut seen) = store.open_hiding(3);
        frames.iter().for_each(|frame| assert!(next.take(frame, NOW).is_ok()));
        store.commit(&mut next, &mut seen).unwrap();
        let mut values = store.values();
        values.sort_unstable();
        let mut expected = values_of(&["ada", "bo", "ada"]);
        expected.sort_unstable();
        assert_eq!(values, expected, "at {at}");
    }
}

#[test]
fn damaged_keys_are_refused() {
    let store = delivered(None);
    let keys = store.get(KEYS).unwrap();
    let open = |keys: &[u8]| {
        let objects = (store.get("sequencer"), store.get("checkpoint"));
        Sequencer::open(signer(), [1; 16], objects).unwrap().hiding(keys, [1; 32]).err()
    };
    assert_eq!(open(keys), None);
    assert_eq!(open(&keys[1..]), Some(SequencerError::Keys));
    let mut changed = keys.to_vec();
    changed[20] ^= 1;
    assert_eq!(open(&changed), Some(SequencerError::Keys));
}

#[test]
fn a_segment_is_full_with_its_values() {
    let (mut sequencer, _) = Store::default().open_hiding(1);
    let evidence = || Evidence::Request(alloc::vec![7; 16 << 10]);
    let take = |sequencer: &mut Sequencer, at| {
        sequencer.take(&with_evidence(1, at, clear("ada"), evidence()), NOW)
    };
    let full = (0..600).find(|at| take(&mut sequencer, *at).is_err());
    // Their records alone have less than 100 KB.
    assert!(full.is_some_and(|at| at < 512), "{full:?}");
    assert_eq!(take(&mut sequencer, 512), Err(Refusal::Full));
}

const KEYS: &str = "private/keys.wgk";
