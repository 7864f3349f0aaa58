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

/// The longest text: a counter of 32 bits numbers the blocks, and the first makes the key of the tag.
/// RFC 8439 allows one byte more, which the kept library refuses.
pub const MAX_BYTES: u64 = ((1 << 32) - 1) * 64 - 1;

/// A key of the cipher: a secret.
pub type Key = [u8; KEY_BYTES];

/// What makes two sealed texts under one key differ.
pub type Nonce = [u8; NONCE_BYTES];

/// What proves that a text and the data beside it are authentic.
pub type Tag = [u8; TAG_BYTES];

/// The sealed text, its nonce or the data beside it is not what was sealed under this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged;

/// The text is longer than one key and nonce can hide: beyond [`MAX_BYTES`] the key stream would repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// How many bytes it has.
    pub bytes: usize,
}

/// Seals `text`: returns the ciphertext and, behind it, the tag.
///
/// # Errors
/// If the text is longer than [`MAX_BYTES`].
pub fn seal(key: &Key, nonce: &Nonce, associated: &[u8], text: &[u8]) -> Result<Vec<u8>, TooLong> {
    // Before room is made for a copy.
    fits(text.len())?;
    let mut sealed = Vec::with_capacity(text.len().saturating_add(TAG_BYTES));
    sealed.extend_from_slice(text);
    let tag = seal_in_place(key, nonce, associated, &mut sealed)?;
    sealed.extend_from_slice(&tag);
    Ok(sealed)
}

/// Turns `text` into its ciphertext and returns the tag.
///
/// # Errors
/// If the text is longer than [`MAX_BYTES`]; it is then as it was.
pub fn seal_in_place(
    key: &Key,
    nonce: &Nonce,
    associated: &[u8],
    text: &mut [u8],
) -> Result<Tag, TooLong> {
    fits(text.len())?;
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

/// Lets only texts pass that the key stream covers.
fn fits(bytes: usize) -> Result<(), TooLong> {
    match u64::try_from(bytes) {
        Ok(0..=MAX_BYTES) => Ok(()),
        _ => Err(TooLong { bytes }),
    }
}

/// Sets this use of the key of a host apart from every other.
const SEALING: &[u8] = b"wardgate sealing key v1";

impl core::fmt::Display for Forged {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the sealed text is not authentic")
    }
}

impl core::error::Error for Forged {}

impl core::fmt::Display for TooLong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "expected a text of at most {MAX_BYTES} bytes, found {}", self.bytes)
    }
}

impl core::error::Error for TooLong {}

#[cfg(test)]
mod tests;
