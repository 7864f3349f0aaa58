//! The integers modulo q = 8380417, represented by doubles.
//!
//! A double holds every integer below 2^53 exactly. So a product `b * z` is exact while `|b|` is at
//! most 2^30 and `|z|` at most q / 2 < 2^22, and its remainder after subtracting the nearest
//! multiple of q is exact too, with or without fused instructions. That is four to five
//! instructions, fewer than Montgomery's product in 32-bit words takes where there is no high half
//! of a product, as in WebAssembly.

use wardgate_simd::lanes::{LanesF64, Row};

/// The modulus q.
pub(super) const Q: f64 = 8_380_417.0;

/// 2^52, whose double has an added integer in its low bits.
pub(super) const BASE: f64 = 4_503_599_627_370_496.0;

/// The inverse 1 / q as a double.
const INVERSE: f64 = 1.0 / Q;

/// The 256 coefficients of eight polynomials: row `i` holds coefficient `i` of each.
pub(super) type Rows = [Row<f64>; 256];

/// Eight zero polynomials.
pub(super) const ZEROS: Rows = [Row([0.0; 8]); 256];

/// A constant of the field with its quotient by q.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    value: f64,
    by_q: f64,
}

impl Factor {
    /// Makes a factor from a value of at most q / 2 in magnitude.
    pub(super) const fn new(value: f64) -> Self {
        Self { value, by_q: value / Q }
    }

    /// Broadcasts the factor to every lane.
    #[inline(always)]
    pub(super) fn splat<L: LanesF64>(self, lanes: L) -> Splat<L> {
        Splat { value: lanes.splat_f64(self.value), by_q: lanes.splat_f64(self.by_q) }
    }
}

/// A [`Factor`] in every lane.
#[derive(Clone, Copy)]
pub(super) struct Splat<L: LanesF64> {
    value: L::F64,
    by_q: L::F64,
}

/// Returns `b * factor` modulo q, slightly more than q / 2 in magnitude at most; `|b|` is at most
/// 2^30.
#[inline(always)]
pub(super) fn product<L: LanesF64>(lanes: L, b: L::F64, factor: Splat<L>) -> L::F64 {
    let whole = lanes.nearest_product(b, factor.by_q);
    lanes.neg_mul_add(whole, lanes.splat_f64(Q), lanes.mul(b, factor.value))
}

/// Returns `sum` modulo q, at most (q - 1) / 2 in magnitude; `|sum|` is at most 2^50.5.
///
/// It is the exact representative: the quotient of an integer by q lies at least 2^-24 away from
/// the middle between two integers, and one of at most 2^27.5 is known to 2^-24.5.
#[inline(always)]
pub(super) fn reduced<L: LanesF64>(lanes: L, sum: L::F64) -> L::F64 {
    let whole = lanes.nearest_product(sum, lanes.splat_f64(INVERSE));
    lanes.neg_mul_add(whole, lanes.splat_f64(Q), sum)
}
