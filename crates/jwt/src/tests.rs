use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use wardgate_engine::cel::Timestamp;

use super::{KeySet, Lenience, TokenError, TokenTime, decoded, verified};

fn encoded(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn token(header: &str, claims: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", encoded(header.as_bytes()), encoded(claims.as_bytes()));
    let signature = encoded(&sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

const SECRET: &[u8] = b"a secret of this test only, long enough";

fn secret_set() -> KeySet {
    let json = format!(
        r#"{{"keys":[{{"kty":"oct","kid":"a","alg":"HS256","k":"{}"}}]}}"#,
        encoded(SECRET)
    );
    KeySet::read(json.as_bytes(), Lenience::default()).unwrap()
}

fn by_secret(header: &str, claims: &str) -> String {
    let sign = |bytes: &[u8]| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), bytes).as_ref().to_vec()
    };
    token(header, claims, sign)
}

fn check(token: &str, keys: &KeySet, expected: Result<(), TokenError>) {
    let now = Timestamp::new(1_000_000, 0).unwrap();
    let found = verified(token, keys, TokenTime { now, skew: Duration::from_secs(5) }).map(drop);
    assert_eq!(found, expected, "{token}");
}

const HEADER: &str = r#"{"alg":"HS256","kid":"a"}"#;

#[test]
fn a_signature_by_the_named_key_is_accepted() {
    check(&by_secret(HEADER, r#"{"sub":"ada"}"#), &secret_set(), Ok(()));
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, pkcs8.as_ref(), &random)
        .unwrap();
    let point = pair.public_key().as_ref();
    let (x, y) = (encoded(&point[1..49]), encoded(&point[49..]));
    let json =
        format!(r#"{{"kty":"EC","crv":"P-384","kid":"b","alg":"ES384","x":"{x}","y":"{y}"}}"#);
    let keys = KeySet::read(json.as_bytes(), Lenience::default()).unwrap();
    let sign = |bytes: &[u8]| pair.sign(&random, bytes).unwrap().as_ref().to_vec();
    let good = token(r#"{"alg":"ES384","kid":"b"}"#, "{}", sign);
    check(&good, &keys, Ok(()));
    let mut bent = good.into_bytes();
    let last = bent.len() - 20;
    bent[last] = if bent[last] == b'A' { b'B' } else { b'A' };
    check(&String::from_utf8(bent).unwrap(), &keys, Err(TokenError::WrongSignature));
}

#[test]
fn keys_of_edwards_curves_verify() {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let x = encoded(pair.public_key().as_ref());
    let json = format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}]}}"#);
    assert!(KeySet::read(json.as_bytes(), Lenience::default()).is_err());
    let keys = KeySet::read(json.as_bytes(), Lenience { alg: true, kid: true }).unwrap();
    let sign = |bytes: &[u8]| pair.sign(bytes).as_ref().to_vec();
    check(&token(r#"{"alg":"EdDSA"}"#, "{}", sign), &keys, Ok(()));
}

#[test]
fn other_keys_and_algorithms_are_refused() {
    let keys = secret_set();
    for header in
        [r#"{"alg":"HS256","kid":"b"}"#, r#"{"alg":"HS256"}"#, r#"{"alg":"HS384","kid":"a"}"#]
    {
        check(&by_secret(header, "{}"), &keys, Err(TokenError::NoKey));
    }
    check(
        &token(r#"{"alg":"none","kid":"a"}"#, "{}", |_| Vec::new()),
        &keys,
        Err(TokenError::NoKey),
    );
    check(&token(HEADER, "{}", |_| vec![0; 32]), &keys, Err(TokenError::WrongSignature));
    check(
        &by_secret(r#"{"alg":"HS256","kid":"a","crit":["b64"]}"#, "{}"),
        &keys,
        Err(TokenError::Malformed),
    );
    for text in ["", ".", "..", "a.b.c", "a.b"] {
        check(text, &keys, Err(TokenError::Malformed));
    }
    check(&"a".repeat(70_000), &keys, Err(TokenError::TooLong));
}

#[test]
fn time_counts_with_its_slack() {
    let keys = secret_set();
    let at = |claims: &str| by_secret(HEADER, claims);
    check(&at(r#"{"exp":1000001}"#), &keys, Ok(()));
    check(&at(r#"{"exp":999996}"#), &keys, Ok(()));
    check(&at(r#"{"exp":999995}"#), &keys, Err(TokenError::Expired));
    check(&at(r#"{"nbf":1000005}"#), &keys, Ok(()));
    check(&at(r#"{"nbf":1000006}"#), &keys, Err(TokenError::NotYetValid));
    check(&at(r#"{"iat":1000006}"#), &keys, Err(TokenError::IssuedLater));
    check(&at(r#"{"exp":"soon"}"#), &keys, Err(TokenError::Malformed));
}

#[test]
fn keys_that_cannot_be_used_are_named() {
    let refused =
        |json: &str| KeySet::read(json.as_bytes(), Lenience::default()).map(drop).unwrap_err();
    assert_eq!(refused("[]"), "it is not a JSON Web Key");
    assert_eq!(refused(r#"{"keys":[1]}"#), "key 0: it is not an object");
    assert_eq!(refused(r#"{"kty":"oct","k":"AA"}"#), "key 0: `kid` is missing");
    assert_eq!(refused(r#"{"kty":"oct","kid":"a","k":"AA"}"#), "key 0: `alg` is missing");
    assert_eq!(
        refused(r#"{"kty":"oct","kid":"a","alg":"ES256","k":"AA"}"#),
        "key 0: `ES256` is not an algorithm for a key of this kind"
    );
}

#[test]
fn secrets_shorter_than_their_digests_are_refused() {
    let read = |alg: &str, bytes: usize| {
        let key = encoded(&vec![7; bytes]);
        let json = format!(r#"{{"kty":"oct","kid":"a"{alg},"k":"{key}"}}"#);
        KeySet::read(json.as_bytes(), Lenience { alg: true, kid: false }).map(drop)
    };
    for (name, least) in [("HS256", 32), ("HS384", 48), ("HS512", 64)] {
        let alg = format!(",\"alg\":\"{name}\"");
        assert_eq!(read(&alg, least), Ok(()));
        let short = least - 1;
        let expected = format!(
            "key 0: a secret for `{name}` must have at least {least} bytes (RFC 7518, section 3.2), this one has {short}"
        );
        assert_eq!(read(&alg, short), Err(expected));
    }
    assert_eq!(read("", 32), Ok(()));
    assert!(read("", 31).is_err());
}

#[test]
fn a_secret_verifies_no_token_of_an_algorithm_that_it_is_too_short_for() {
    let secret = encoded(SECRET);
    let json = format!(r#"{{"kty":"oct","kid":"a","k":"{secret}"}}"#);
    let keys = KeySet::read(json.as_bytes(), Lenience { alg: true, kid: false }).unwrap();
    let sign = |bytes: &[u8]| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA512, SECRET), bytes).as_ref().to_vec()
    };
    check(&by_secret(HEADER, "{}"), &keys, Ok(()));
    check(&token(r#"{"alg":"HS512","kid":"a"}"#, "{}", sign), &keys, Err(TokenError::NoKey));
}

#[test]
fn a_claim_that_stands_twice_is_refused() {
    let keys = secret_set();
    check(&by_secret(HEADER, r#"{"sub":"ada"}"#), &keys, Ok(()));
    check(&by_secret(HEADER, r#"{"sub":"ada","sub":"root"}"#), &keys, Err(TokenError::Malformed));
}

#[test]
fn published_keys_that_cannot_be_used_are_passed_over() {
    let x = encoded(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap().public_key().as_ref());
    let good = format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"a","alg":"EdDSA","x":"{x}"}}"#);
    let check = |key: &str, expected: Option<&str>| {
        let json = format!(r#"{{"keys":[{key},{good}]}}"#);
        let (keys, skipped) = KeySet::read_remote(json.as_bytes(), Lenience::default()).unwrap();
        let expected: Vec<String> =
            expected.map(|why| format!("key 0: {why}")).into_iter().collect();
        assert_eq!((keys.len(), &skipped), (2 - expected.len(), &expected), "{key}");
    };
    let with = |more: &str| good.replacen('{', &format!("{{{more},"), 1);
    check(&good, None);
    check(&with(r#""use":"sig","key_ops":["verify"]"#), None);
    check(&with(r#""use":"enc""#), Some("it is not for signatures"));
    check(&with(r#""key_ops":["encrypt"]"#), Some("it is not for signatures"));
    check(&good.replace("kid", "dik"), Some("`kid` is missing"));
    check(
        r#"{"kty":"oct","kid":"a","alg":"HS256","k":"AAAA"}"#,
        Some("a published key must not be a secret: `kty` is `oct`"),
    );
    check("7", Some("it is not an object"));
    let none = KeySet::read_remote(br#"{"keys":[]}"#, Lenience::default()).unwrap();
    assert_eq!((none.0.len(), none.1.len()), (0, 0));
}

#[test]
fn each_text_of_bytes_has_one_spelling() {
    let check = |text: &str, expected: Option<&[u8]>| {
        assert_eq!(decoded(text).ok().as_deref(), expected, "{text}");
    };
    check("", Some(b""));
    check("Zg", Some(b"f"));
    check("Zm8", Some(b"fo"));
    check("Zm9vYg", Some(b"foob"));
    check("-_8", Some(&[0xfb, 0xff]));
    for text in ["Z", "Zg==", "Zh", "Zm9", "+/8", "Zm 9", "Zm9v\n", "é"] {
        check(text, None);
    }
}
