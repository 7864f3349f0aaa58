//! Words of 32 bits in bytes, the lowest byte of each first, as BLAKE3 and ChaCha20 have them.

/// Reads as many words as there are bytes for; `BYTES` is four times `WORDS`.
pub(crate) fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// Writes eight words.
pub(crate) fn bytes(words: &[u32; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}
