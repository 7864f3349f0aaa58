//! The calls as a host makes them; each test has an instance of its own.

use super::*;

/// Calls with these bytes in the room.
fn put(bytes: &[u8]) -> usize {
    assert_ne!(room(bytes.len()), 0);
    with(|state| state.room[..bytes.len()].copy_from_slice(bytes));
    bytes.len()
}

fn word(index: usize) -> usize {
    with(|state| state.words[index])
}

fn found(set: u32, name: &str) -> Vec<u32> {
    let count = find(set, put(name.as_bytes()));
    let mut found = with(|state| state.found.clone());
    assert_eq!(number(found.len()), count);
    found.sort_unstable();
    found
}

#[test]
fn sets_are_apart_and_their_numbers_are_used_again() {
    let (one, other) = (open_set(1, 2), open_set(1, 2));
    for (set, filter, value) in [(one, "a/+", 0), (one, "#", 1), (other, "a/b", 0)] {
        assert_eq!(insert(set, put(filter.as_bytes()), value), 0);
    }
    assert_eq!((found(one, "a/b"), found(other, "a/b")), (vec![0, 1], vec![0]));
    assert_eq!((remove(one, 0), remove(one, 0), remove(one, 9)), (1, 0, 0));
    assert_eq!(found(one, "a/b"), [1]);
    close_set(one);
    close_set(one);
    let again = open_set(3, 4);
    assert_eq!((again, found(again, "a/b")), (one, vec![]));
    assert_ne!(open_set(3, 4), again);
}

#[test]
fn sets_that_are_not_there_match_nothing() {
    assert!(found(u32::MAX, "a").is_empty());
    assert_eq!(remove(u32::MAX, 0), 0);
    assert_eq!(insert(u32::MAX, put(b"a"), 0), -1);
    let set = open_set(0, 0);
    assert_eq!(insert(set, put(b"a"), 7), -1, "numbers leave no gaps");
}

#[test]
fn lengths_beyond_the_room_are_faults() {
    put(b"a");
    let far = usize::MAX;
    assert_eq!([matches(far, 1), matches(1, far), cover(far)], [-1; 3]);
    assert_eq!((find(0, far), insert(0, far, 0), decode(4, far)), (-1, -1, 0));
    assert_eq!(check(4, 1, 0), 0);
    assert_eq!(tell(u32::MAX, 0, 0, 0), -1);
}

#[test]
fn limits_hold_for_what_is_decoded_and_not_for_what_is_checked() {
    let limits: Vec<u8> = [64_u32; 11].iter().flat_map(|limit| limit.to_le_bytes()).collect();
    put(&limits);
    limit();
    let mut publish = vec![0x30, 98, 0, 1, b'a'];
    publish.resize(100, 0);
    let length = put(&publish);
    assert_eq!((decode(4, length), word(0), word(1)), (-1, 1, 0x95));
    assert_eq!(check(4, 0, length), 100);
    assert_eq!((decode(4, put(&[0x30, 5, 0])), word(0)), (0, 7));
}

#[test]
fn gates_are_apart_and_time_ends_them() {
    let (one, other) = (open_gate(0, 10, 10, 0, 0), open_gate(0, 20, 10, 0, 0));
    assert_eq!((tell(one, 2, 10, 0), word(4)), (0, 3));
    assert_eq!((tell(other, 2, 10, 0), word(4)), (0, 0));
    assert_eq!((tell(one, 2, 20, 0), word(4)), (0, 0), "it is over");
    close_gate(one);
    assert_eq!(tell(one, 2, 0, 0), -1);
    assert_eq!(open_gate(0, 10, 10, 0, 0), one);
}

#[test]
fn the_room_of_a_long_packet_is_freed() {
    put(&vec![0; 3 * RETAINED]);
    put(b"a");
    with(|state| assert_eq!(state.room.len(), RETAINED));
}
