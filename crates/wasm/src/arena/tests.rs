use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use wardgate_engine::wire;

use super::*;
use crate::reader::{FALSE, LIST, MAP, NULL, NUMBER, TEXT, TRUE};

const START: u32 = 4;

fn read(value: &[u8]) -> Option<String> {
    Reader::new(value).value(MAX_VALUE_DEPTH).as_ref().map(wire::attr_json)
}

fn check(value: &[u8], expected: &str) {
    assert_eq!(read(value).as_deref(), Some(expected), "{value:?}");
}

fn check_absent(value: &[u8]) {
    assert_eq!(read(value), None, "{value:?}");
}

fn text(content: &[u8]) -> Vec<u8> {
    [&[TEXT][..], &name(content)].concat()
}

fn name(content: &[u8]) -> Vec<u8> {
    [&counted(content.len())[..], content].concat()
}

fn number(number: f64) -> Vec<u8> {
    [&[NUMBER][..], &number.to_le_bytes()].concat()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [&[LIST][..], &counted(items.len()), &items.concat()].concat()
}

fn map(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let written: Vec<_> =
        members.iter().map(|(key, value)| [name(key.as_bytes()), value.clone()].concat()).collect();
    [&[MAP][..], &counted(members.len()), &written.concat()].concat()
}

fn counted(count: usize) -> [u8; 4] {
    u32::try_from(count).unwrap().to_le_bytes()
}

fn nested(levels: usize) -> Vec<u8> {
    (0..levels).fold(vec![NULL], |inside, _| list(&[inside]))
}

#[test]
fn values_are_read_as_they_were_written() {
    check(&[NULL], "null");
    check(&[FALSE], "false");
    check(&[TRUE], "true");
    check(&number(-1.5), "-1.5");
    check(&text("é\u{0}x".as_bytes()), "\"é\\u0000x\"");
    check(&text(b""), "\"\"");
    check(&list(&[]), "[]");
    check(&list(&[text(b"a"), number(2.0), list(&[vec![TRUE]])]), "[\"a\",2,[true]]");
    check(&map(&[]), "{}");
    check(
        &map(&[("b", vec![NULL]), ("a", map(&[("", number(0.0))]))]),
        "{\"a\":{\"\":0},\"b\":null}",
    );
}

#[test]
fn the_later_of_two_members_with_one_name_wins() {
    check(&map(&[("a", vec![TRUE]), ("a", vec![FALSE])]), "{\"a\":false}");
}

#[test]
fn trailing_bytes_are_ignored() {
    check(&[TRUE, 99], "true");
}

#[test]
fn malformed_values_are_absent() {
    check_absent(&[]);
    check_absent(&[7]);
    check_absent(&[NUMBER, 0, 0, 0]);
    check_absent(&number(f64::NAN));
    check_absent(&number(f64::INFINITY));
    check_absent(&[TEXT, 1, 0]);
    check_absent(&[TEXT, 2, 0, 0, 0, b'a']);
    check_absent(&text(&[0xff]));
    check_absent(&text(&[0xed, 0xa0, 0x80]));
    check_absent(&[LIST, 2, 0, 0, 0, NULL]);
    check_absent(&[LIST, 0xff, 0xff, 0xff, 0xff]);
    check_absent(&list(&[vec![9]]));
    check_absent(&[MAP, 1, 0, 0, 0, 1, 0, 0, 0, b'a']);
    check_absent(&[MAP, 1, 0, 0, 0, 1, 0, 0, 0, 0xff, NULL]);
}

#[test]
fn nesting_is_bounded() {
    assert!(read(&nested(MAX_VALUE_DEPTH)).is_some());
    check_absent(&nested(MAX_VALUE_DEPTH + 1));
    check_absent(&nested(10_000));
}

#[test]
fn only_filled_bytes_are_read() {
    let arena = [&[0; 4], &text(b"abc")[..]].concat();
    let mut spans = [0; FRAME_WORDS];
    (spans[0], spans[2]) = (START, 1000);
    let read = |used, slot| Arena::new(&spans, &arena[..used]).text(slot).map(ToString::to_string);
    assert_eq!(read(12, 0), Some("abc".into()));
    assert_eq!(read(11, 0), None);
    assert_eq!(read(12, 1), None, "nothing was written for the slot");
    assert_eq!(read(12, 2), None, "the slot starts beyond the end");
    assert_eq!(read(12, 64), None, "there is no such slot");
}

#[test]
fn a_text_is_no_value_and_a_list_no_text() {
    let arena = [&[0; 4], &list(&[])[..], &text(b"abc")].concat();
    let mut spans = [0; FRAME_WORDS];
    (spans[0], spans[1]) = (START, START + 5);
    let arena = Arena::new(&spans, &arena);
    assert_eq!((arena.text(0), arena.text(1)), (None, Some("abc")));
    assert!(arena.value(0).is_some() && arena.value(1).is_none());
}
