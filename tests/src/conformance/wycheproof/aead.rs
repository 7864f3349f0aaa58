//! Vectors of ciphers that seal a text and authenticate the data beside it.

use std::rc::Rc;

use serde_json::Value as Json;
#[cfg(not(target_arch = "wasm32"))]
use wardgate_crypto::aead::aegis::Suite;
use wardgate_crypto::aead::extended::{self, LongNonce};
use wardgate_crypto::aead::{self, Forged, KEY_BYTES, Key, NONCE_BYTES, Nonce, TAG_BYTES};

use super::super::Outcome;
use super::super::vectors::{bytes, same};
use super::{Run, is_valid};

/// Returns the function that decides the vectors of a file if its algorithm is one of ours.
pub(super) fn recognize(algorithm: &str, schema: &str) -> Option<Result<Run, String>> {
    let cipher = CIPHERS.iter().find(|cipher| algorithm.eq_ignore_ascii_case(cipher.algorithm))?;
    if !schema.starts_with("aead_test_schema") {
        return Some(Err(format!("unknown schema `{schema}` for {algorithm}")));
    }
    Some(Ok(Rc::new(move |_, test| run(cipher, test))))
}

/// One cipher with keys, nonces and tags of any length; it refuses those that are not its own.
struct Cipher {
    algorithm: &'static str,
    seal: fn(&Texts) -> Option<Vec<u8>>,
    open: fn(&Texts, sealed: &[u8]) -> Result<Vec<u8>, Forged>,
}

/// The parts of a vector.
struct Texts {
    key: Vec<u8>,
    nonce: Vec<u8>,
    associated: Vec<u8>,
    message: Vec<u8>,
}

fn run(cipher: &Cipher, test: &Json) -> Result<Outcome, String> {
    let texts = Texts {
        key: bytes(test, "key")?,
        nonce: bytes(test, "iv")?,
        associated: bytes(test, "aad")?,
        message: bytes(test, "msg")?,
    };
    let valid = is_valid(test)?;
    let sealed = [bytes(test, "ct")?, bytes(test, "tag")?].concat();
    let opened = (cipher.open)(&texts, &sealed);
    if !valid {
        return Ok(same(&Err(Forged), &opened));
    }
    let found = ((cipher.seal)(&texts), opened);
    Ok(same(&(Some(sealed), Ok(texts.message)), &found))
}

fn chacha_seal(texts: &Texts) -> Option<Vec<u8>> {
    let (key, nonce) = chacha_keys(texts)?;
    let sealed = aead::seal(key, nonce, &texts.associated, &texts.message).ok()?;
    let mut in_place = texts.message.clone();
    let tag = aead::seal_in_place(key, nonce, &texts.associated, &mut in_place).ok()?;
    (sealed == [in_place.as_slice(), &tag].concat()).then_some(sealed)
}

/// Opens in both ways, which must agree, and leave no readable text if it is forged.
fn chacha_open(texts: &Texts, sealed: &[u8]) -> Result<Vec<u8>, Forged> {
    let (key, nonce) = chacha_keys(texts).ok_or(Forged)?;
    let opened = aead::open(key, nonce, &texts.associated, sealed);
    let (text, tag) = sealed.split_last_chunk::<TAG_BYTES>().ok_or(Forged)?;
    let mut in_place = text.to_vec();
    let outcome = aead::open_in_place(key, nonce, &texts.associated, &mut in_place, tag);
    let untouched = in_place == text || in_place.iter().all(|byte| *byte == 0);
    match &opened {
        Ok(opened) => assert_eq!((outcome, opened), (Ok(()), &in_place)),
        Err(Forged) => assert_eq!((outcome, untouched), (Err(Forged), true)),
    }
    opened
}

fn chacha_keys(texts: &Texts) -> Option<(&Key, &Nonce)> {
    let key = texts.key.as_array::<KEY_BYTES>()?;
    Some((key, texts.nonce.as_array::<NONCE_BYTES>()?))
}

fn xchacha_seal(texts: &Texts) -> Option<Vec<u8>> {
    let (key, nonce) = xchacha_keys(texts)?;
    extended::seal(key, nonce, &texts.associated, &texts.message).ok()
}

fn xchacha_open(texts: &Texts, sealed: &[u8]) -> Result<Vec<u8>, Forged> {
    let (key, nonce) = xchacha_keys(texts).ok_or(Forged)?;
    extended::open(key, nonce, &texts.associated, sealed)
}

fn xchacha_keys(texts: &Texts) -> Option<(&Key, &LongNonce)> {
    let key = texts.key.as_array::<KEY_BYTES>()?;
    Some((key, texts.nonce.as_array::<{ extended::NONCE_BYTES }>()?))
}

#[cfg(not(target_arch = "wasm32"))]
fn aegis_seal(texts: &Texts) -> Option<Vec<u8>> {
    let (key, nonce) = (texts.key.as_array()?, texts.nonce.as_array()?);
    Some(Suite::Aegis256.seal(key, nonce, &texts.associated, &texts.message))
}

#[cfg(not(target_arch = "wasm32"))]
fn aegis_open(texts: &Texts, sealed: &[u8]) -> Result<Vec<u8>, Forged> {
    let (Some(key), Some(nonce)) = (texts.key.as_array(), texts.nonce.as_array()) else {
        return Err(Forged);
    };
    Suite::Aegis256.open(key, nonce, &texts.associated, sealed)
}

const CIPHERS: &[Cipher] = &[
    #[cfg(not(target_arch = "wasm32"))]
    Cipher { algorithm: "AEGIS256", seal: aegis_seal, open: aegis_open },
    Cipher { algorithm: "CHACHA20-POLY1305", seal: chacha_seal, open: chacha_open },
    Cipher { algorithm: "XCHACHA20-POLY1305", seal: xchacha_seal, open: xchacha_open },
];
