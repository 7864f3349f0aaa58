//! The matrix of a public key, transformed, with t1 as an additional column.
//!
//! Verification needs `A * z - c * t1 * 2^d`: with `z` and `c` side by side that is one product by
//! a matrix of `l + 1` columns. Its lanes are the rows, so one vector holds the factors of one
//! coefficient in all rows. The matrix includes the factor 1/256 of the inverse transform, which
//! costs one multiplication for each key here.

use alloc::vec::Vec;

use wardgate_simd::lanes::{Kernel, LanesF64, Row, Tier};

use super::field::{Factor, Rows, ZEROS, product, reduced};
use super::level::{Level, Parameters, SEED_BYTES, T1_BYTES};
use super::{expand, ntt};

/// The matrix: the columns of coefficient 0, then those of coefficient 1, and so on.
#[derive(Clone)]
pub(super) struct Matrix {
    columns: usize,
    rows: Vec<Row<f64>>,
}

impl Matrix {
    /// Expands a public key of the right length; returns `None` if its seed gives no matrix.
    pub(super) fn of(level: Level, public_key: &[u8]) -> Option<Self> {
        let set = level.parameters();
        let (seed, t1) = public_key.split_first_chunk::<SEED_BYTES>()?;
        let columns = set.columns + 1;
        let mut matrix = Self { columns, rows: alloc::vec![Row([0.0; 8]); 256 * columns] };
        wardgate_simd::lanes::dispatch(Fill { matrix: &mut matrix, set: &set, seed, t1 })?;
        Some(matrix)
    }

    /// Multiplies by the matrix: lane `j` of `rows` is the factor of column `j` before, and row `j`
    /// of the product after.
    ///
    /// A factor is at most 2^25.4 and an entry less than 2^22: eight products add up to less than
    /// 2^50.5.
    pub(super) fn multiply<L: LanesF64>(&self, lanes: L, rows: &mut Rows) {
        lanes.enter(|lanes| match self.columns {
            5 => multiply::<L, 5>(lanes, &self.rows, rows),
            6 => multiply::<L, 6>(lanes, &self.rows, rows),
            _ => multiply::<L, 8>(lanes, &self.rows, rows),
        });
    }

    /// Stores a column.
    fn keep(&mut self, column: usize, rows: &Rows) {
        for (position, row) in self.rows.iter_mut().skip(column).step_by(self.columns).zip(rows) {
            *position = *row;
        }
    }
}

#[inline(always)]
fn multiply<L: LanesF64, const COLUMNS: usize>(lanes: L, entries: &[Row<f64>], rows: &mut Rows) {
    for (row, entries) in rows.iter_mut().zip(entries.as_chunks::<COLUMNS>().0) {
        let mut sums = [lanes.splat_f64(0.0); 8];
        for (column, (factor, entry)) in row.0.iter().zip(entries).enumerate() {
            let factor = lanes.splat_f64(*factor);
            for (part, sum) in sums.iter_mut().enumerate().take(L::PARTS) {
                let entry = lanes.load_f64(&entry.0, part);
                *sum = match column {
                    0 => lanes.mul(factor, entry),
                    _ => lanes.mul_add(factor, entry, *sum),
                };
            }
        }
        for (part, sum) in sums.iter().enumerate().take(L::PARTS) {
            lanes.store_f64(reduced(lanes, *sum), &mut row.0, part);
        }
    }
}

struct Fill<'a> {
    matrix: &'a mut Matrix,
    set: &'a Parameters,
    seed: &'a [u8; SEED_BYTES],
    t1: &'a [u8],
}

impl Kernel for Fill<'_> {
    type Output = Option<()>;

    fn run<T: Tier>(self, tier: T) -> Option<()> {
        let mut rows = ZEROS;
        for column in 0..self.set.columns {
            expand::column(tier, self.seed, (column, self.set.rows), &mut rows)?;
            scale(tier, &mut rows, SHRINK);
            self.matrix.keep(column, &rows);
        }
        unpack_t1(self.t1, &mut rows);
        ntt::forward(tier, &mut rows);
        scale(tier, &mut rows, NEGATED_SHRINK);
        self.matrix.keep(self.set.columns, &rows);
        Some(())
    }
}

fn scale<L: LanesF64>(lanes: L, rows: &mut Rows, factor: Factor) {
    lanes.enter(|lanes| {
        let factor = factor.splat(lanes);
        for row in rows {
            for part in 0..L::PARTS {
                let scaled = product(lanes, lanes.load_f64(&row.0, part), factor);
                lanes.store_f64(scaled, &mut row.0, part);
            }
        }
    });
}

/// Reads t1 * 2^d: four coefficients of ten bits in five bytes, polynomial after polynomial.
fn unpack_t1(t1: &[u8], rows: &mut Rows) {
    *rows = ZEROS;
    for (lane, polynomial) in t1.chunks_exact(T1_BYTES).enumerate() {
        let fours = polynomial.as_chunks::<5>().0;
        for (rows, [a, b, c, d, e]) in rows.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
            let bits = u64::from_le_bytes([*a, *b, *c, *d, *e, 0, 0, 0]);
            for (row, position) in rows.iter_mut().zip([0, 10, 20, 30]) {
                if let (Some(number), Ok(value)) =
                    (row.0.get_mut(lane), u32::try_from(bits >> position & 0x3ff))
                {
                    *number = f64::from(value << DROPPED_BITS);
                }
            }
        }
    }
}

/// The number of low bits of t that public keys omit, d.
const DROPPED_BITS: u32 = 13;

/// 1 / 256 modulo q, centred at zero.
const SHRINK: Factor = Factor::new(-32_736.0);

/// -1 / 256 modulo q.
const NEGATED_SHRINK: Factor = Factor::new(32_736.0);
