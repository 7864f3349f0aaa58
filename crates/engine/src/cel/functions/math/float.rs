//! Operations on doubles that `core` does not have.
//!
//! All are exact or correctly rounded, so every host gives the same bits.

use crate::number::uint_to_double;

/// Returns `value` without its fraction.
pub(super) fn trunc(value: f64) -> f64 {
    let bits = value.to_bits();
    let exponent = exponent_of(bits);
    if exponent < 0 {
        return 0.0_f64.copysign(value);
    }
    let fraction = u32::try_from(exponent)
        .ok()
        .and_then(|exponent| MANTISSA.checked_shr(exponent))
        .unwrap_or(0);
    f64::from_bits(bits & !fraction)
}

/// Returns the largest whole number that is not above `value`.
pub(super) fn floor(value: f64) -> f64 {
    let whole = trunc(value);
    if whole > value { whole - 1.0 } else { whole }
}

/// Returns the smallest whole number that is not below `value`.
pub(super) fn ceil(value: f64) -> f64 {
    let whole = trunc(value);
    if whole < value { whole + 1.0 } else { whole }
}

/// Returns the nearest whole number, and of two the one farther from zero.
pub(super) fn round(value: f64) -> f64 {
    let whole = trunc(value);
    if (value - whole).abs() >= 0.5 { whole + 1.0_f64.copysign(value) } else { whole }
}

/// Returns the square root, rounded to nearest.
///
/// The root of the mantissa, scaled to 107 or 108 bits, has 54 bits: one more than a double holds.
/// That last bit alone decides the rounding, because a tie would be a root with an odd square that
/// is a multiple of four.
pub(super) fn sqrt(value: f64) -> f64 {
    if value.is_nan() || value < 0.0 {
        return f64::NAN;
    }
    if value.to_bits() << 1 == 0 || value.is_infinite() {
        return value;
    }
    let (mantissa, exponent) = parts(value);
    let odd = exponent.rem_euclid(2);
    let rounded = (stretched_root(mantissa << odd) + 1) >> 1;
    uint_to_double(rounded) * power_of_two((exponent - odd - 54) / 2 + 1)
}

/// Returns the whole part of the root of `number * 2^54`, bit by bit.
///
/// The root that the standard library has for numbers of 128 bits costs a kilobyte.
fn stretched_root(number: u64) -> u64 {
    // The pairs of bits still to be brought down, the highest first.
    let mut pairs = number << 10;
    let mut rest = 0_u64;
    let mut root = 0_u64;
    for _ in 0..54 {
        rest = rest << 2 | pairs >> 62;
        pairs <<= 2;
        let trial = root << 2 | 1;
        root <<= 1;
        if rest >= trial {
            rest -= trial;
            root |= 1;
        }
    }
    root
}

/// Writes a positive finite number as an integer of 53 bits times a power of two.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let exponent = exponent_of(bits);
    let fraction = bits & MANTISSA;
    if exponent > LOWEST_EXPONENT {
        return (fraction | (MANTISSA + 1), exponent - 52);
    }
    // A subnormal number has no implicit bit and the exponent of the smallest normal one.
    let shift = fraction.leading_zeros().saturating_sub(11);
    (fraction << shift, LOWEST_EXPONENT + 1 - 52 - i32::try_from(shift).unwrap_or(0))
}

fn exponent_of(bits: u64) -> i32 {
    i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0) + LOWEST_EXPONENT
}

/// Returns 2 to the `exponent`, which is that of a normal number.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::try_from(exponent - LOWEST_EXPONENT).unwrap_or(0) << 52)
}

/// The bits below the exponent.
const MANTISSA: u64 = (1 << 52) - 1;

/// The exponent that an exponent field of zero means.
const LOWEST_EXPONENT: i32 = -1023;

#[cfg(test)]
mod tests {
    use super::{ceil, floor, round, sqrt, trunc};

    /// Generates the bits of doubles of all sizes, special ones included.
    fn doubles() -> impl Iterator<Item = f64> {
        let edges = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            0.49999999999999994,
            1.5,
            2.5,
            -2.5,
            4503599627370495.5,
            4503599627370496.5,
            9007199254740993.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::from_bits(0x000f_ffff_ffff_ffff),
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let mut bits = fastrand::Rng::with_seed(7);
        let random = core::iter::repeat_with(move || bits.u64(..));
        let near_one = random.clone().map(|bits| f64::from_bits(bits >> 4 | 0x3ff << 52));
        let small = random.clone().map(|bits| f64::from_bits(bits & !(0x7e << 56)));
        let all = random.map(f64::from_bits);
        edges
            .into_iter()
            .chain(all.take(50_000))
            .chain(near_one.take(50_000))
            .chain(small.take(50_000))
    }

    /// Compares with the standard library, which tests have and the engine does not.
    fn check(name: &str, ours: fn(f64) -> f64, standard: fn(f64) -> f64) {
        for value in doubles() {
            let (found, expected) = (ours(value), standard(value));
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{name}({value:e}) is {expected:e}, found {found:e}");
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        extern crate std;
        check("trunc", trunc, std::primitive::f64::trunc);
        check("floor", floor, std::primitive::f64::floor);
        check("ceil", ceil, std::primitive::f64::ceil);
        check("round", round, std::primitive::f64::round);
        check("sqrt", sqrt, std::primitive::f64::sqrt);
    }
}
