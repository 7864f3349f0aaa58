//! ChaCha20-Poly1305 by the `chacha20poly1305` crate, on targets without vectors in `simd`, such as
//! those of ARM, whose vectors the crate uses.

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};

use super::{Forged, Key, Nonce, Tag, TooLong};

pub(super) fn seal(
    key: &Key,
    nonce: &Nonce,
    associated: &[u8],
    text: &mut [u8],
) -> Result<Tag, TooLong> {
    let (cipher, bytes) = (ChaCha20Poly1305::new(key.into()), text.len());
    let tag = cipher.encrypt_inout_detached(nonce.into(), associated, text.into());
    // The length is the only reason for which the library refuses.
    tag.map(Tag::from).map_err(|_| TooLong { bytes })
}

pub(super) fn open(
    key: &Key,
    nonce: &Nonce,
    associated: &[u8],
    text: &mut [u8],
    expected: &Tag,
) -> Result<(), Forged> {
    let cipher = ChaCha20Poly1305::new(key.into());
    cipher
        .decrypt_inout_detached(nonce.into(), associated, text.into(), expected.into())
        .map_err(|_| Forged)
}
