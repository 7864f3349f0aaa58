//! The rivals, each called as its documentation has it.

use std::cell::RefCell;

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};
use libcrux_ml_dsa::ml_dsa_87::{MLDSA87Signature, MLDSA87VerificationKey, portable};
use ml_dsa::{MlDsa87, Signature, VerifyingKey};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::buffers::{self, Buffers, Secrets};

/// Reads the public key that lies in the buffers.
#[wasm_bindgen]
pub fn take_key(length: usize) -> bool {
    let keys = buffers::with(|buffers| Keys::read(buffers.input.get(..length)?));
    let known = keys.is_some();
    KEYS.set(keys);
    known
}

/// Verifies by `ml-dsa`, with the key decoded beforehand: a message, then its signature.
#[wasm_bindgen]
pub fn ml_dsa_verify(message: usize, signature: usize) -> bool {
    verify_with(message, signature, |keys, message, signature| {
        by_ml_dsa(&keys.ml_dsa, message, signature)
    })
}

/// Verifies by `ml-dsa`, which decodes the key first.
#[wasm_bindgen]
pub fn ml_dsa_verify_cold(message: usize, signature: usize) -> bool {
    verify_with(message, signature, |keys, message, signature| {
        decoded(&keys.bytes).is_some_and(|key| by_ml_dsa(&key, message, signature))
    })
}

/// Verifies by `libcrux-ml-dsa`, which prepares nothing of a key.
#[wasm_bindgen]
pub fn libcrux_verify(message: usize, signature: usize) -> bool {
    verify_with(message, signature, |keys, message, signature| {
        let signature = signature.try_into().map(MLDSA87Signature::new);
        signature.is_ok_and(|signature| {
            portable::verify(&keys.libcrux, message, b"", &signature).is_ok()
        })
    })
}

/// Hashes `count` messages of `bytes` bytes each by `blake3`, one after the other.
#[wasm_bindgen]
pub fn hash(count: usize, bytes: usize) {
    buffers::with(|Buffers { input, output, .. }| {
        let places = output.chunks_exact_mut(blake3::OUT_LEN).take(count);
        for (message, place) in input.chunks(bytes).zip(places) {
            place.copy_from_slice(blake3::hash(message).as_bytes());
        }
    });
}

/// Seals the text in the buffers in its place by `chacha20poly1305`, leaves the tag, and opens it
/// again.
#[wasm_bindgen]
pub fn round_trip(bytes: usize) -> bool {
    buffers::with(|buffers| {
        let Some((text, tag, secrets)) = buffers.text(bytes) else { return false };
        seal(text, tag, secrets).is_some() && open(text, tag, secrets)
    })
}

/// Returns true if the text in the buffers opens with the tag behind it.
#[wasm_bindgen]
pub fn opens(bytes: usize) -> bool {
    buffers::with(|buffers| {
        buffers.text(bytes).is_some_and(|(text, tag, secrets)| open(text, tag, secrets))
    })
}

fn seal(text: &mut [u8], tag: &mut [u8; 16], secrets: &Secrets) -> Option<()> {
    let Secrets { key, nonce, associated } = secrets;
    let cipher = ChaCha20Poly1305::new(key.into());
    *tag = cipher.encrypt_inout_detached(nonce.into(), associated, text.into()).ok()?.into();
    Some(())
}

fn open(text: &mut [u8], tag: &[u8; 16], secrets: &Secrets) -> bool {
    let Secrets { key, nonce, associated } = secrets;
    let cipher = ChaCha20Poly1305::new(key.into());
    cipher.decrypt_inout_detached(nonce.into(), associated, text.into(), tag.into()).is_ok()
}

/// A public key in the forms that the rivals want.
struct Keys {
    bytes: Vec<u8>,
    ml_dsa: VerifyingKey<MlDsa87>,
    libcrux: MLDSA87VerificationKey,
}

impl Keys {
    fn read(bytes: &[u8]) -> Option<Self> {
        let libcrux = MLDSA87VerificationKey::new(bytes.try_into().ok()?);
        Some(Self { bytes: bytes.to_vec(), ml_dsa: decoded(bytes)?, libcrux })
    }
}

fn decoded(key: &[u8]) -> Option<VerifyingKey<MlDsa87>> {
    key.try_into().ok().map(VerifyingKey::decode)
}

fn by_ml_dsa(key: &VerifyingKey<MlDsa87>, message: &[u8], signature: &[u8]) -> bool {
    let signature = Signature::try_from(signature);
    signature.is_ok_and(|signature| key.verify_with_context(message, b"", &signature))
}

fn verify_with(
    message: usize,
    signature: usize,
    act: impl FnOnce(&Keys, &[u8], &[u8]) -> bool,
) -> bool {
    buffers::with(|buffers| {
        let (message, signature) = buffers.signed(message, signature);
        KEYS.with_borrow(|keys| keys.as_ref().is_some_and(|keys| act(keys, message, signature)))
    })
}

thread_local! {
    static KEYS: RefCell<Option<Keys>> = const { RefCell::new(None) };
}
