use super::*;
use crate::record::{Body, Erasure, Record};

const PLACE: FramePosition = FramePosition { first: 40, durable: 30, before: [6; 32] };

fn record(sequence: u32) -> Vec<u8> {
    let body = Body::Erasure(Erasure { micros: i64::from(sequence), keys: 1 });
    Record { stream: 1, caller: 0, sequence, body }.to_bytes()
}

fn frame(count: u32) -> Vec<u8> {
    let (mut draft, mut bytes) = (Draft::default(), Vec::new());
    for sequence in 0..count {
        assert!(draft.add(&record(sequence), i64::from(sequence)));
    }
    draft.write(PLACE, 99, &mut bytes);
    assert_eq!((draft.count(), draft.bytes()), (0, 0));
    bytes
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let bytes = frame(3);
    let read = Frame::read(&[bytes.as_slice(), b"more"].concat()).unwrap().head;
    assert_eq!((read.first, read.durable, read.count, read.next()), (40, 30, 3, 43));
    assert_eq!((read.lowest, read.highest, read.before), (0, 2, [6; 32]));
    let frame = Frame::read(&bytes).unwrap();
    assert_eq!(frame.records, [record(0), record(1), record(2)]);
    assert_eq!(frame.bytes(), bytes.len());
}

#[test]
fn a_frame_without_records_has_the_time_of_its_writing() {
    let bytes = frame(0);
    let head = Frame::read(&bytes).unwrap().head;
    assert_eq!((head.count, head.lowest, head.highest, bytes.len()), (0, 99, 99, HEAD_BYTES));
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let bytes = frame(5);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let error = Frame::read(&damaged).err();
            let expected = match at {
                0..HEAD_BYTES => [Some(FrameError::Head); 2],
                _ => [Some(FrameError::Root), Some(FrameError::Records)],
            };
            assert!(expected.contains(&error), "byte {at}, bit {bit}: {error:?}");
        }
    }
}

#[test]
fn no_missing_byte_goes_unnoticed() {
    let bytes = frame(2);
    for length in 0..bytes.len() {
        assert_eq!(Frame::read(&bytes[..length]).err(), Some(FrameError::Short), "{length}");
    }
}

#[test]
fn records_of_a_frame_cannot_be_swapped_or_repeated() {
    let bytes = frame(2);
    let (head, records) = bytes.split_at(HEAD_BYTES);
    let (one, two) = records.split_at(records.len() / 2);
    for records in [[two, one], [one, one], [two, two]] {
        let changed = [head, &records.concat()].concat();
        assert_eq!(Frame::read(&changed).err(), Some(FrameError::Root));
    }
}

#[test]
fn a_draft_has_bounds() {
    let mut draft = Draft::default();
    for _ in 0..MAX_FRAME_RECORDS {
        assert!(draft.add(&record(0), 0));
    }
    assert!(!draft.add(&record(0), 0));
    let mut draft = Draft::default();
    assert!(draft.add(&alloc::vec![0; MAX_FRAME_BYTES], 0));
    assert!(!draft.add(&record(0), 0));
    assert_eq!(draft.count(), 1);
}

#[test]
fn heads_above_a_bound_are_refused() {
    let head = Frame::read(&frame(1)).unwrap().head;
    let check = |head: Head| assert_eq!(Head::read(&head.to_bytes()), Err(FrameError::Head));
    check(Head { length: 1 + (1 << 20), ..head });
    check(Head { count: 4097, ..head });
    check(Head { first: u64::MAX, ..head });
    assert_eq!(Head::read(&head.to_bytes()), Ok(head));
}

#[test]
fn an_entry_is_the_head_and_the_origin() {
    let head = Frame::read(&frame(1)).unwrap().head;
    let entry = head.entry("log.example/a");
    assert_eq!(entry.len(), ENTRY_HEAD_BYTES + 13);
    assert_eq!(Head::read_entry(&entry), Some(head));
    assert_eq!(Head::read_entry(&entry[..ENTRY_HEAD_BYTES - 1]), None);
}
