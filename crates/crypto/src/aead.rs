//! ChaCha20-Poly1305 (RFC 8439): text that only the holders of a key can read, and nobody can change.
//!
//! Text whose tag does not hold is never handed out. A nonce may be used once under a key, so those who
//! seal derive a fresh key for each message with [`sealing_key`] and need no luck with nonces.

use alloc::vec::Vec;

use crate::blake3;

#[cfg(all(feature = "aegis", not(target_arch = "wasm32")))]
pub mod aegis;
mod chacha20;
pub mod extended;
#[cfg(not(target_arch = "wasm32"))]
mod kept;
#[cfg(any(test, target_arch = "wasm32"))]
mod own;
#[cfg(any(test, target_arch = "wasm32"))]
mod poly1305;

#[cfg(not(target_arch = "wasm32"))]
use kept as backend;
#[cfg(target_arch = "wasm32")]
use own as backend;

/// The length of a key.
pub const KEY_BYTES: usize = 32;

/// The length of a nonce.
pub const NONCE_BYTES: usize = 12;

/// The length of what proves that a text is authentic.
pub const TAG_BYTES: usize = 16;

/// A key of the cipher: a secret.
pub type Key = [u8; KEY_BYTES];

/// What makes two sealed texts under one key differ.
pub type Nonce = [u8; NONCE_BYTES];

/// What proves that a text and the data beside it are authentic.
pub type Tag = [u8; TAG_BYTES];

/// The sealed text, its nonce or the data beside it is not what was sealed under this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged;

/// Seals `text`: returns the ciphertext and, behind it, the tag.
#[must_use]
pub fn seal(key: &Key, nonce: &Nonce, associated: &[u8], text: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(text.len().saturating_add(TAG_BYTES));
    sealed.extend_from_slice(text);
    let tag = seal_in_place(key, nonce, associated, &mut sealed);
    sealed.extend_from_slice(&tag);
    sealed
}

/// Turns `text` into its ciphertext and returns the tag.
#[must_use]
pub fn seal_in_place(key: &Key, nonce: &Nonce, associated: &[u8], text: &mut [u8]) -> Tag {
    backend::seal(key, nonce, associated, text)
}

/// Opens what `seal` returned.
///
/// # Errors
/// If anything is not as it was sealed.
pub fn open(key: &Key, nonce: &Nonce, associated: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Forged> {
    let (text, tag) = sealed.split_last_chunk().ok_or(Forged)?;
    let mut text = text.to_vec();
    open_in_place(key, nonce, associated, &mut text, tag)?;
    Ok(text)
}

/// Turns a ciphertext into its text.
///
/// # Errors
/// If anything is not as it was sealed; `text` is then still the ciphertext.
pub fn open_in_place(
    key: &Key,
    nonce: &Nonce,
    associated: &[u8],
    text: &mut [u8],
    tag: &Tag,
) -> Result<(), Forged> {
    backend::open(key, nonce, associated, text, tag)
}

/// Derives the key that seals one message from the key of the host and a salt of its own.
///
/// With 32 random bytes of salt no key ever comes twice, whatever the nonce.
#[must_use]
pub fn sealing_key(master: &Key, salt: &[u8; 32]) -> Key {
    blake3::keyed(master, &[SEALING, salt.as_slice()].concat())
}

/// Sets this use of the key of a host apart from every other.
const SEALING: &[u8] = b"wardgate sealing key v1";

impl core::fmt::Display for Forged {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the sealed text is not authentic")
    }
}

impl core::error::Error for Forged {}

#[cfg(test)]
mod tests;
