//! The part of a row that fits one vector.
//!
//! A tier reads and writes memory through these functions alone: their parts have as many lanes as
//! its vector.

/// Returns part `part` of `row`; `part` is below 8 / `LANES`.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the caller owes a part of the row")]
pub(super) fn part_of<const LANES: usize, T>(row: &[T; 8], part: usize) -> &[T; LANES] {
    &row.as_chunks().0[part]
}

/// Returns part `part` of `row` for writing.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the caller owes a part of the row")]
pub(super) fn part_mut<const LANES: usize, T>(row: &mut [T; 8], part: usize) -> &mut [T; LANES] {
    &mut row.as_chunks_mut().0[part]
}
