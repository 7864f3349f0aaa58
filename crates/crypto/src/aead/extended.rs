//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha): nonces so long that random ones do not collide.
//!
//! For hosts that use one key for a long time and can store 24 bytes beside each text. Bundles do
//! not need it: each has a key of its own.

use alloc::vec::Vec;

use super::{Forged, Key, Nonce, TooLong, chacha20};

/// The length of a nonce in bytes.
pub const NONCE_BYTES: usize = 24;

/// A number used once under a key, so that two sealed texts differ: random bytes suffice.
pub type LongNonce = [u8; NONCE_BYTES];

/// Seals `text`: returns the ciphertext followed by the tag.
///
/// # Errors
/// The text is longer than [`MAX_BYTES`](super::MAX_BYTES).
pub fn seal(
    key: &Key,
    nonce: &LongNonce,
    associated: &[u8],
    text: &[u8],
) -> Result<Vec<u8>, TooLong> {
    let (key, nonce) = shortened(key, nonce);
    super::seal(&key, &nonce, associated, text)
}

/// Opens the ciphertext and tag that [`seal`] returned.
///
/// # Errors
/// The key, the nonce, `associated` or `sealed` differs from that of sealing.
pub fn open(
    key: &Key,
    nonce: &LongNonce,
    associated: &[u8],
    sealed: &[u8],
) -> Result<Vec<u8>, Forged> {
    let (key, nonce) = shortened(key, nonce);
    super::open(&key, &nonce, associated, sealed)
}

/// Derives a key from the first 16 bytes of the nonce, and a short nonce from the others.
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
