//! Opening without signatures, and the refusals that need none.

use wardgate_bundle::{
    AfterExpiry, Conditions, Kind, Label, OpenError, PackError, Trust, describe, digest, open,
    pack, pack_as, relabel,
};
use wardgate_engine::table::{Flaw, Parts};

use crate::tables::{
    bundle, envelope, heavy, label, noon, opened, parts, redigested, with_envelope,
};

#[test]
fn a_packed_table_opens() {
    for parts in [parts(), heavy(100_000)] {
        let opened = open(&pack(&parts), Trust::Unsigned, &Conditions::default()).unwrap();
        assert_eq!(*opened.table.parts(), parts);
        assert_eq!(opened.header.label, Label::default());
        assert!(opened.signers.is_empty());
    }
    let opened = opened(&bundle()).unwrap();
    assert_eq!(opened.header.label, label());
    assert_eq!(Some(opened.header.content), digest(&bundle()));
}

#[test]
fn a_description_states_the_header_and_signers() {
    let described = describe(&bundle()).unwrap();
    assert_eq!(described.header.label, label());
    assert_eq!((described.signers.len(), described.base, described.chunks), (0, None, 1));
    assert_eq!(Kind::of(&bundle()), Ok(Kind::Bundle));
    assert_eq!(describe(b"").unwrap_err(), OpenError::NotABundle);
}

#[test]
fn every_flipped_bit_is_refused() {
    let bundle = bundle();
    for at in 0..bundle.len() * 8 {
        let mut flipped = bundle.clone();
        flipped[at / 8] ^= 1 << (at % 8);
        assert!(opened(&flipped).is_err(), "bit {at}");
    }
}

#[test]
fn every_other_length_is_refused() {
    let bundle = bundle();
    for length in 0..bundle.len() {
        assert!(opened(&bundle[..length]).is_err(), "{length} bytes");
    }
    let longer = [bundle.as_slice(), &[0]].concat();
    assert_eq!(opened(&longer).unwrap_err().code(), "wrong-length");
}

#[test]
fn refusals_have_names() {
    let check = |bytes: &[u8], code| assert_eq!(opened(bytes).unwrap_err().code(), code);
    let changed = |at: usize, byte: u8| {
        let mut bytes = bundle();
        bytes[at] = byte;
        bytes
    };
    check(b"", "not-a-bundle");
    check(b"policies", "not-a-bundle");
    check(&bundle()[..31], "not-a-bundle");
    check(&changed(8, 1), "unsupported-version");
    check(&changed(8, 3), "unsupported-version");
    check(&changed(8, 5), "unsupported-version");
    check(&changed(12, 4), "unsupported-kind");
    check(&changed(28, 1), "wrong-digest");
    check(&changed(28, 2), "unsupported-kind");
    check(&changed(12, 2), "delta");
    check(&changed(12, 3), "sealed");
    check(&changed(16, 0), "wrong-length");
    check(&changed(32, 0), "wrong-digest");
    let last = bundle().len() - 1;
    check(&changed(last, 9), "wrong-digest");
    check(&redigested(&changed(last, 9)), "wrong-digest");
    check(&with_envelope(&bundle(), b""), "malformed-envelope");
    check(&with_envelope(&bundle(), &vec![0; 100 << 10]), "malformed-envelope");
    check(&pack(&Parts::default()), "malformed");
}

#[test]
fn a_sound_digest_does_not_excuse_a_malformed_table() {
    let mut parts = parts();
    parts.words[1] += 1;
    let error = opened(&pack(&parts)).unwrap_err();
    assert_eq!(error, OpenError::Malformed(Flaw::Header));
}

#[test]
fn dates_and_revisions_are_enforced() {
    let check = |conditions: Conditions<'_>, expected: Result<(), &str>| {
        let found = open(&bundle(), Trust::Unsigned, &conditions);
        assert_eq!(found.map(drop).map_err(|error| error.code()), expected, "{conditions:?}");
    };
    let at = |now: u64| Conditions { now: Some(now), ..Conditions::default() };
    check(Conditions::default(), Err("time-required"));
    check(at(1_700_000_099), Err("not-yet-valid"));
    check(at(1_700_000_100), Ok(()));
    check(at(1_799_999_999), Ok(()));
    check(at(1_800_000_000), Err("expired"));
    check(at(u64::MAX), Err("expired"));
    check(Conditions { min_revision: 7, ..noon() }, Ok(()));
    check(Conditions { min_revision: 8, ..noon() }, Err("old-revision"));
    check(Conditions { name: Some("payroll"), ..noon() }, Ok(()));
    check(Conditions { name: Some("payrol"), ..noon() }, Err("wrong-name"));
    check(Conditions { max_bytes: bundle().len(), ..noon() }, Ok(()));
    check(Conditions { max_bytes: bundle().len() - 1, ..noon() }, Err("too-large"));
    // Opening reports the first reason in the order of the checks.
    check(Conditions { min_revision: 8, name: Some(""), ..at(1) }, Err("not-yet-valid"));
}

#[test]
fn an_opened_table_denies_from_the_expiry_of_its_bundle() {
    let expires = |after_expiry| {
        let conditions = Conditions { after_expiry, ..noon() };
        open(&bundle(), Trust::Unsigned, &conditions).unwrap().table.expires()
    };
    assert_eq!(expires(AfterExpiry::Deny), Some(1_800_000_000));
    assert_eq!(expires(AfterExpiry::Decide), None);
    let undated = open(&pack(&parts()), Trust::Unsigned, &noon()).unwrap();
    assert_eq!(undated.table.expires(), None);
}

#[test]
fn unreadable_labels_are_not_written() {
    let check = |change: fn(&mut Label), expected: Result<(), PackError>| {
        let mut label = label();
        change(&mut label);
        assert_eq!(pack_as(&parts(), &label).map(drop), expected, "{label:?}");
        assert_eq!(relabel(&bundle(), &label).map(drop), expected, "{label:?}");
    };
    check(|_| (), Ok(()));
    check(|label| label.name = "x".repeat(256), Ok(()));
    check(|label| label.name = "x".repeat(257), Err(PackError::Label));
    check(|label| label.name = "a\u{1b}[2J".to_owned(), Err(PackError::Label));
    check(|label| label.revision = (1 << 53) - 1, Ok(()));
    check(|label| label.revision = 1 << 53, Err(PackError::Label));
    check(|label| label.expires = label.not_before, Err(PackError::Label));
    check(|label| (label.not_before, label.expires) = (None, Some(0)), Err(PackError::Label));
}

#[test]
fn a_new_label_keeps_the_content() {
    let other = relabel(&bundle(), &Label { revision: 8, ..label() }).unwrap();
    assert_eq!(digest(&other), digest(&bundle()));
    assert_ne!(envelope(&other), envelope(&bundle()));
    assert_eq!(opened(&other).unwrap().header.label.revision, 8);
    assert_eq!(other, pack_as(&parts(), &Label { revision: 8, ..label() }).unwrap());
}

#[test]
fn a_bundle_counts_by_what_it_decompresses_to() {
    let large = pack_as(&Parts { blob: vec![7; 1_000_000].into(), ..parts() }, &label()).unwrap();
    assert!(large.len() < 20_000);
    let conditions = Conditions { max_bytes: 500_000, ..noon() };
    assert_eq!(open(&large, Trust::Unsigned, &conditions).unwrap_err().code(), "too-large");
    assert!(open(&large, Trust::Unsigned, &noon()).is_ok());
}
