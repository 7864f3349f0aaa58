use super::*;
use alloc::vec;

fn envelope(count: usize) -> Vec<u8> {
    let key = KeyId::new(b"ann").unwrap();
    let signature = Signature { algorithm: -50, key, bytes: &[7; 30] };
    Envelope { payload: b"header", signatures: vec![signature; count] }.bytes()
}

#[test]
fn an_envelope_is_read_as_it_was_written() {
    for count in [0, 1, 2, MAX_SIGNATURES] {
        let bytes = envelope(count);
        let read = Envelope::read(&bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read.payload, b"header");
        assert_eq!(read.signatures.len(), count);
        assert!(read.signatures.iter().all(|signature| signature.bytes == [7; 30]));
    }
}

#[test]
fn more_signatures_than_the_limit_are_not_read() {
    let bytes = envelope(MAX_SIGNATURES + 1);
    let error = Envelope::read(&bytes).map(|_| ()).unwrap_err();
    assert_eq!(error, OpenError::TooManySignatures { found: 17 });
}

#[test]
fn there_is_one_way_to_write_an_envelope() {
    let check = |from: usize, to: usize, bytes: &[u8]| {
        let mut changed = envelope(1);
        changed.splice(from..to, bytes.iter().copied());
        assert!(Envelope::read(&changed).is_err(), "{from}..{to} {bytes:x?}");
    };
    // d8 62: tag 98; 84: four items; 40: no header; a0: empty unprotected map; 46: six bytes.
    assert_eq!(envelope(1).get(..6), Some(&[0xd8, 0x62, 0x84, 0x40, 0xa0, 0x46][..]));
    // No tag, another tag, the tag in a long form.
    check(0, 2, &[]);
    check(1, 2, &[0x61]);
    check(0, 2, &[0xd9, 0, 0x62]);
    // An array without a length, a header that is a map, an empty map in a long form.
    check(2, 3, &[0x9f]);
    check(3, 4, &[0x41, 0xa0]);
    check(4, 5, &[0xb8, 0]);
    // A payload in pieces, or null.
    check(5, 6, &[0x5f, 0x46]);
    check(5, 12, &[0xf6]);
    // A count of more signatures than there are, and a count in a long form.
    check(12, 13, &[0x82]);
    check(12, 13, &[0x98, 1]);
    let end = envelope(1).len();
    check(end, end, &[0]);
    for length in 0..end {
        assert!(Envelope::read(envelope(1).get(..length).unwrap_or_default()).is_err());
    }
}

#[test]
fn the_bytes_to_be_signed_name_the_purpose() {
    let key = KeyId::new(b"ann").unwrap();
    let bytes = to_be_signed(b"header", -50, &key);
    let expected = [
        &[0x85, 0x69][..],
        b"Signature",
        &[0x40, 0x49, 0xa2, 0x01, 0x38, 0x31, 0x04, 0x43],
        b"ann",
        &[0x52],
        b"wardgate bundle v2",
        &[0x46],
        b"header",
    ];
    assert_eq!(bytes, expected.concat());
}
