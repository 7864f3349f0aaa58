//! The number theoretic transform (FIPS 204, Algorithms 41 and 42) of eight polynomials at once.
//!
//! Row `i` holds coefficient `i` of all eight, so no step crosses lanes. Two layers are computed in
//! one pass over memory. Only products are reduced: see the bounds at each function.

#![expect(clippy::indexing_slicing, reason = "zetas are indexed by constants and by block numbers")]
#![expect(clippy::as_conversions, reason = "constants are computed from integers below q")]

use wardgate_simd::lanes::LanesF64;

use super::field::{Factor, Rows, Splat, product};

/// Transforms every polynomial.
///
/// Each layer adds one product of at most q / 2 to a coefficient: from at most 2^23 they grow to at
/// most 2^23 + 8 * 2^22 < 2^25.4.
pub(super) fn forward<L: LanesF64>(lanes: L, rows: &mut Rows) {
    lanes.enter(|lanes| {
        forward_pass::<L, 64>(lanes, rows);
        forward_pass::<L, 16>(lanes, rows);
        forward_pass::<L, 4>(lanes, rows);
        forward_pass::<L, 1>(lanes, rows);
    });
}

/// Transforms back, except for the factor 1/256, which the matrix includes.
///
/// Each layer doubles the coefficients that are not multiplied: from at most 2^22 they grow to at
/// most 2^30, and their differences, which are multiplied by less than 2^22, give products of at
/// most 2^52.
pub(super) fn inverse<L: LanesF64>(lanes: L, rows: &mut Rows) {
    lanes.enter(|lanes| {
        inverse_pass::<L, 1>(lanes, rows);
        inverse_pass::<L, 4>(lanes, rows);
        inverse_pass::<L, 16>(lanes, rows);
        inverse_pass::<L, 64>(lanes, rows);
    });
}

/// Applies the layers of distance `2 * NEAR` and `NEAR`.
#[inline(always)]
fn forward_pass<L: LanesF64, const NEAR: usize>(lanes: L, rows: &mut Rows) {
    let blocks = 64 / NEAR;
    for (block, rows) in rows.chunks_exact_mut(4 * NEAR).enumerate() {
        let far = ZETAS[blocks + block].splat(lanes);
        let near = [0, 1].map(|half| ZETAS[2 * (blocks + block) + half].splat(lanes));
        each_four::<L, NEAR>(lanes, rows, |[a, b, c, d]| {
            let (a, c) = forward_step(lanes, a, c, far);
            let (b, d) = forward_step(lanes, b, d, far);
            let (a, b) = forward_step(lanes, a, b, near[0]);
            let (c, d) = forward_step(lanes, c, d, near[1]);
            [a, b, c, d]
        });
    }
}

/// Applies the layers of distance `NEAR` and `2 * NEAR`.
#[inline(always)]
fn inverse_pass<L: LanesF64, const NEAR: usize>(lanes: L, rows: &mut Rows) {
    let blocks = 64 / NEAR;
    for (block, rows) in rows.chunks_exact_mut(4 * NEAR).enumerate() {
        let far = ZETAS[2 * blocks - 1 - block].splat(lanes);
        let near = [0, 1].map(|half| ZETAS[4 * blocks - 1 - 2 * block - half].splat(lanes));
        each_four::<L, NEAR>(lanes, rows, |[a, b, c, d]| {
            let (a, b) = inverse_step(lanes, a, b, near[0]);
            let (c, d) = inverse_step(lanes, c, d, near[1]);
            let (a, c) = inverse_step(lanes, a, c, far);
            let (b, d) = inverse_step(lanes, b, d, far);
            [a, b, c, d]
        });
    }
}

/// Replaces every four coefficients at a distance of `NEAR` from each other.
#[inline(always)]
fn each_four<L: LanesF64, const NEAR: usize>(
    lanes: L,
    rows: &mut [wardgate_simd::lanes::Row<f64>],
    change: impl Fn([L::F64; 4]) -> [L::F64; 4],
) {
    let (front, back) = rows.split_at_mut(2 * NEAR);
    let ((a, b), (c, d)) = (front.split_at_mut(NEAR), back.split_at_mut(NEAR));
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        for part in 0..L::PARTS {
            let read = |row: &[f64; 8]| lanes.load_f64(row, part);
            let changed = change([read(&a.0), read(&b.0), read(&c.0), read(&d.0)]);
            lanes.store_f64(changed[0], &mut a.0, part);
            lanes.store_f64(changed[1], &mut b.0, part);
            lanes.store_f64(changed[2], &mut c.0, part);
            lanes.store_f64(changed[3], &mut d.0, part);
        }
    }
}

#[inline(always)]
fn forward_step<L: LanesF64>(
    lanes: L,
    low: L::F64,
    high: L::F64,
    zeta: Splat<L>,
) -> (L::F64, L::F64) {
    let turned = product(lanes, high, zeta);
    (lanes.add(low, turned), lanes.sub(low, turned))
}

/// Applies one butterfly. The zetas of the inverse are the negatives of the forward ones, hence
/// `high - low`.
#[inline(always)]
fn inverse_step<L: LanesF64>(
    lanes: L,
    low: L::F64,
    high: L::F64,
    zeta: Splat<L>,
) -> (L::F64, L::F64) {
    (lanes.add(low, high), product(lanes, lanes.sub(high, low), zeta))
}

/// The powers of FIPS 204, Appendix B: entry `k` is 1753 to the power of `k` with its eight bits
/// reversed, centred at zero.
static ZETAS: [Factor; 256] = zetas();

const fn zetas() -> [Factor; 256] {
    let mut table = [Factor::new(0.0); 256];
    let mut power = 1_u64;
    let mut exponent = 0_u8;
    loop {
        let centred = if power > PRIME / 2 { power as f64 - PRIME as f64 } else { power as f64 };
        table[exponent.reverse_bits() as usize] = Factor::new(centred);
        if exponent == 255 {
            return table;
        }
        power = power * 1753 % PRIME;
        exponent += 1;
    }
}

const PRIME: u64 = 8_380_417;
