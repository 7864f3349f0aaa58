//! ChaCha20-Poly1305 (RFC 8439): only the holders of a key can read a sealed text or change it.
//!
//! Opening returns a text only if its tag is right. A nonce may be used once under a key, so
//! callers derive a fresh key for each message with [`sealing_key`]; then nonces cannot collide.
//!
//! # Examples
//! ```
//! use wardgate_crypto::aead;
//!
//! let key = aead::sealing_key(&[1; 32], &[2; 32]);
//! let sealed = aead::seal(&key, &[0; aead::NONCE_BYTES], b"header", b"text")?;
//! assert_eq!(sealed.len(), 4 + aead::TAG_BYTES);
//! let opened = aead::open(&key, &[0; aead::NONCE_BYTES], b"header", &sealed);
//! assert_eq!(opened.as_deref(), Ok(&b"text"[..]));
//! assert!(aead::open(&key, &[0; aead::NONCE_BYTES], b"another", &sealed).is_err());
//! # Ok::<(), aead::TooLong>(())
//! ```

use alloc::vec::Vec;

use crate::blake3;

#[cfg(all(feature = "aegis", not(target_arch = "wasm32")))]
pub mod aegis;
mod chacha20;
pub mod extended;
#[cfg(any(test, target_arch = "wasm32", target_arch = "x86_64"))]
mod lanes;
#[cfg(not(any(target_arch = "wasm32", target_arch = "x86_64")))]
mod library;
#[cfg(any(test, target_arch = "wasm32", target_arch = "x86_64"))]
mod poly1305;

#[cfg(any(target_arch = "wasm32", target_arch = "x86_64"))]
use lanes as backend;
#[cfg(not(any(target_arch = "wasm32", target_arch = "x86_64")))]
use library as backend;

/// The length of a key in bytes.
pub const KEY_BYTES: usize = 32;

/// The length of a nonce in bytes.
pub const NONCE_BYTES: usize = 12;

/// The length of a tag in bytes.
pub const TAG_BYTES: usize = 16;

/// The longest text in bytes: a counter of 32 bits numbers the blocks, and the first makes the key
/// of the tag. RFC 8439 allows one byte more, which the `chacha20poly1305` crate refuses.
pub const MAX_BYTES: u64 = ((1 << 32) - 1) * 64 - 1;

/// A key of the cipher: a secret.
pub type Key = [u8; KEY_BYTES];

/// A number used once under a key, so that two sealed texts differ.
pub type Nonce = [u8; NONCE_BYTES];

/// The authentication tag of a text and the data beside it.
pub type Tag = [u8; TAG_BYTES];

/// The sealed text, its nonce or its associated data was changed, or sealed under another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged;

/// The text is longer than one key and nonce can hide: beyond [`MAX_BYTES`] the key stream would
/// repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The length of the text in bytes.
    pub bytes: usize,
}

/// Seals `text`: returns the ciphertext followed by the tag.
///
/// # Errors
/// The text is longer than [`MAX_BYTES`].
pub fn seal(key: &Key, nonce: &Nonce, associated: &[u8], text: &[u8]) -> Result<Vec<u8>, TooLong> {
    // Checked before the allocation of a copy.
    fits(text.len())?;
    let mut sealed = Vec::with_capacity(text.len().saturating_add(TAG_BYTES));
    sealed.extend_from_slice(text);
    let tag = seal_in_place(key, nonce, associated, &mut sealed)?;
    sealed.extend_from_slice(&tag);
    Ok(sealed)
}

/// Encrypts `text` in place and returns the tag.
///
/// # Errors
/// The text is longer than [`MAX_BYTES`]; it is then unchanged.
pub fn seal_in_place(
    key: &Key,
    nonce: &Nonce,
    associated: &[u8],
    text: &mut [u8],
) -> Result<Tag, TooLong> {
    fits(text.len())?;
    backend::seal(key, nonce, associated, text)
}

/// Opens the ciphertext and tag that [`seal`] returned.
///
/// # Errors
/// The key, the nonce, `associated` or `sealed` differs from that of sealing.
pub fn open(key: &Key, nonce: &Nonce, associated: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Forged> {
    let (text, tag) = sealed.split_last_chunk().ok_or(Forged)?;
    let mut text = text.to_vec();
    open_in_place(key, nonce, associated, &mut text, tag)?;
    Ok(text)
}

/// Decrypts a ciphertext in place.
///
/// # Errors
/// The key, the nonce, `associated`, the ciphertext or the tag differs from that of sealing; `text`
/// is then still the ciphertext.
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
/// With 32 random bytes of salt no two messages share a key, whichever nonces they use.
#[must_use]
pub fn sealing_key(master: &Key, salt: &[u8; 32]) -> Key {
    blake3::keyed(master, &[SEALING, salt.as_slice()].concat())
}

/// Refuses texts that are longer than the key stream.
fn fits(bytes: usize) -> Result<(), TooLong> {
    match u64::try_from(bytes) {
        Ok(0..=MAX_BYTES) => Ok(()),
        _ => Err(TooLong { bytes }),
    }
}

/// The purpose of a derived key, which separates it from other uses of the key of a host.
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
