//! The conversion of blocks into columns and back, for vectors that consist of groups of four
//! words.
//!
//! A group has four words of one block. Four vectors are transposed group by group, which needs no
//! instruction that crosses groups, and a group is read or written in one access, wherever its
//! block is.

#![expect(
    clippy::indexing_slicing,
    reason = "every index is a constant below the length of an array"
)]

use super::{Block, Lanes32, MAX_WORDS, Quad};

/// A tier whose vectors consist of groups of four words.
pub(super) trait Quads: Lanes32 {
    /// Reads each group from its own address; a narrow vector has fewer than four.
    fn load_quads(self, groups: [&Quad; 4]) -> Self::U32;

    /// Writes one group, which is below `WORDS / 4`.
    fn store_quad(self, value: Self::U32, group: usize, quad: &mut Quad);

    /// Turns the same group of four vectors, which are four quads of one block, into quads that are
    /// adjacent in a vector: `in_order` of the vectors of one row.
    fn in_order(self, quads: [Self::U32; 4]) -> [Self::U32; 4];

    /// XORs a vector into the first quads, of which there are at least as many as groups.
    fn join(self, value: Self::U32, quads: &mut [Quad]);

    /// Interleaves words 0 and 1 of each group of `a` with those of `b`.
    fn low_words(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Interleaves words 2 and 3 of each group of `a` with those of `b`.
    fn high_words(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Joins the lower halves of each group of `a` and of `b`.
    fn low_halves(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Joins the upper halves of each group of `a` and of `b`.
    fn high_halves(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Transposes the four words of group `i` of the four vectors, for every `i`.
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [Self::U32; 4]) -> [Self::U32; 4] {
        let (low, high) = (self.low_words(a, b), self.high_words(a, b));
        let (low2, high2) = (self.low_words(c, d), self.high_words(c, d));
        [
            self.low_halves(low, low2),
            self.high_halves(low, low2),
            self.low_halves(high, high2),
            self.high_halves(high, high2),
        ]
    }
}

/// Stamps the two conversions of [`Lanes32`] for a tier of [`Quads`] with this vector.
macro_rules! conversions {
    ($vector:ty) => {
        #[inline(always)]
        fn columns(self, blocks: &[&Block; MAX_WORDS]) -> [$vector; 16] {
            quads::columns(self, blocks)
        }

        #[inline(always)]
        fn rows<const QUADS: usize>(
            self,
            columns: &[[$vector; 4]; QUADS],
            rows: &mut [[Quad; QUADS]; MAX_WORDS],
        ) {
            quads::rows(self, columns, rows);
        }

        #[inline(always)]
        fn join_rows(self, columns: &[[$vector; 4]; 4], rows: &mut [[Quad; 4]; MAX_WORDS]) {
            quads::join_rows(self, columns, rows);
        }
    };
}

pub(super) use conversions;

/// Reads blocks into columns: word `i` of every block into vector `i`.
#[inline(always)]
pub(super) fn columns<T: Quads>(tier: T, blocks: &[&Block; MAX_WORDS]) -> [T::U32; 16] {
    let [a0, a1, a2, a3] = four_columns::<T, 0>(tier, blocks);
    let [b0, b1, b2, b3] = four_columns::<T, 1>(tier, blocks);
    let [c0, c1, c2, c3] = four_columns::<T, 2>(tier, blocks);
    let [d0, d1, d2, d3] = four_columns::<T, 3>(tier, blocks);
    [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3]
}

/// Reads four columns. Lane `4 * group + row` is the block of that number, so vector `row` reads
/// one block for each group.
#[inline(always)]
fn four_columns<T: Quads, const QUAD: usize>(tier: T, blocks: &[&Block; MAX_WORDS]) -> [T::U32; 4] {
    tier.transpose([
        tier.load_quads(groups::<QUAD, 0>(blocks)),
        tier.load_quads(groups::<QUAD, 1>(blocks)),
        tier.load_quads(groups::<QUAD, 2>(blocks)),
        tier.load_quads(groups::<QUAD, 3>(blocks)),
    ])
}

#[inline(always)]
fn groups<'a, const QUAD: usize, const ROW: usize>(
    blocks: &[&'a Block; MAX_WORDS],
) -> [&'a Quad; 4] {
    [
        &blocks[ROW].as_chunks().0[QUAD],
        &blocks[(4 + ROW) % MAX_WORDS].as_chunks().0[QUAD],
        &blocks[(8 + ROW) % MAX_WORDS].as_chunks().0[QUAD],
        &blocks[(12 + ROW) % MAX_WORDS].as_chunks().0[QUAD],
    ]
}

/// Writes columns as rows: the reverse of `columns`, for as many words as there are vectors.
#[inline(always)]
pub(super) fn rows<T: Quads, const QUADS: usize>(
    tier: T,
    columns: &[[T::U32; 4]; QUADS],
    rows: &mut [[Quad; QUADS]; MAX_WORDS],
) {
    for (quad, columns) in columns.iter().enumerate() {
        let [a, b, c, d] = tier.transpose(*columns);
        for (group, rows) in rows.as_chunks_mut::<4>().0.iter_mut().enumerate().take(T::WORDS / 4) {
            let [first, second, third, fourth] = rows;
            tier.store_quad(a, group, &mut first[quad]);
            tier.store_quad(b, group, &mut second[quad]);
            tier.store_quad(c, group, &mut third[quad]);
            tier.store_quad(d, group, &mut fourth[quad]);
        }
    }
}

/// XORs columns into rows.
#[inline(always)]
pub(super) fn join_rows<T: Quads>(
    tier: T,
    columns: &[[T::U32; 4]; 4],
    rows: &mut [[Quad; 4]; MAX_WORDS],
) {
    let [q, r, s, t] = *columns;
    let [q0, q1, q2, q3] = tier.transpose(q);
    let [r0, r1, r2, r3] = tier.transpose(r);
    let [s0, s1, s2, s3] = tier.transpose(s);
    let [t0, t1, t2, t3] = tier.transpose(t);
    join_row::<T, 0>(tier, [q0, r0, s0, t0], rows);
    join_row::<T, 1>(tier, [q1, r1, s1, t1], rows);
    join_row::<T, 2>(tier, [q2, r2, s2, t2], rows);
    join_row::<T, 3>(tier, [q3, r3, s3, t3], rows);
}

/// XORs block `4 * group + ROW` of every group. A vector has as many quads as there are groups, so
/// a block takes one, two or four vectors.
#[inline(always)]
fn join_row<T: Quads, const ROW: usize>(
    tier: T,
    quads: [T::U32; 4],
    rows: &mut [[Quad; 4]; MAX_WORDS],
) {
    let groups = T::WORDS / 4;
    let [a, b, c, d] = tier.in_order(quads);
    tier.join(a, &mut rows[ROW]);
    tier.join(b, &mut rows[4 * (groups / 4) + ROW][groups % 4..]);
    tier.join(c, &mut rows[4 * (groups / 2) + ROW][2 * groups % 4..]);
    tier.join(d, &mut rows[4 * (3 * groups / 4) + ROW][3 * groups % 4..]);
}
