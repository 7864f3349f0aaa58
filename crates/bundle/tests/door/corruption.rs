//! Random corruption: every corrupted bundle is refused by a name, and none causes a panic.

use std::collections::BTreeMap;

use fastrand::Rng;
use wardgate_bundle::delta::{apply, delta};
use wardgate_bundle::{OpenError, Trust, open, pack_as};

use crate::keys::{set, signers};
use crate::tables::{bundle, envelope, heavy, label, noon, redigested, with_envelope};

#[test]
fn ten_thousand_corruptions_of_a_signed_bundle_are_refused() {
    let [ann, bob, ..] = signers();
    // The host does not trust the second signer; the digest protects his signature all the same.
    let signed = bob.signed(&ann.signed(&pack_as(&heavy(20_000), &label()).unwrap()));
    let trusted = set(&[0], 1, &[]);
    let opens = |bytes: &[u8]| open(bytes, Trust::Signed(&trusted), &noon()).map(drop);
    assert_eq!(opens(&signed), Ok(()));
    refused(&signed, 10_000, 1, opens);
}

#[test]
fn a_corruption_with_repaired_digests_is_refused() {
    let ann = &signers()[0];
    let signed = ann.signed(&bundle());
    let trusted = set(&[0], 1, &[]);
    let opens = |bytes: &[u8]| open(bytes, Trust::Signed(&trusted), &noon()).map(drop);
    let names = refused(envelope(&signed), 1_000, 2, |bytes| opens(&with_envelope(&signed, bytes)));
    assert!(names.contains_key("wrong-signature"), "{names:?}");
    assert!(names.contains_key("malformed-envelope"), "{names:?}");
    // Index and content: the bytes that the signed root covers.
    let start = signed.len() - TAIL;
    let names = refused(&signed[start..], 200, 3, |tail| {
        let mut bytes = signed[..start].to_vec();
        bytes.extend(tail.iter().chain(&[0; TAIL]).take(TAIL));
        let bytes = redigested(&bytes);
        // Only a digest was corrupted, and `redigested` repaired it.
        if bytes == signed { Err(OpenError::WrongDigest) } else { opens(&bytes) }
    });
    let known = ["malformed-index", "wrong-digest", "wrong-length"];
    assert!(names.keys().all(|name| known.contains(name)), "{names:?}");
}

#[test]
fn a_thousand_corruptions_of_a_delta_are_refused() {
    let ann = &signers()[0];
    let old = pack_as(&heavy(60_000), &label()).unwrap();
    let mut parts = heavy(60_000);
    parts.blob[30_000] ^= 1;
    let new = ann.signed(&pack_as(&parts, &label()).unwrap());
    let delta = delta(&old, &new).unwrap();
    let conditions = noon();
    let trusted = set(&[0], 1, &[]);
    for trust in [Trust::Unsigned, Trust::Signed(&trusted)] {
        assert_eq!(apply(&old, &delta, trust, &conditions).unwrap(), new);
        refused(&delta, 1_000, 4, |bytes| apply(&old, bytes, trust, &conditions).map(drop));
    }
}

/// Corrupts `sound` in `count` ways, and returns how often each name occurred. Panics if a
/// corrupted bundle is accepted, or refused with an empty message.
fn refused(
    sound: &[u8],
    count: usize,
    seed: u64,
    accept: impl Fn(&[u8]) -> Result<(), OpenError>,
) -> BTreeMap<&'static str, usize> {
    let mut random = Rng::with_seed(seed);
    let mut names = BTreeMap::new();
    for round in 0..count {
        let corrupted = corrupted(sound, &mut random);
        let error = accept(&corrupted).unwrap_err();
        assert!(!error.to_string().is_empty(), "round {round}: {error:?}");
        *names.entry(error.code()).or_default() += 1;
    }
    names
}

/// Returns bytes that differ from `sound`.
fn corrupted(sound: &[u8], random: &mut Rng) -> Vec<u8> {
    loop {
        let mut bytes = sound.to_vec();
        for _ in 0..=random.u8(..3) {
            let (one, two) = (position(random, &bytes), position(random, &bytes));
            let (from, to) = (one.min(two), one.max(two).min(one.min(two) + 64));
            match random.u8(..9) {
                0..=2 => flip(&mut bytes, one, 1 << random.u8(..8)),
                3 => bytes.truncate(one),
                4 => bytes.extend(crate::tables::noise(u64::try_from(two).unwrap(), 1 + one % 50)),
                5 if !bytes.is_empty() => bytes.swap(one, two),
                6 => bytes.iter_mut().take(to).skip(from).for_each(|byte| *byte = 0),
                7 => drop(bytes.drain(from..to)),
                _ => bytes.extend_from_within(from..to),
            }
        }
        if bytes != sound {
            return bytes;
        }
    }
}

/// Returns a position in `bytes`; 0 if there are none.
fn position(random: &mut Rng, bytes: &[u8]) -> usize {
    random.usize(..bytes.len().max(1))
}

fn flip(bytes: &mut [u8], at: usize, bits: u8) {
    bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= bits);
}

/// The length of index and content in the smallest bundle, in bytes.
const TAIL: usize = 40 + 21;
