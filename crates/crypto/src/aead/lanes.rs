//! ChaCha20-Poly1305 over the lanes of this workspace (RFC 8439, section 2.8), on the targets that
//! have vectors here.

use subtle::ConstantTimeEq;

use super::chacha20::{Beginning, ChaCha20};
use super::poly1305::Poly1305;
use super::{Forged, Key, Nonce, Tag, TooLong};

/// Seals in place. Always succeeds: callers check the length, and no address here is as large as
/// the bound.
pub(super) fn seal(
    key: &Key,
    nonce: &Nonce,
    associated: &[u8],
    text: &mut [u8],
) -> Result<Tag, TooLong> {
    let cipher = ChaCha20::new(key, nonce);
    let beginning = cipher.beginning();
    beginning.apply(&cipher, text);
    Ok(tag(&beginning, associated, text))
}

pub(super) fn open(
    key: &Key,
    nonce: &Nonce,
    associated: &[u8],
    text: &mut [u8],
    expected: &Tag,
) -> Result<(), Forged> {
    let cipher = ChaCha20::new(key, nonce);
    let beginning = cipher.beginning();
    if !bool::from(tag(&beginning, associated, text).ct_eq(expected)) {
        return Err(Forged);
    }
    beginning.apply(&cipher, text);
    Ok(())
}

fn tag(beginning: &Beginning, associated: &[u8], sealed: &[u8]) -> Tag {
    let mut poly = Poly1305::new(&beginning.key());
    poly.add(associated);
    poly.add(sealed);
    let mut lengths = [0; 16];
    lengths.as_chunks_mut().0.copy_from_slice(&[length(associated), length(sealed)]);
    poly.add_block(&lengths);
    poly.finish()
}

fn length(bytes: &[u8]) -> [u8; 8] {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes()
}
