//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha): nonces so long that random ones never meet.
//!
//! For hosts that keep one key for long and can store 24 bytes beside each text. Bundles do not need it:
//! each has a key of its own.

use alloc::vec::Vec;

use super::{Forged, Key, Nonce, TooLong, chacha20};

/// The length of a nonce.
pub const NONCE_BYTES: usize = 24;

/// What makes two sealed texts under one key differ: random bytes will do.
pub type LongNonce = [u8; NONCE_BYTES];

/// Seals `text`: returns the ciphertext and, behind it, the tag.
///
/// # Errors
/// If the text is longer than [`MAX_BYTES`](super::MOST_BYTES).
pub fn seal(
    key: &Key,
    nonce: &LongNonce,
    associated: &[u8],
    text: &[u8],
) -> Result<Vec<u8>, TooLong> {
    let (key, nonce) = shortened(key, nonce);
    super::seal(&key, &nonce, associated, text)
}

/// Opens what `seal` returned.
///
/// # Errors
/// If anything is not as it was sealed.
pub fn open(
    key: &Key,
    nonce: &LongNonce,
    associated: &[u8],
    sealed: &[u8],
) -> Result<Vec<u8>, Forged> {
    let (key, nonce) = shortened(key, nonce);
    super::open(&key, &nonce, associated, sealed)
}

/// The first 16 bytes of the nonce make a key, and the others are a nonce under it.
fn shortened(key: &Key, nonce: &LongNonce) -> (Key, Nonce) {
    let mut first = [0; 16];
    let mut short = [0; 12];
    let (head, tail) = nonce.split_at(first.len());
    first.copy_from_slice(head);
    for (short, byte) in short.iter_mut().skip(4).zip(tail) {
        *short = *byte;
    }
    (chacha20::derive(key, &first), short)
}
