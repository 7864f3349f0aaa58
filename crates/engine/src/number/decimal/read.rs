//! Reading decimal text: a guess in doubles, corrected by exact comparison.
//!
//! The guess multiplies the first digits with powers of ten that a double holds exactly, at most
//! sixteen of them, so it is a few doubles off at worst.

use alloc::vec::Vec;

use super::Decimal;
use crate::number::uint_to_double;

/// Returns the double nearest to the number in `text`, and of two the even one; `None` if it is not
/// a number.
///
/// A number has digits, with a point anywhere among them, and optionally an exponent. `inf`,
/// `infinity` and `nan` are numbers too, in upper or lower case.
#[must_use]
pub fn read(text: &str) -> Option<f64> {
    let (negative, unsigned) = split_sign(text.as_bytes());
    let magnitude = match special(unsigned) {
        Some(named) => named,
        None => nearest(&decimal(unsigned)?),
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

fn special(name: &[u8]) -> Option<f64> {
    if name.eq_ignore_ascii_case(b"inf") || name.eq_ignore_ascii_case(b"infinity") {
        return Some(f64::INFINITY);
    }
    name.eq_ignore_ascii_case(b"nan").then_some(f64::NAN)
}

fn decimal(text: &[u8]) -> Option<Decimal> {
    let (number, exponent) = match split_at(text, |byte| matches!(byte, b'e' | b'E')) {
        Some((number, exponent)) => (number, read_exponent(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = split_at(number, |byte| byte == b'.').unwrap_or((number, &[]));
    let digits = whole.iter().chain(fraction).map(|byte| digit(*byte));
    let digits = digits.collect::<Option<Vec<u8>>>().filter(|digits| !digits.is_empty())?;
    let point = i32::try_from(whole.len()).unwrap_or(i32::MAX);
    Some(Decimal::new(point.saturating_add(exponent), digits))
}

/// Returns the texts before and after the first byte that `ends` accepts.
fn split_at(text: &[u8], ends: fn(u8) -> bool) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| ends(*byte))?;
    Some((text.get(..at)?, text.get(at.saturating_add(1)..)?))
}

/// Reads an exponent; one that is too large to hold becomes the largest value.
fn read_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = split_sign(text);
    let mut exponent = None;
    for byte in digits {
        let so_far = exponent.unwrap_or(0_i32);
        exponent = Some(so_far.saturating_mul(10).saturating_add(digit(*byte)?.into()));
    }
    exponent.map(|exponent| if negative { exponent.wrapping_neg() } else { exponent })
}

fn digit(byte: u8) -> Option<u8> {
    Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
}

fn nearest(decimal: &Decimal) -> f64 {
    if decimal.digits.is_empty() || decimal.point < LEAST_POINT {
        return 0.0;
    }
    if decimal.point > MAX_POINT {
        return f64::INFINITY;
    }
    let (head, power) = decimal.cut(MAX_DIGITS, false).whole();
    let guess = times_power_of_ten(uint_to_double(head), power);
    let exact = decimal.digits.len() <= EXACT_DIGITS && power.unsigned_abs() <= EXACT_POWER;
    if exact { guess } else { corrected(decimal, guess) }
}

fn times_power_of_ten(mut value: f64, power: i32) -> f64 {
    let mut left = power.unsigned_abs();
    while left > 0 {
        let step = left.min(EXACT_POWER);
        let factor = (0..step).fold(1.0, |factor, _| factor * 10.0);
        value = if power < 0 { value / factor } else { value * factor };
        left = left.saturating_sub(step);
    }
    value
}

/// Moves from a guess to the nearest double, one double at a time.
fn corrected(decimal: &Decimal, guess: f64) -> f64 {
    let mut bits = guess.min(f64::MAX).to_bits();
    while bits > 0 && !lies_above(decimal, bits.saturating_sub(1)) {
        bits = bits.saturating_sub(1);
    }
    while bits < f64::INFINITY.to_bits() && lies_above(decimal, bits) {
        bits = bits.saturating_add(1);
    }
    f64::from_bits(bits)
}

/// Returns true if the number is nearer to the doubles above the one with these `bits` than to it.
fn lies_above(decimal: &Decimal, bits: u64) -> bool {
    let (mantissa, exponent) = super::parts(bits);
    let middle =
        Decimal::product(mantissa.wrapping_mul(2).wrapping_add(1), exponent.wrapping_sub(1));
    let is_odd = bits % 2 == 1;
    *decimal > middle || (is_odd && *decimal == middle)
}

/// A number below ten to the power of -324 is nearer to zero than to the least double.
const LEAST_POINT: i32 = -323;

/// Ten to the power of 309 is beyond all doubles.
const MAX_POINT: i32 = 309;

/// The number of digits that always fit in 64 bits.
const MAX_DIGITS: usize = 19;

/// The number of digits up to which whole numbers are doubles.
const EXACT_DIGITS: usize = 15;

/// The largest power of ten that is a double.
const EXACT_POWER: u32 = 22;
