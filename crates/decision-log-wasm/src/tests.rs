//! The calls as a host makes them; each test has an instance of its own.

use wardgate_decision_log::frame::HEAD_BYTES;
use wardgate_decision_log::record::{Body, Clock, Record};

use super::*;

const PROOF: &[u8] = include_bytes!("../../../tests/decision-log/last.tlog-proof");
const KEY: &[u8] = include_bytes!("../../../tests/decision-log/key.vkey");

/// Calls with these bytes in the room.
fn put(parts: &[&[u8]]) -> usize {
    let bytes = parts.concat();
    assert_ne!(room(bytes.len()), 0);
    with(|state| state.room[..bytes.len()].copy_from_slice(&bytes));
    bytes.len()
}

fn word(index: usize) -> usize {
    with(|state| state.words[index])
}

fn answer() -> Vec<u8> {
    with(|state| state.answer.clone())
}

fn record(micros: i64) -> Vec<u8> {
    let body = Body::Clock(Clock { before: micros + 1, now: micros });
    Record { stream: 1, caller: 0, sequence: 7, body }.to_bytes()
}

/// Writes a frame, and returns the digest of its head and the frame.
fn written(before: [u8; 32], first: u64, records: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let length = put(&[&before, &first.to_le_bytes(), records]);
    assert_eq!(write(length, 5, 0), 0);
    let mut digest = answer();
    let frame = digest.split_off(32);
    (digest, frame)
}

#[test]
fn a_proof_leads_to_its_checkpoint() {
    put(&[PROOF, KEY]);
    assert_eq!(prove(PROOF.len(), KEY.len()), 0);
    assert_eq!([3, 4, 5, 6, 7, 8, 9, 10].map(word), [449, 0, 299, 0, 300, 0, 1_790_000_300, 0]);
    let (origin, rest) = (answer(), word(11) + 32);
    assert_eq!(&origin[..word(11)], b"log.example/wardgate");
    assert!(Record::read(&origin[rest..]).is_some());
    // With the prepared key too.
    assert_eq!(prove(PROOF.len(), KEY.len()), 0);
}

#[test]
fn other_proofs_and_keys_are_refused() {
    let check = |proof: &[u8], key: &[u8], fault: i32| {
        put(&[proof, key]);
        assert_eq!(prove(proof.len(), key.len()), fault);
    };
    check(b"", KEY, -10);
    check(PROOF, b"", -1);
    check(PROOF, b"\xff", -1);
    check(PROOF, b"name+00000000+AAAA", -1);
    let other = PROOF.iter().rposition(|byte| *byte == b'A').unwrap();
    let mut forged = PROOF.to_vec();
    forged[other] = b'B';
    check(&forged, KEY, -15);
    assert_eq!(prove(usize::MAX, usize::MAX), -1);
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let (digest, frame) = written([0; 32], 9, &[record(3), record(4)].concat());
    let length = put(&[&frame, b"behind it"]);
    assert_eq!(frame_of(length), (i32::try_from(frame.len()).unwrap(), digest));
    let (_, empty) = written([1; 32], 9, b"");
    assert_eq!(empty.len(), HEAD_BYTES);
}

fn frame_of(length: usize) -> (i32, Vec<u8>) {
    (super::frame(length), answer())
}

#[test]
fn the_fault_of_a_frame_has_its_offset() {
    let (_, frame) = written([0; 32], 0, &[record(3), record(4)].concat());
    let check = |bytes: &[u8], fault: i32, offset: usize| {
        assert_eq!((super::frame(put(&[bytes])), word(2)), (fault, offset));
    };
    check(&frame[..frame.len() - 1], -20, 0);
    check(&frame[..HEAD_BYTES - 1], -20, 0);
    let changed = |at: usize| {
        let mut changed = frame.clone();
        changed[at] ^= 1;
        changed
    };
    check(&changed(70), -21, 0);
    check(&changed(HEAD_BYTES + 28 + 2), -22, HEAD_BYTES + 28);
    check(&changed(HEAD_BYTES + 20), -23, 0);
}

#[test]
fn only_records_are_written() {
    let check = |records: &[u8], fault: i32, offset: usize| {
        let length = put(&[&[0; 40], records]);
        assert_eq!((write(length, 0, 0), word(2)), (fault, offset));
    };
    check(&[record(3), vec![0; 12]].concat(), -24, 40 + 28);
    check(&record(3).repeat(4097), -25, 40 + 4096 * 28);
    assert_eq!(write(39, 0, 0), -24);
    assert_eq!(write(usize::MAX, 0, 0), -24);
}

#[test]
fn pseudonyms_differ_by_key_field_and_id() {
    let of = |key: u8, field: u32, id: &[u8]| {
        let length = put(&[&[key; 32], id]);
        assert_eq!(pseudonym(field, length - 32), 0);
        answer()
    };
    assert_eq!((of(1, 1, b"ada"), of(1, 1, b"ada").len()), (of(1, 1, b"ada"), 16));
    for other in [of(2, 1, b"ada"), of(1, 2, b"ada"), of(1, 1, b"eve")] {
        assert_ne!(of(1, 1, b"ada"), other);
    }
    assert_eq!([pseudonym(3, 0), pseudonym(1, usize::MAX)], [-1, -1]);
}
