#![expect(clippy::as_conversions, reason = "small numbers of tests")]

use alloc::string::ToString;
use alloc::vec;

use wardgate_crypto::ml_dsa::{Level, SigningKey};

use super::*;
use crate::checkpoint::{Checkpoint, ML_DSA_44};
use crate::frame::{Draft, FramePosition};
use crate::limits::MAX_FRAME_RECORDS;
use crate::merkle::{Frontier, Subtrees};
use crate::note::{Note, VerifierKey};
use crate::record::{Body, Erasure};

const ORIGIN: &str = "log.example/a";

struct Leaves(Vec<Digest>);

impl Subtrees for Leaves {
    fn subtree(&self, level: u32, index: u64) -> Option<Digest> {
        let mut part = self.0.get((index << level) as usize..)?.get(..1 << level)?.to_vec();
        while part.len() > 1 {
            part = part.chunks(2).map(|pair| merkle::node(&pair[0], &pair[1])).collect();
        }
        part.first().copied()
    }
}

fn secret() -> SigningKey {
    SigningKey::from_seed(Level::MlDsa44, &[1; 32])
}

fn key() -> LogKey {
    let key = VerifierKey { name: ORIGIN.into(), kind: ML_DSA_44, key: secret().public_key() };
    LogKey::read(&key.to_string()).unwrap()
}

/// The bytes of frames with so many records each, and the signed checkpoint over them.
fn log(counts: &[usize]) -> (Vec<Vec<u8>>, Leaves, String) {
    let (mut frames, mut leaves, mut log) = (Vec::new(), Vec::new(), Frontier::default());
    let mut place = FramePosition { first: 0, durable: 0, before: [0; 32] };
    for count in counts {
        let (mut draft, mut bytes) = (Draft::default(), Vec::new());
        for keys in 0..*count {
            let body = Body::Erasure(Erasure { micros: 0, keys: keys as u32 });
            assert!(draft.add(&Record { stream: 0, caller: 0, sequence: 0, body }.to_bytes(), 0));
        }
        let head = draft.write(place, 0, &mut bytes);
        place = FramePosition { first: head.next(), durable: 0, before: head.digest() };
        let leaf = merkle::leaf(&head.entry(ORIGIN));
        log.append(leaf, |_, _| {});
        leaves.push(leaf);
        frames.push(bytes);
    }
    let checkpoint = Checkpoint { origin: ORIGIN.into(), head: log.head() };
    let signature = checkpoint.sign((&secret(), ORIGIN), 7, &[0; 32]).unwrap();
    let note = Note { text: checkpoint.to_string(), signatures: vec![signature] };
    (frames, Leaves(leaves), note.to_string())
}

#[test]
fn every_record_of_a_log_is_proved() {
    let (frames, leaves, checkpoint) = log(&[3, 1, 0, 8, 5]);
    let mut number = 0;
    for (index, bytes) in frames.iter().enumerate() {
        let frame = Frame::read(bytes).unwrap();
        for position in 0..frame.records.len() {
            let inclusion = merkle::inclusion(index as u64, 5, &leaves).unwrap();
            let of = (&frame, position as u32);
            let proof = Proof::new(of, (index as u64, inclusion), &checkpoint).unwrap();
            let text = proof.to_string();
            assert_eq!(Proof::read(text.as_bytes()), Ok(proof.clone()));
            let proved = proof.verify(&key()).unwrap();
            assert_eq!((proved.number, proved.checkpoint.seconds), (number, 7));
            assert_eq!(proved.record.to_bytes(), frame.records[position]);
            number += 1;
        }
    }
    assert_eq!(number, 17);
}

#[test]
fn a_proof_of_the_largest_frame_is_below_six_kilobytes() {
    let (frames, leaves, checkpoint) = log(&[MAX_FRAME_RECORDS]);
    let frame = Frame::read(&frames[0]).unwrap();
    // A log of 2^24 frames has a path of 24 digests.
    let inclusion = vec![leaves.0[0]; 24];
    let proof = Proof::new((&frame, 4095), (0, inclusion), &checkpoint).unwrap();
    let bytes = proof.to_string().len();
    assert!(bytes <= 6_000, "{bytes}");
}

#[test]
fn nothing_of_a_proof_can_be_changed() {
    let (frames, leaves, checkpoint) = log(&[3, 4, 2]);
    let frame = Frame::read(&frames[1]).unwrap();
    let inclusion = merkle::inclusion(1, 3, &leaves).unwrap();
    let good = Proof::new((&frame, 2), (1, inclusion), &checkpoint).unwrap();
    assert!(good.verify(&key()).is_ok());
    let check = |change: &dyn Fn(&mut Proof), error: ProofError| {
        let mut proof = good.clone();
        change(&mut proof);
        assert_eq!(proof.verify(&key()), Err(error));
    };
    check(&|proof| proof.record[4] ^= 1, ProofError::Record);
    check(&|proof| proof.position = 1, ProofError::Record);
    check(&|proof| proof.position = 4, ProofError::Record);
    check(&|proof| proof.path[0][0] ^= 1, ProofError::Record);
    check(&|proof| proof.path.push([0; 32]), ProofError::Record);
    check(&|proof| proof.head.root[0] ^= 1, ProofError::Record);
    check(&|proof| proof.head.first += 1, ProofError::Frame);
    check(&|proof| proof.index = 0, ProofError::Frame);
    check(&|proof| proof.index = 3, ProofError::Frame);
    check(&|proof| proof.inclusion[1][0] ^= 1, ProofError::Frame);
    check(
        &|proof| proof.checkpoint = proof.checkpoint.replacen("3\n", "4\n", 1),
        ProofError::Checkpoint(CheckpointError::Forged),
    );
}

#[test]
fn other_texts_are_no_proofs() {
    let (frames, leaves, checkpoint) = log(&[1, 1]);
    let frame = Frame::read(&frames[0]).unwrap();
    let good = Proof::new((&frame, 0), (0, vec![leaves.0[1]]), &checkpoint).unwrap().to_string();
    assert!(Proof::read(good.as_bytes()).is_ok());
    let check = |text: &str| assert_eq!(Proof::read(text.as_bytes()), Err(ProofError::Form));
    check("");
    check(FIRST_LINE);
    check(&good.replacen("@v1", "@v2", 1));
    check(&good.replacen("extra ", "extra", 1));
    check(&good.replacen("extra A", "extra B", 1));
    check(&good.replacen("index 0", "index 00", 1));
    check(&good.replacen("\n\n", "\n", 1));
    check(&good.replacen("index 0\n", &alloc::format!("index 0\n{}", "x\n".repeat(3)), 1));
    let digest = alloc::format!("{}\n", Base64::encode_string(&[0; 32]));
    check(&good.replacen("index 0\n", &alloc::format!("index 0\n{}", digest.repeat(64)), 1));
    check(&"x".repeat(MAX_BYTES + 1));
}
