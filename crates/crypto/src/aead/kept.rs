//! ChaCha20-Poly1305 by the library that many eyes have seen, wherever there is more than WebAssembly.

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};

use super::{Forged, Key, Nonce, TAG_BYTES, Tag};

pub(super) fn seal(key: &Key, nonce: &Nonce, associated: &[u8], text: &mut [u8]) -> Tag {
    let cipher = ChaCha20Poly1305::new(key.into());
    match cipher.encrypt_inout_detached(nonce.into(), associated, (&mut *text).into()) {
        Ok(tag) => tag.into(),
        // Beyond 256 GiB the key stream would repeat: nothing is sealed then, and nothing left to read.
        Err(_) => {
            text.fill(0);
            [0; TAG_BYTES]
        }
    }
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
