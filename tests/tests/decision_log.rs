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
use wardgate_decision_log::frame::{Draft, Frame, FramePosition};
use wardgate_decision_log::merkle::{self, Digest, Frontier, Head, is_consistent};
use wardgate_decision_log::note::{Note, VerifierKey};
use wardgate_decision_log::proof::Proof;
use wardgate_decision_log::record::{Body, Clock, Record};
use wardgate_decision_log::tile::{self, Tile, Tiles};

const ORIGIN: &str = "log.example/wardgate";
const FRAMES: u64 = 300;
const OLD: u64 = 100;

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
