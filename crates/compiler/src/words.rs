//! The words of a table.

/// Returns a length or an offset as a word of a table.
///
/// A section never reaches 2^32 words, because [`crate::limits`] bounds the input. A saturated word
/// points nowhere, which the validation of a table refuses.
pub(crate) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
