use super::*;
use crate::cbor::Written;
use alloc::string::ToString;
use minicbor::Encoder;

fn header() -> Header {
    let label = Label {
        name: "payroll".to_string(),
        revision: 7,
        created: 1000,
        not_before: Some(2000),
        expires: Some(3000),
    };
    Header { label, evaluation: Evaluation::Strict, content: [9; 32] }
}

#[test]
fn a_header_is_read_as_it_was_written() {
    let short = Header { label: Label::default(), ..header() };
    let lenient = Header { evaluation: Evaluation::Lenient, ..header() };
    for header in [header(), short, lenient] {
        assert_eq!(Header::read(&header.payload()), Ok(header));
    }
}

#[test]
fn there_is_one_way_to_write_a_header() {
    let check = |write: fn(&mut Encoder<Vec<u8>>) -> Written<'_>| {
        assert_eq!(Header::read(&written(write)), Err(OpenError::MalformedHeader));
    };
    // An empty map, an array, a list of the right length.
    check(|cbor| cbor.map(0));
    check(|cbor| cbor.array(6));
    check(|cbor| cbor.map(u64::MAX));
    // Another order, a doubled key, an unknown key, another format.
    check(|cbor| rest(cbor.map(6)?.u8(2)?.str("")?.u8(1)?.u8(4)?));
    check(|cbor| rest(cbor.map(7)?.u8(1)?.u8(4)?.u8(2)?.str("")?.u8(2)?.str("")?));
    check(|cbor| rest(cbor.map(7)?.u8(0)?.u8(0)?.u8(1)?.u8(4)?.u8(2)?.str("")?));
    check(|cbor| rest(cbor.map(6)?.u8(1)?.u8(5)?.u8(2)?.str("")?));
    // A text that may break a line.
    check(|cbor| rest(cbor.map(6)?.u8(1)?.u8(4)?.u8(2)?.str("a\nb")?));
    // The right header, with a byte after it.
    check(|cbor| rest(cbor.map(6)?.u8(1)?.u8(4)?.u8(2)?.str("")?)?.u8(0));
    let right = written(|cbor| rest(cbor.map(6)?.u8(1)?.u8(4)?.u8(2)?.str("")?));
    assert!(Header::read(&right).is_ok());
    // A length in a longer form than necessary.
    let mut long = right.clone();
    long.splice(4..5, [0x78, 0]);
    assert_eq!(Header::read(&long), Err(OpenError::MalformedHeader));
}

/// Writes revision, created, evaluation and content.
fn rest(cbor: &mut Encoder<Vec<u8>>) -> Written<'_> {
    cbor.u8(3)?.u8(0)?.u8(4)?.u8(0)?.u8(7)?.u8(0)?.u8(8)?.bytes(&[0; 32])
}

#[test]
fn cut_and_flipped_headers_are_refused() {
    let payload = header().payload();
    for length in 0..payload.len() {
        let cut = payload.get(..length).unwrap_or_default();
        assert_eq!(Header::read(cut), Err(OpenError::MalformedHeader));
    }
    for at in 0..payload.len() * 8 {
        let mut flipped = payload.clone();
        flipped[at / 8] ^= 1 << (at % 8);
        // Some flips make another header, which is that of another bundle; none gives the same one.
        assert_ne!(Header::read(&flipped), Ok(header()), "bit {at}");
    }
}
