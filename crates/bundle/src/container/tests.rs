use super::*;
use alloc::vec;
use wardgate_engine::table::layout::{
    HEADER_WORDS, MAGIC as TABLE_MAGIC, VERSION as TABLE_VERSION,
};

/// The smallest table: one empty string, hash tables with two free places, nothing else.
fn parts() -> Parts {
    let mut words = vec![0; HEADER_WORDS];
    words[0] = TABLE_MAGIC;
    words[1] = TABLE_VERSION;
    let mut section = |position: usize, content: &[u32]| {
        words[4 + 2 * position] = u32::try_from(words.len()).unwrap();
        words[5 + 2 * position] = u32::try_from(content.len()).unwrap();
        words.extend_from_slice(content);
    };
    section(0, &[0, 0]);
    section(1, &[0, 0]);
    section(9, &[0; 10]);
    Parts { words, text: Box::from(""), blob: Box::from([]) }
}

#[test]
fn what_was_sealed_opens() {
    let parts = parts();
    let table = open(&seal(&parts), Trust::Unsigned).unwrap();
    assert_eq!(*table.parts(), parts);
}

#[test]
fn every_flipped_bit_is_refused() {
    let bundle = seal(&parts());
    for at in 0..bundle.len() * 8 {
        let mut flipped = bundle.clone();
        flipped[at / 8] ^= 1 << (at % 8);
        assert!(open(&flipped, Trust::Unsigned).is_err(), "bit {at}");
    }
}

#[test]
fn every_other_length_is_refused() {
    let bundle = seal(&parts());
    for length in 0..bundle.len() {
        assert!(open(&bundle[..length], Trust::Unsigned).is_err(), "{length} bytes");
    }
    let longer = [bundle.as_slice(), &[0]].concat();
    assert_eq!(open(&longer, Trust::Unsigned).unwrap_err().code(), "wrong-length");
}

#[test]
fn a_sound_digest_does_not_excuse_a_malformed_table() {
    let mut parts = parts();
    parts.words[1] += 1;
    let error = open(&seal(&parts), Trust::Unsigned).unwrap_err();
    assert_eq!(error, OpenError::Malformed(Flaw::Header));
}

#[test]
fn refusals_have_names() {
    let check = |bytes: &[u8], code| {
        assert_eq!(open(bytes, Trust::Unsigned).unwrap_err().code(), code);
    };
    check(b"", "not-a-bundle");
    check(b"policies", "not-a-bundle");
    let mut bundle = seal(&parts());
    bundle[8] = 2;
    check(&bundle, "unsupported-version");
    bundle[8] = 1;
    bundle[12] = 1;
    check(&bundle, "unsupported-flags");
    bundle[12] = 0;
    bundle[40] ^= 1;
    check(&bundle, "wrong-digest");
}
