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

/// Returns the first blocks; there are as many.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the caller owes a block for each lane")]
pub(super) fn first_of<const LANES: usize, T>(blocks: &[T]) -> &[T; LANES] {
    &blocks.as_chunks().0[0]
}

/// Returns part `part` of `row` for writing.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the caller owes a part of the row")]
pub(super) fn part_mut<const LANES: usize, T>(row: &mut [T; 8], part: usize) -> &mut [T; LANES] {
    &mut row.as_chunks_mut().0[part]
}

/// Returns the first blocks for writing; there are as many.
#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the caller owes a block for each lane")]
pub(super) fn first_of_mut<const LANES: usize, T>(blocks: &mut [T]) -> &mut [T; LANES] {
    &mut blocks.as_chunks_mut().0[0]
}
