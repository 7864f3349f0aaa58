//! Deltas: applying one gives exactly the new bundle, or a refusal.

use std::time::{Duration, Instant};

use wardgate_bundle::delta::{apply, delta};
use wardgate_bundle::{
    AfterExpiry, Conditions, Kind, Label, OpenError, Trust, describe, digest, open, pack_as,
};
use wardgate_crypto::blake3::hash;
use wardgate_engine::table::Parts;

use crate::keys::{set, signers};
use crate::tables::{bundle, envelope, label, noise, noon, opened, parts};

const ANY: Conditions<'_> = Conditions {
    now: None,
    min_revision: 0,
    name: None,
    max_bytes: usize::MAX,
    after_expiry: AfterExpiry::Deny,
};

fn revision(revision: u64, blob: &[u8]) -> Vec<u8> {
    let parts = Parts { blob: blob.into(), ..parts() };
    pack_as(&parts, &Label { revision, ..label() }).unwrap()
}

/// Returns two bundles whose blobs differ at one position, the second one signed.
fn pair() -> (Vec<u8>, Vec<u8>) {
    let old = noise(5, 300_000);
    let mut new = old.clone();
    new.splice(100_000..100_010, *b"a few other bytes");
    (revision(1, &old), signers()[0].signed(&revision(2, &new)))
}

#[test]
fn applying_gives_exactly_the_new_bundle() {
    let check = |old: &[u8], new: &[u8]| {
        let delta = delta(old, new).unwrap();
        assert_eq!(Kind::of(&delta), Ok(Kind::Delta));
        assert_eq!(apply(old, &delta, Trust::Unsigned, &ANY).unwrap(), new);
        delta.len()
    };
    let (old, new) = pair();
    let changed = check(&old, &new);
    assert!(changed < 50_000, "{changed} bytes for a small change in {}", new.len());
    // Without any change only header, signature and index travel.
    assert!(check(&old, &revision(9, &noise(5, 300_000))) < 5_000);
    check(&new, &old);
    check(&old, &old);
    check(&bundle(), &new);
    check(&new, &bundle());
    // A chunk that occurs several times is sent once.
    let repeated = [noise(8, 32_768), vec![0; 200_000], noise(8, 32_768)].concat();
    assert!(check(&bundle(), &revision(3, &repeated)) < 120_000);
}

#[test]
fn an_applied_delta_opens_like_the_bundle() {
    let (old, new) = pair();
    let applied = apply(&old, &delta(&old, &new).unwrap(), Trust::Unsigned, &ANY).unwrap();
    let opened = open(&applied, Trust::Signed(&set(&[0], 1, &[])), &noon()).unwrap();
    assert_eq!(opened.header.label.revision, 2);
    let described = describe(&delta(&old, &new).unwrap()).unwrap();
    assert_eq!(described.header, opened.header);
    assert_eq!(described.signers.len(), 1);
    let base = described.base.unwrap();
    assert_eq!((Some(base.content), base.revision), (digest(&old), 1));
}

#[test]
fn another_base_is_refused() {
    let (old, new) = pair();
    let delta = delta(&old, &new).unwrap();
    let check = |base: &[u8], delta: &[u8], expected: OpenError| {
        assert_eq!(apply(base, delta, Trust::Unsigned, &ANY).unwrap_err(), expected);
    };
    check(&bundle(), &delta, OpenError::WrongBase { expected: 1, found: 7 });
    check(&new, &delta, OpenError::WrongBase { expected: 1, found: 2 });
    // The same content under another revision is another base.
    let twin = revision(3, &noise(5, 300_000));
    check(&twin, &delta, OpenError::WrongBase { expected: 1, found: 3 });
    check(&old, &new, OpenError::NotADelta);
    check(&delta, &delta, OpenError::Delta);
    check(b"", &delta, OpenError::NotABundle);
    assert_eq!(opened(&delta).unwrap_err(), OpenError::Delta);
}

#[test]
fn a_damaged_base_is_refused() {
    let (mut old, new) = pair();
    let delta = delta(&old, &new).unwrap();
    let last = old.len() - 1;
    old[last] ^= 1;
    assert_eq!(apply(&old, &delta, Trust::Unsigned, &ANY).unwrap_err(), OpenError::WrongDigest);
}

#[test]
fn a_small_delta_for_a_large_bundle_is_refused_by_the_sum_of_its_lengths() {
    let old = revision(1, &[7; 30_000]);
    let new = revision(2, &[7; 3_000_000]);
    let delta = delta(&old, &new).unwrap();
    assert!(delta.len() < 70_000);
    let conditions = Conditions { max_bytes: 1_000_000, ..ANY };
    assert_eq!(apply(&old, &delta, Trust::Unsigned, &conditions).unwrap_err().code(), "too-large");
}

#[test]
fn an_unsigned_delta_is_refused_before_assembly() {
    let (old, new) = (revision(1, &[7; 30_000]), revision(2, &[7; 3_000_000]));
    let trusted = set(&[0], 1, &[]);
    let check = |new: &[u8], expected: &str| {
        let conditions = Conditions { max_bytes: 1_000_000, ..ANY };
        let delta = delta(&old, new).unwrap();
        let error = apply(&old, &delta, Trust::Signed(&trusted), &conditions).unwrap_err();
        assert_eq!(error.code(), expected);
    };
    check(&new, "not-signed");
    check(&signers()[1].signed(&new), "unknown-signer");
    check(&signers()[0].signed(&new), "too-large");
}

#[test]
fn chosen_digests_do_not_slow_applying() {
    let old = revision(1, b"");
    let time = |digest: fn(u32) -> [u8; 32]| {
        let delta = claimed(&old, (0..30_000).map(digest));
        let start = Instant::now();
        assert_eq!(apply(&old, &delta, Trust::Unsigned, &ANY).unwrap_err(), OpenError::WrongDigest);
        start.elapsed()
    };
    let alike = |number: u32| {
        let mut digest = [0; 32];
        digest[28..].copy_from_slice(&number.to_be_bytes());
        digest
    };
    let others = time(|number| hash(&number.to_le_bytes()));
    let chosen = time(alike);
    assert!(chosen < others * 20 + Duration::from_millis(50), "{chosen:?} and {others:?}");
}

/// Returns a delta for `base` with chunks of one byte that claim these digests.
fn claimed(base: &[u8], digests: impl Iterator<Item = [u8; 32]>) -> Vec<u8> {
    let entry = |digest: [u8; 32]| [&[10, 0, 0, 0, 1, 0, 0, 0], digest.as_slice()].concat();
    let index: Vec<u8> = digests.flat_map(entry).collect();
    let (root, content) = (digest(base).unwrap(), vec![0; index.len() / 40]);
    let mut header = envelope(base).to_vec();
    let named = header.windows(32).position(|bytes| bytes == root).unwrap();
    header[named..named + 32].copy_from_slice(&hash(&index));
    let lengths = [header.len(), index.len(), content.len(), 0];
    let mut bytes = [b"WARDGATE".as_slice(), &[4, 0, 0, 0, 2, 0, 0, 0]].concat();
    bytes.extend(
        lengths.into_iter().flat_map(|length| u32::try_from(length).unwrap().to_le_bytes()),
    );
    bytes.extend_from_slice(&hash(&index));
    bytes.extend_from_slice(&root);
    bytes.extend_from_slice(&1_u64.to_le_bytes());
    bytes.extend_from_slice(&header);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let head = hash(&bytes);
    [bytes.as_slice(), &head, &index, &content].concat()
}

#[test]
fn chunks_too_many_or_too_few_are_refused() {
    let (old, new) = pair();
    let delta = delta(&old, &new).unwrap();
    let check = |change: fn(&mut Vec<u8>), expected: &str| {
        let mut bytes = delta.clone();
        change(&mut bytes);
        let content = 64 + 40 + usize::try_from(crate::tables::number(&bytes, 16)).unwrap();
        let head = content.next_multiple_of(8);
        let digest = hash(&bytes[..head]);
        bytes[head..head + 32].copy_from_slice(&digest);
        assert_eq!(apply(&old, &bytes, Trust::Unsigned, &ANY).unwrap_err().code(), expected);
    };
    check(|bytes| resize(bytes, 1), "wrong-length");
    check(|bytes| resize(bytes, -1), "wrong-digest");
    // The revision of the base.
    check(|bytes| bytes[96] ^= 1, "wrong-base");
    // The root of the base.
    check(|bytes| bytes[64] ^= 1, "wrong-base");
}

/// Adds or removes bytes at the end, and changes the length in the prefix.
fn resize(bytes: &mut Vec<u8>, by: i64) {
    let length = i64::from(crate::tables::number(bytes, 24)) + by;
    bytes[24..28].copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
    let all = i64::try_from(bytes.len()).unwrap() + by;
    bytes.resize(usize::try_from(all).unwrap(), 0);
}
