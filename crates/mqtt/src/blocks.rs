//! Texts eight bytes at a time.
//!
//! Nothing here knows what a text means; the slash is the one byte that it looks for.

/// Returns the end of the word of a name that begins at `start`.
#[inline]
pub(crate) fn word_end(name: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < name.len() {
        let inside = first_slash(block(name, at));
        if inside < 8 {
            return at.saturating_add(inside);
        }
        at = at.saturating_add(8);
    }
    name.len()
}

/// Returns true if a byte of a block is zero.
#[inline]
pub(crate) const fn has_zero(block: u64) -> bool {
    block.wrapping_sub(ONES) & !block & HIGHS != 0
}

/// Returns the eight bytes of a text at an offset, with zeros behind its end.
#[inline]
pub(crate) fn block(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    if let Some(block) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*block);
    }
    if let Some(block) = text.last_chunk::<8>() {
        let missing = 8_usize.saturating_sub(rest.len());
        return u64::from_le_bytes(*block).unbounded_shr(bits(missing));
    }
    if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        let above = bits(rest.len().saturating_sub(4));
        let last = u64::from(u32::from_le_bytes(*last)).unbounded_shl(above);
        return u64::from(u32::from_le_bytes(*first)) | last;
    }
    match *rest {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(a) | u64::from(b) << 8,
        [a, b, c, ..] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
    }
}

/// Returns the number of bytes before the first slash, or eight.
#[inline]
pub(crate) fn first_slash(block: u64) -> usize {
    // The lowest byte that becomes zero marks its highest bit; those above may be wrong.
    let zero = block ^ SLASHES;
    let found = zero.wrapping_sub(ONES) & !zero & HIGHS;
    usize::try_from(found.trailing_zeros() / 8).unwrap_or(8)
}

#[inline]
pub(crate) fn bits(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(8).saturating_mul(8)
}

const SLASHES: u64 = u64::from_le_bytes([b'/'; 8]);
const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_zeros_behind_the_end() {
        let text = b"abcdefghijklmnopq";
        for end in 0..=text.len() {
            for at in 0..=end {
                let mut expected = [0; 8];
                let bytes = &text[at..end.min(at + 8)];
                expected[..bytes.len()].copy_from_slice(bytes);
                assert_eq!(block(&text[..end], at), u64::from_le_bytes(expected), "{at} {end}");
            }
        }
    }

    #[test]
    fn words_end_at_slashes() {
        let name = b"a//abcdefgh/abcdefghijklmnop";
        let ends: [usize; 4] = [1, 2, 11, 28];
        for (start, end) in [0, 2, 3, 12].into_iter().zip(ends) {
            assert_eq!(word_end(name, start), end);
        }
        assert_eq!(word_end(name, 28), 28);
    }
}
