//! Interoperability with COSE: coset reads the envelopes of this crate, and signs the same bytes.

use coset::iana::{self, EnumI64};
use coset::{
    CoseEncrypt0, CoseSign, EncryptionContext, HeaderBuilder, ProtectedHeader,
    RegisteredLabelWithPrivate, TaggedCborSerializable, enc_structure_data,
};
use wardgate_bundle::sealed::seal;
use wardgate_bundle::{Trust, open, signing_input};
use wardgate_crypto::aead;

use crate::keys::{set, signers};
use crate::tables::{bundle, envelope, noise, noon, with_envelope};

#[test]
fn coset_reads_the_envelope_and_signs_the_same_bytes() {
    let [ann, bob, cyd, dan] = signers();
    let signed = [ann, bob, cyd, dan].iter().fold(bundle(), |bundle, one| one.signed(&bundle));
    let sign = CoseSign::from_tagged_slice(envelope(&signed)).unwrap();
    assert!(sign.protected.is_empty() && sign.unprotected.is_empty());
    assert_eq!(sign.signatures.len(), 4);
    for (signature, signer) in sign.signatures.iter().zip(signers()) {
        assert!(signature.unprotected.is_empty());
        assert_eq!(signature.protected.header.key_id, signer.id.as_bytes());
        let ours = signing_input(&signed, &signer.id, signer.level).unwrap();
        assert_eq!(sign.tbs_data(b"wardgate bundle v2", signature), ours);
    }
    let algorithms = sign.signatures.iter().map(|one| one.protected.header.alg.clone());
    let registered = [iana::Algorithm::ML_DSA_87; 2].into_iter();
    let registered = registered.chain([iana::Algorithm::ML_DSA_65, iana::Algorithm::ML_DSA_44]);
    for (found, expected) in algorithms.zip(registered) {
        assert_eq!(found, Some(RegisteredLabelWithPrivate::Assigned(expected)));
    }
    assert_eq!(sign.to_tagged_vec().unwrap(), envelope(&signed));
}

#[test]
fn the_payload_is_the_header_as_a_map() {
    let sign = CoseSign::from_tagged_slice(envelope(&bundle()));
    // RFC 9052 requires a signature, so the envelope of an unsigned bundle is no COSE message yet.
    let payload = sign.map_or_else(|_| unsigned_payload(), |sign| sign.payload.unwrap());
    let map: ciborium::Value = ciborium::from_reader(payload.as_slice()).unwrap();
    let keys: Vec<i128> = map
        .into_map()
        .unwrap()
        .into_iter()
        .map(|(key, _)| key.into_integer().unwrap().into())
        .collect();
    assert_eq!(keys, [1, 2, 3, 4, 5, 6, 7, 8]);
}

fn unsigned_payload() -> Vec<u8> {
    let value: ciborium::Value = ciborium::from_reader(envelope(&bundle())).unwrap();
    let (_, content) = value.into_tag().unwrap();
    content.into_array().unwrap()[2].as_bytes().unwrap().clone()
}

#[test]
fn a_message_of_coset_is_accepted_only_in_the_same_encoding() {
    let ann = &signers()[0];
    let signed = ann.signed(&bundle());
    let trusted = set(&[0], 1, &[]);
    let check = |change: fn(&mut CoseSign), expected: Result<(), &str>| {
        let mut sign = CoseSign::from_tagged_slice(envelope(&signed)).unwrap();
        change(&mut sign);
        let bundle = with_envelope(&signed, &sign.to_tagged_vec().unwrap());
        let found = open(&bundle, Trust::Signed(&trusted), &noon());
        assert_eq!(found.map(drop).map_err(|error| error.code()), expected);
    };
    check(|_| (), Ok(()));
    check(|sign| sign.signatures.clear(), Err("not-signed"));
    check(|sign| sign.payload = None, Err("malformed-envelope"));
    check(|sign| sign.unprotected.key_id = vec![1], Err("malformed-envelope"));
    check(|sign| sign.signatures[0].unprotected.key_id = vec![1], Err("malformed-envelope"));
    check(protect, Err("malformed-envelope"));
}

/// Sets a key id in the protected header of the whole message.
fn protect(sign: &mut CoseSign) {
    sign.protected = ProtectedHeader {
        original_data: None,
        header: HeaderBuilder::new().key_id(vec![1]).build(),
    };
}

#[test]
fn coset_reads_the_seal() {
    let (key, randomness) = ([7; 32], noise(3, 44));
    let sealed = seal(&bundle(), &key, &randomness.clone().try_into().unwrap()).unwrap();
    let message = CoseEncrypt0::from_tagged_slice(&sealed[32..]).unwrap();
    assert!(message.unprotected.is_empty());
    let header = &message.protected.header;
    assert_eq!(header.iv, randomness[32..]);
    let algorithm = RegisteredLabelWithPrivate::Assigned(iana::Algorithm::ChaCha20Poly1305);
    assert_eq!(header.alg, Some(algorithm));
    let structure = enc_structure_data(
        EncryptionContext::CoseEncrypt0,
        message.protected.clone(),
        b"wardgate sealed v2",
    );
    let salt: [u8; 32] = randomness[..32].try_into().unwrap();
    let nonce = header.iv.as_slice().try_into().unwrap();
    let text = aead::open(
        &aead::sealing_key(&key, &salt),
        &nonce,
        &structure,
        message.ciphertext.as_deref().unwrap(),
    );
    assert_eq!(text.unwrap(), bundle());
    assert_eq!(iana::Algorithm::ChaCha20Poly1305.to_i64(), 24);
}
