//! The files of a small decision log, in `tests/decision-log`, which another implementation verifies
//! (`tests/decision-log/go`). `UPDATE_VECTORS=1` writes them anew.

#![expect(
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "a small log, made here"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use wardgate_crypto::ml_dsa::{Level, SigningKey};
use wardgate_decision_log::checkpoint::{Checkpoint, LogKey, ML_DSA_44};
use wardgate_decision_log::frame::{Draft, Frame, FramePosition, START};
use wardgate_decision_log::merkle::{self, Digest, Frontier, Head, is_consistent};
use wardgate_decision_log::note::{Note, VerifierKey};
use wardgate_decision_log::proof::Proof;
use wardgate_decision_log::record::{
    Body, Clock, Decision, Effect, Erasure, Evidence, Identity, Loss, Lost, Outcome, Policies,
    Process, ProcessEvent, Record, Search, Settings, ShortText, Target, Text,
};
use wardgate_decision_log::tile::{self, Tile, Tiles};

const ORIGIN: &str = "log.example/wardgate";
const FRAMES: u64 = 300;
const OLD: u64 = 100;
/// The time of the records of the segment.
const MICROS: i64 = 1_790_000_000_123_456;

/// The files by their paths.
type Files = BTreeMap<String, Vec<u8>>;

struct Log {
    frames: Vec<Vec<u8>>,
    entries: Vec<Vec<u8>>,
    /// The digests of each level of tiles.
    levels: Vec<Vec<Digest>>,
}

impl Log {
    fn new() -> Self {
        let mut log = Self { frames: Vec::new(), entries: Vec::new(), levels: vec![Vec::new(); 2] };
        let (mut place, mut tree) =
            (FramePosition { first: 0, durable: 0, before: [0; 32] }, Frontier::default());
        for number in 0..FRAMES {
            let (mut draft, mut frame) = (Draft::default(), Vec::new());
            for sequence in 0..number % 4 {
                let micros = (number * 10 + sequence) as i64;
                let body = Body::Clock(Clock { before: micros + 1, now: micros });
                let record = Record { stream: 1, caller: 0, sequence: sequence as u32, body };
                assert!(draft.add(&record.to_bytes(), micros));
            }
            let head = draft.write(place, number as i64, &mut frame);
            place =
                FramePosition { first: head.next(), durable: place.first, before: head.digest() };
            log.entries.push(head.entry(ORIGIN));
            log.frames.push(frame);
            tree.append(merkle::leaf(&head.entry(ORIGIN)), |level, digest| {
                if level % 8 == 0 {
                    log.levels[level as usize / 8].push(digest);
                }
            });
        }
        assert_eq!(merkle::root(FRAMES, &log.tiles()), Some(tree.root()));
        log
    }

    fn tile(&self, tile: Tile) -> Option<Vec<u8>> {
        let from = tile.index as usize * tile::WIDTH;
        let digests = self.levels[tile.level as usize].get(from..from + usize::from(tile.width))?;
        Some(digests.as_flattened().to_vec())
    }

    fn tiles(&self) -> Tiles<impl Fn(Tile) -> Option<Vec<u8>>> {
        Tiles { size: FRAMES, read: |tile| self.tile(tile) }
    }

    fn head(&self, size: u64) -> Head {
        Head { size, root: merkle::root(size, &self.tiles()).unwrap() }
    }

    fn checkpoint(&self, size: u64) -> String {
        let checkpoint = Checkpoint { origin: ORIGIN.into(), head: self.head(size) };
        let seconds = 1_790_000_000 + size;
        let signature = checkpoint.sign((&secret(), ORIGIN), seconds, &[0; 32]).unwrap();
        Note { text: checkpoint.to_string(), signatures: vec![signature] }.to_string()
    }

    fn proof(&self, index: u64, position: u32) -> Proof {
        let frame = Frame::read(&self.frames[index as usize]).unwrap();
        let inclusion = merkle::inclusion(index, FRAMES, &self.tiles()).unwrap();
        let checkpoint = self.checkpoint(FRAMES);
        Proof::new((&frame, position), (index, inclusion), &checkpoint).unwrap()
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        let mut put = |path: &str, bytes: Vec<u8>| files.insert(path.to_owned(), bytes);
        put("key.vkey", format!("{}\n", verifier_key()).into_bytes());
        put("checkpoint", self.checkpoint(FRAMES).into_bytes());
        put("checkpoint.100", self.checkpoint(OLD).into_bytes());
        put("first.tlog-proof", self.proof(1, 0).to_string().into_bytes());
        put("last.tlog-proof", self.proof(299, 2).to_string().into_bytes());
        put("records.wgl", segment());
        for tile in tile::between(0, FRAMES) {
            put(&tile.path(), self.tile(tile).unwrap());
            if tile.level == 0 {
                let from = tile.index as usize * tile::WIDTH;
                let mut bundle = Vec::new();
                let entries = &self.entries[from..from + usize::from(tile.width)];
                entries.iter().for_each(|entry| tile::put_entry(entry, &mut bundle));
                put(&tile.entries_path(), bundle);
            }
        }
        files
    }
}

/// Returns a segment of two frames, of which the first has a record of each kind and the second decisions with
/// each form of id and evidence.
fn segment() -> Vec<u8> {
    let mut segment = START.to_vec();
    let mut place = FramePosition { first: 5, durable: 0, before: [0; 32] };
    for bodies in [events(), decisions()] {
        let mut draft = Draft::default();
        for (sequence, body) in bodies.into_iter().enumerate() {
            let record = Record { stream: 2, caller: 3, sequence: sequence as u32, body };
            assert!(draft.add(&record.to_bytes(), MICROS));
        }
        let head = draft.write(place, MICROS, &mut segment);
        place = FramePosition { first: head.next(), durable: head.first, before: head.digest() };
    }
    segment
}

fn events() -> Vec<Body> {
    let (micros, text) = (MICROS, |text: &str| ShortText::new(text).unwrap());
    vec![
        Body::Process(Process {
            micros,
            event: ProcessEvent::Started,
            instance: [7; 16],
            version: text("1.2.3"),
        }),
        Body::Settings(Settings { micros, text: Text::new("all of it").unwrap() }),
        Body::Policies(Policies {
            micros,
            number: 1,
            revision: 9,
            root: [8; 32],
            name: text("albums"),
        }),
        Body::Target(Target {
            policies: 1,
            number: 4,
            kind: text("album"),
            version: text("default"),
            scope: text("acme.é"),
            action: text("view"),
        }),
        Body::Lost(Lost { micros, stream: 2, first: 6, count: 1 << 40, reason: text("full") }),
        Body::Clock(Clock { before: micros, now: -1 }),
        Body::Erasure(Erasure { micros, keys: 2 }),
        Body::Search(Search { micros, policies: 1, target: 4, asked: 100, allowed: 17 }),
        Body::Loss(Loss { micros, frames: 10, found: 8, reason: text("the disk") }),
        Body::Process(Process {
            micros,
            event: ProcessEvent::Stopped,
            instance: [7; 16],
            version: text("1.2.3"),
        }),
    ]
}

fn decisions() -> Vec<Body> {
    let plain = Decision {
        micros: MICROS,
        policies: 1,
        outcomes: vec![
            Outcome { target: 4, effect: Effect::Allowed },
            Outcome { target: 5, effect: Effect::Denied },
            Outcome { target: (1 << 30) - 1, effect: Effect::Limited },
        ],
        principal: Identity::Clear(ShortText::new("adá").unwrap()),
        resource: Identity::Clear(ShortText::new("a long id, of more than 32 bytes: a1").unwrap()),
        trace: None,
        request: None,
        is_general: false,
        is_cut: false,
        evidence: Evidence::None,
    };
    let with = |evidence: Evidence| Decision { evidence, ..plain.clone() };
    let all = [
        plain.clone(),
        Decision {
            principal: Identity::Pseudonym([1; 16]),
            resource: Identity::Commitment([2; 32]),
            trace: Some([3; 16]),
            request: ShortText::new("request 1"),
            is_general: true,
            is_cut: true,
            ..plain.clone()
        },
        Decision { principal: Identity::Absent, outcomes: Vec::new(), ..plain.clone() },
        with(Evidence::Read(vec![1, 2, 3])),
        with(Evidence::Request(Vec::new())),
        with(Evidence::Digest([4; 32])),
        with(Evidence::CommittedRead([5; 32])),
        with(Evidence::CommittedRequest([6; 32])),
    ];
    all.into_iter().map(Body::Decision).collect()
}

fn secret() -> SigningKey {
    SigningKey::from_seed(Level::MlDsa44, &[42; 32])
}

fn verifier_key() -> VerifierKey {
    VerifierKey { name: ORIGIN.into(), kind: ML_DSA_44, key: secret().public_key() }
}

#[test]
fn the_files_of_a_log_are_those_that_were_verified() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("decision-log");
    for (path, bytes) in Log::new().files() {
        let file = folder.join(&path);
        if env::var_os("UPDATE_VECTORS").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &bytes).unwrap();
        }
        assert_eq!(fs::read(&file).unwrap(), bytes, "{path}");
    }
}

#[test]
fn the_proofs_and_checkpoints_of_the_log_hold() {
    let (log, key) = (Log::new(), LogKey::read(&verifier_key().to_string()).unwrap());
    let proved = log.proof(299, 2).verify(&key).unwrap();
    assert_eq!((proved.number, proved.checkpoint.seconds), (449, 1_790_000_300));
    let path = merkle::consistency(OLD, FRAMES, &log.tiles()).unwrap();
    assert!(is_consistent(log.head(OLD), log.head(FRAMES), &path));
}
