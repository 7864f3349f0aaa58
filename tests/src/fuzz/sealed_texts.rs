//! Forged sealed texts: they are refused, and leave no readable text.

use std::sync::OnceLock;

use wardgate_crypto::aead;

/// Opens. The first byte selects the meaning of the others: a sealed text, or the data beside an
/// honest one.
///
/// # Panics
/// If a text opens that was not sealed.
pub fn sealed_text(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else { return };
    if choice % 2 == 1 {
        for honest in honest() {
            let opened = aead::open(&KEY, &NONCE, bytes, honest);
            assert!(opened.is_err() || bytes == BESIDE, "it opens beside something else");
        }
        return;
    }
    let known = honest().iter().zip(TEXTS).find(|(honest, _)| *honest == bytes);
    let opened = aead::open(&KEY, &NONCE, BESIDE, bytes).ok();
    assert!(opened.as_deref() == known.map(|(_, text)| text), "only honest texts open");
    if known.is_none() {
        expect_nothing_readable(bytes);
    }
}

/// Checks that a text that does not open in its place leaves the ciphertext or zeros: no
/// unauthenticated text.
fn expect_nothing_readable(sealed: &[u8]) {
    let Some((ciphertext, tag)) = sealed.split_last_chunk() else { return };
    let mut text = ciphertext.to_vec();
    assert!(aead::open_in_place(&KEY, &NONCE, BESIDE, &mut text, tag).is_err());
    assert!(text == ciphertext || text.iter().all(|byte| *byte == 0), "it was read anyway");
}

/// Returns valid inputs.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let sealed = honest().iter().map(|honest| [&[0], honest.as_slice()].concat());
    sealed.chain([[&[1], BESIDE].concat()]).collect()
}

/// Returns the texts as they were sealed.
fn honest() -> &'static [Vec<u8>] {
    static HONEST: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    HONEST.get_or_init(|| {
        TEXTS.map(|text| aead::seal(&KEY, &NONCE, BESIDE, text).unwrap_or_default()).into()
    })
}

const KEY: [u8; 32] = [5; 32];
const NONCE: [u8; 12] = [6; 12];
const BESIDE: &[u8] = b"what all may read";
/// One text that ends before a block does, and one long enough for every path of the cipher.
const TEXTS: [&[u8]; 2] = [b"what only a few may read", &[4; 1500]];
