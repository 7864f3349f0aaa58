//! Wardgate.

use std::cell::RefCell;

use wardgate_crypto::ml_dsa::{Level, PreparedKey};
use wardgate_crypto::{aead, blake3};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::buffers::{self, Buffers};

/// Prepares the public key that lies in the buffers.
#[wasm_bindgen]
pub fn take_key(length: usize) -> bool {
    let key = buffers::with(|buffers| {
        let bytes = buffers.input.get(..length)?;
        PreparedKey::new(Level::MlDsa87, bytes).ok()
    });
    let known = key.is_some();
    KEY.set(key);
    known
}

/// Verifies with the prepared key: a message, then its signature.
#[wasm_bindgen]
pub fn verify(message: usize, signature: usize) -> bool {
    verify_with(message, signature, |key, message, signature| key.verify(message, b"", signature))
}

/// Prepares the same key once more, and then verifies.
#[wasm_bindgen]
pub fn verify_cold(message: usize, signature: usize) -> bool {
    verify_with(message, signature, |key, message, signature| {
        let key = PreparedKey::new(Level::MlDsa87, key.public_key());
        key.is_ok_and(|key| key.verify(message, b"", signature))
    })
}

/// Hashes `count` messages of `bytes` bytes each, one after the other.
#[wasm_bindgen]
pub fn hash(count: usize, bytes: usize) {
    buffers::with(|Buffers { input, output, .. }| {
        let places = output.chunks_exact_mut(blake3::DIGEST_BYTES).take(count);
        for (message, place) in input.chunks(bytes).zip(places) {
            place.copy_from_slice(&blake3::hash(message));
        }
    });
}

/// Hashes `count` messages of `bytes` bytes each, all at once.
#[wasm_bindgen]
pub fn hash_many(count: usize, bytes: usize) -> bool {
    buffers::with(|Buffers { input, output, .. }| {
        let messages: Vec<&[u8]> = input.chunks(bytes).take(count).collect();
        let (places, _) = output.as_chunks_mut();
        let places = places.get_mut(..count);
        places.is_some_and(|places| blake3::hash_many(&messages, places).is_ok())
    })
}

/// Seals the text in the buffers in its place, leaves the tag, and opens it again.
#[wasm_bindgen]
pub fn round_trip(bytes: usize) -> bool {
    buffers::with(|buffers| {
        let Some((text, tag, secrets)) = buffers.text(bytes) else { return false };
        let buffers::Secrets { key, nonce, associated } = secrets;
        let sealed = aead::seal_in_place(key, nonce, associated, text).map(|found| *tag = found);
        sealed.is_ok() && aead::open_in_place(key, nonce, associated, text, tag).is_ok()
    })
}

/// Returns true if the text in the buffers opens with the tag behind it.
#[wasm_bindgen]
pub fn opens(bytes: usize) -> bool {
    buffers::with(|buffers| {
        let Some((text, tag, secrets)) = buffers.text(bytes) else { return false };
        let buffers::Secrets { key, nonce, associated } = secrets;
        aead::open_in_place(key, nonce, associated, text, tag).is_ok()
    })
}

fn verify_with(
    message: usize,
    signature: usize,
    act: impl FnOnce(&PreparedKey, &[u8], &[u8]) -> bool,
) -> bool {
    buffers::with(|buffers| {
        let (message, signature) = buffers.signed(message, signature);
        KEY.with_borrow(|key| key.as_ref().is_some_and(|key| act(key, message, signature)))
    })
}

thread_local! {
    static KEY: RefCell<Option<PreparedKey>> = const { RefCell::new(None) };
}
