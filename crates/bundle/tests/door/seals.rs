//! Seals: the key opens them, and any other key or byte is refused.

use wardgate_bundle::delta::delta;
use wardgate_bundle::sealed::{seal, unseal};
use wardgate_bundle::{Conditions, Kind, OpenError, Trust, describe, digest, open};

use crate::keys::{set, signers};
use crate::tables::{bundle, noon, opened};

const KEY: [u8; 32] = [7; 32];
const RANDOMNESS: [u8; 44] = [9; 44];

#[test]
fn unsealing_returns_the_sealed_bytes() {
    let signed = signers()[0].signed(&bundle());
    let delta = delta(&bundle(), &signed).unwrap();
    for bytes in [bundle(), signed.clone(), delta] {
        let sealed = seal(&bytes, &KEY, &RANDOMNESS).unwrap();
        assert_eq!(Kind::of(&sealed), Ok(Kind::Sealed));
        assert_eq!(unseal(&sealed, &KEY, &noon()).unwrap(), bytes);
        assert!(sealed.len() <= bytes.len() + wardgate_bundle::limits::MAX_SEAL_BYTES);
        assert_eq!((opened(&sealed).unwrap_err(), digest(&sealed)), (OpenError::Sealed, None));
        assert_eq!(describe(&sealed).unwrap_err(), OpenError::Sealed);
        assert_eq!(seal(&sealed, &KEY, &RANDOMNESS).unwrap_err(), OpenError::Sealed);
    }
    let sealed = seal(&signed, &KEY, &RANDOMNESS).unwrap();
    let trusted = set(&[0], 1, &[]);
    let inside = unseal(&sealed, &KEY, &noon()).unwrap();
    assert!(open(&inside, Trust::Signed(&trusted), &noon()).is_ok());
}

#[test]
fn a_seal_hides_and_depends_on_key_and_randomness() {
    let sealed = seal(&bundle(), &KEY, &RANDOMNESS).unwrap();
    assert!(!sealed.windows(7).any(|window| window == b"payroll"));
    assert_ne!(seal(&bundle(), &KEY, &[8; 44]).unwrap(), sealed);
    assert_eq!(unseal(&sealed, &[8; 32], &noon()).unwrap_err(), OpenError::Forged);
}

#[test]
fn every_change_of_a_seal_is_refused_by_name() {
    let sealed = seal(&bundle(), &KEY, &RANDOMNESS).unwrap();
    let refused = |bytes: &[u8]| unseal(bytes, &KEY, &noon()).unwrap_err().code();
    for at in 0..sealed.len() * 8 {
        let mut flipped = sealed.clone();
        flipped[at / 8] ^= 1 << (at % 8);
        refused(&flipped);
    }
    for length in 0..sealed.len() {
        refused(&sealed[..length]);
    }
    assert_eq!(refused(&[sealed.as_slice(), &[0]].concat()), "wrong-length");
    assert_eq!(refused(&bundle()), "not-sealed");
    assert_eq!(refused(b""), "not-a-bundle");
    let check = |at: usize, expected: &str| {
        let mut flipped = sealed.clone();
        flipped[at] ^= 1;
        assert_eq!(refused(&flipped), expected, "byte {at}");
    };
    check(32, "malformed-seal");
    check(38, "malformed-seal");
    // Nonce, salt, text and tag.
    check(50, "forged");
    check(70, "forged");
    check(110, "forged");
    check(sealed.len() - 1, "forged");
}

#[test]
fn the_size_binds_before_anything_is_decrypted() {
    let sealed = seal(&bundle(), &KEY, &RANDOMNESS).unwrap();
    let conditions = Conditions { max_bytes: 10, ..noon() };
    assert_eq!(unseal(&sealed, &[0; 32], &conditions).unwrap_err().code(), "too-large");
}
