//! Quorums: which keys must have signed, and which signatures count.

use wardgate_bundle::{
    Conditions, KeyId, Level, OpenError, Quorum, SigningError, Trust, TrustError, TrustSet,
    TrustedKey, attach, describe, digest, open, signing_input,
};

use crate::keys::{Signer, key_id, set, signers};
use crate::tables::{bundle, noon, opened, with_envelope};

#[test]
fn enough_trusted_keys_open_a_bundle() {
    let [ann, bob, cyd, dan] = signers();
    let all = dan.signed(&cyd.signed(&bob.signed(&ann.signed(&bundle()))));
    let two = bob.signed(&ann.signed(&bundle()));
    let check = |bundle: &[u8], set: &TrustSet, expected: Result<&[&str], &str>| {
        let found = open(bundle, Trust::Signed(set), &noon());
        let expected = expected.map(|ids| ids.iter().map(|id| key_id(id)).collect::<Vec<_>>());
        assert_eq!(found.map(|opened| opened.signers).map_err(|e| e.code()), expected, "{set:?}");
    };
    check(&ann.signed(&bundle()), &set(&[0], 1, &[]), Ok(&["ann"]));
    check(&cyd.signed(&bundle()), &set(&[2], 1, &[]), Ok(&["cyd"]));
    check(&dan.signed(&bundle()), &set(&[3], 1, &["dan"]), Ok(&["dan"]));
    check(&all, &set(&[3, 2, 1, 0], 4, &[]), Ok(&["ann", "bob", "cyd", "dan"]));
    check(&all, &set(&[1, 3], 2, &["dan"]), Ok(&["bob", "dan"]));
    check(&two, &set(&[0, 1, 2], 2, &[]), Ok(&["ann", "bob"]));
    check(&two, &set(&[0, 1, 2], 3, &[]), Err("too-few-signers"));
    check(&two, &set(&[0, 2], 2, &[]), Err("too-few-signers"));
    check(&two, &set(&[0, 1, 2], 1, &["ann", "cyd"]), Err("missing-signer"));
    check(&two, &set(&[2, 3], 1, &[]), Err("unknown-signer"));
    check(&bundle(), &set(&[0], 1, &[]), Err("not-signed"));
}

#[test]
fn one_key_counts_once_however_often_it_signs() {
    let ann = &signers()[0];
    let signed = ann.signed(&bundle());
    let again = attach(&signed, &ann.id, ann.level, &[0; 4627]);
    assert_eq!(again, Err(SigningError::SignedAlready { key: ann.id }));
    let doubled = with_envelope(&signed, &twice(&signed));
    assert_eq!(describe(&doubled).unwrap().signers.len(), 2);
    let check = |at_least: usize, expected: Result<usize, &str>| {
        let set = set(&[0, 1], at_least, &[]);
        let found = open(&doubled, Trust::Signed(&set), &noon());
        assert_eq!(found.map(|opened| opened.signers.len()).map_err(|e| e.code()), expected);
    };
    check(1, Ok(1));
    check(2, Err("too-few-signers"));
}

/// Returns the envelope of a bundle with one signature, with that signature twice.
fn twice(signed: &[u8]) -> Vec<u8> {
    let mut envelope = crate::tables::envelope(signed).to_vec();
    let signature = envelope.len() - (1 + 1 + 9 + 1 + 3 + 4627);
    assert_eq!(envelope[signature - 1..=signature], [0x81, 0x83]);
    envelope[signature - 1] = 0x82;
    envelope.extend_from_within(signature..);
    envelope
}

#[test]
fn a_wrong_signature_of_a_trusted_key_refuses_the_bundle() {
    let [ann, bob, cyd, _] = signers();
    let signed = ann.signed(&bundle());
    let both = set(&[0, 1], 1, &[]);
    let check = |signer: &Signer, signature: &[u8], expected: Result<(), &str>| {
        let bundle = attach(&signed, &signer.id, signer.level, signature).unwrap();
        let found = open(&bundle, Trust::Signed(&both), &noon());
        assert_eq!(found.map(drop).map_err(|error| error.code()), expected);
    };
    let message = signing_input(&bundle(), &bob.id, bob.level).unwrap();
    check(bob, &bob.sign(&message, b""), Ok(()));
    check(bob, &[0; 4627], Err("wrong-signature"));
    check(bob, &ann.sign(&message, b""), Err("wrong-signature"));
    check(bob, &bob.sign(&message, b"wardgate"), Err("wrong-signature"));
    check(bob, &bob.sign(&message[1..], b""), Err("wrong-signature"));
    // Over the same header, but under the id of another: the id is signed too.
    let for_ann = signing_input(&bundle(), &ann.id, ann.level).unwrap();
    check(bob, &bob.sign(&for_ann, b""), Err("wrong-signature"));
    // The bytes of an untrusted signature are not checked.
    check(cyd, &[0; 3309], Ok(()));
}

#[test]
fn the_algorithm_is_that_of_the_key() {
    let (ann, cyd) = (&signers()[0], &signers()[2]);
    let message = signing_input(&bundle(), &ann.id, cyd.level).unwrap();
    let confused = attach(&bundle(), &ann.id, cyd.level, &cyd.sign(&message, b"")).unwrap();
    let error = open(&confused, Trust::Signed(&set(&[0], 1, &[])), &noon()).unwrap_err();
    assert_eq!(error, OpenError::WrongAlgorithm { key: ann.id });
}

#[test]
fn a_signature_is_for_one_header() {
    let ann = &signers()[0];
    let (signed, other) = (ann.signed(&bundle()), crate::tables::heavy(10));
    let other = wardgate_bundle::pack(&other);
    // The header of one bundle over the content of another.
    let swapped = with_envelope(&other, crate::tables::envelope(&signed));
    assert_eq!(opened(&swapped).unwrap_err(), OpenError::WrongDigest);
    let set = set(&[0], 1, &[]);
    let error = open(&swapped, Trust::Signed(&set), &noon()).unwrap_err();
    assert_eq!(error, OpenError::WrongDigest);
}

#[test]
fn signatures_come_before_dates() {
    let (ann, set) = (&signers()[0], set(&[1], 1, &[]));
    let late = Conditions { now: Some(u64::MAX), ..Conditions::default() };
    let error = open(&ann.signed(&bundle()), Trust::Signed(&set), &late).unwrap_err();
    assert_eq!(error.code(), "unknown-signer");
}

#[test]
fn unsigned_trust_accepts_signed_bundles_and_reports_no_signer() {
    let signed = signers()[0].signed(&bundle());
    assert_eq!(opened(&signed).unwrap().signers, []);
    assert_eq!(digest(&signed), digest(&bundle()));
    let signers = describe(&signed).unwrap().signers;
    assert_eq!(signers[0].key, key_id("ann"));
    assert_eq!(signers[0].level, Some(Level::MlDsa87));
}

#[test]
fn signing_has_its_own_refusals() {
    let ann = &signers()[0];
    let check = |bundle: &[u8], length: usize, expected: SigningError| {
        let found = attach(bundle, &ann.id, ann.level, &vec![0; length]);
        assert_eq!(found.unwrap_err(), expected);
    };
    check(&bundle(), 4626, SigningError::SignatureLength { expected: 4627, found: 4626 });
    check(b"", 4627, SigningError::Refused(OpenError::NotABundle));
    let full = (0..16).fold(bundle(), |bundle, number| {
        let id = key_id(&format!("signer {number}"));
        attach(&bundle, &id, Level::MlDsa87, &[0; 4627]).unwrap()
    });
    check(&full, 4627, SigningError::TooManySignatures);
    assert_eq!(describe(&full).unwrap().signers.len(), 16);
}

#[cfg(feature = "sign")]
#[test]
fn sign_agrees_with_another_implementation() {
    use wardgate_crypto::ml_dsa::SigningKey;
    for (signer, seed) in signers().iter().zip(1..) {
        let key = SigningKey::from_seed(signer.level, &[seed; 32]);
        let signed = wardgate_bundle::sign(&bundle(), &signer.id, &key, None).unwrap();
        assert_eq!(signed, signer.signed(&bundle()));
        let hedged = wardgate_bundle::sign(&bundle(), &signer.id, &key, Some(&[1; 32])).unwrap();
        assert_ne!(hedged, signed);
        let at = usize::from(seed) - 1;
        assert!(open(&hedged, Trust::Signed(&set(&[at], 1, &[])), &noon()).is_ok());
    }
}

#[test]
fn a_trust_set_has_distinct_keys_and_a_reachable_quorum() {
    let [ann, bob, ..] = signers();
    let check = |keys: Vec<TrustedKey>, at_least: usize, required: &[KeyId], expected| {
        let quorum = Quorum { at_least, required: required.to_vec() };
        assert_eq!(TrustSet::new(keys, quorum).map(drop), expected);
    };
    let as_bob = || TrustedKey::new(bob.id, ann.level, &ann.public_key).unwrap();
    check(vec![], 1, &[], Err(TrustError::KeyCount { found: 0 }));
    check(vec![ann.trusted()], 0, &[], Err(TrustError::Quorum { at_least: 0, keys: 1 }));
    check(vec![ann.trusted()], 2, &[], Err(TrustError::Quorum { at_least: 2, keys: 1 }));
    check(vec![ann.trusted()], 1, &[bob.id], Err(TrustError::UnknownRequired { key: bob.id }));
    check(vec![bob.trusted(), as_bob()], 1, &[], Err(TrustError::DuplicateId { key: bob.id }));
    check(vec![ann.trusted(), as_bob()], 2, &[], Err(TrustError::DuplicateKey { key: bob.id }));
    check(vec![ann.trusted(), bob.trusted()], 2, &[ann.id], Ok(()));
    let short = TrustedKey::new(ann.id, Level::MlDsa44, &ann.public_key).map(drop);
    assert_eq!(short, Err(TrustError::KeyLength { expected: 1312, found: 2592 }));
}
