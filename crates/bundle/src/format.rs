//! The constants and number helpers of the container format, shared by the rest of the crate.

/// The version of the container.
pub(crate) const VERSION: u32 = 4;

/// The first bytes of every container.
pub(crate) const MAGIC: &[u8; 8] = b"WARDGATE";

/// Reads the little-endian number at `at`. Callers have checked that it is there; 0 if it is not.
pub(crate) fn number(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    word.copied().map_or(0, u32::from_le_bytes)
}

/// Widens a length; on every supported target `usize` has at least 32 bits.
pub(crate) fn size(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
