//! Doubles as decimal text and back, exactly.
//!
//! The results are those of the standard library, which has four algorithms and a table of ten
//! kilobytes for this: more than a runtime module for web pages can afford. Here all follows from
//! one fact: a double is a whole number times a power of two, so it has a finite decimal form, of
//! at most 767 digits. Printing reads those digits, and reading compares with them.

mod read;

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

pub use self::read::read;
use crate::number::{truncate_uint, uint_to_double};
use crate::text::push_digits;

/// Returns the shortest text, without an exponent, that reads back as `value`.
#[must_use]
pub fn text(value: f64) -> String {
    if value.is_nan() {
        return String::from("NaN");
    }
    if value.is_infinite() {
        return String::from(if value > 0.0 { "inf" } else { "-inf" });
    }
    if let Some(magnitude) = whole(value.to_bits()) {
        let mut out = String::from(if value.is_sign_negative() { "-" } else { "" });
        push_digits(&mut out, magnitude, 10, 1);
        return out;
    }
    let decimal = Decimal::shortest(value);
    decimal.print(value, decimal.point, decimal.places())
}

/// Returns a finite `value` with `places` digits after the point, rounded half to even.
#[must_use]
pub fn fixed(value: f64, places: usize) -> String {
    let places = i32::try_from(places).unwrap_or(i32::MAX);
    let exact = Decimal::of_bits(value.to_bits());
    let decimal = exact.rounded(exact.point.saturating_add(places));
    decimal.print(value, decimal.point, places)
}

/// Returns the shortest text that reads back as a finite `value`, in two parts: a number with one
/// digit before the point, and the power of ten to multiply it with.
#[must_use]
pub fn scientific(value: f64) -> (String, i32) {
    let decimal = Decimal::shortest(value);
    let places = decimal.places().saturating_add(decimal.exponent());
    (decimal.print(value, 1, places), decimal.exponent())
}

/// Returns a finite `value` in the same two parts, with `places` digits after the point, rounded
/// half to even.
#[must_use]
pub fn scientific_fixed(value: f64, places: usize) -> (String, i32) {
    let places = i32::try_from(places).unwrap_or(i32::MAX);
    let decimal = Decimal::of_bits(value.to_bits()).rounded(places.saturating_add(1));
    (decimal.print(value, 1, places), decimal.exponent())
}

/// Returns the steps that the shortest text of `value` takes to find. The exact decimal form of a
/// double that is not short takes 25 us (2026-11-23, 2 cores, AMD EPYC).
pub(crate) fn steps(value: f64) -> u32 {
    match short(value) {
        Some((_, 0)) => 1,
        Some(_) => 4,
        None => 800,
    }
}

/// Returns the magnitude of `value` as a whole number and the number of its digits after the point;
/// `None` if it has 16 digits or more. Numbers that people write mostly have fewer.
///
/// Below 2^50 a product with a power of ten is at most an eighth away from the exact one, so no
/// other whole number could be the decimal. The division is of two exact numbers, and so rounds as
/// reading the text does.
fn short(value: f64) -> Option<(u64, i32)> {
    let magnitude = value.abs();
    let mut power = 1.0;
    for places in 0..=22 {
        let scaled = magnitude * power;
        if scaled.is_nan() || scaled >= SHORT {
            return None;
        }
        let number = truncate_uint(scaled + 0.5)?;
        if (uint_to_double(number) / power).to_bits() == magnitude.to_bits() {
            return Some((number, places));
        }
        power *= 10.0;
    }
    None
}

/// 2^50.
const SHORT: f64 = 1_125_899_906_842_624.0;

/// A number that is not negative: `0.d₁d₂d₃…` times ten to the power of `point`.
///
/// The derived order, of numbers that are not zero, is the order of the numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Decimal {
    point: i32,
    // INVARIANT: all are below ten; the first and the last are not zero. Zero has no digits.
    digits: Vec<u8>,
}

impl Decimal {
    /// Returns the magnitude of a finite `value` with as few digits as distinguish it from other
    /// doubles; of several such numbers the nearest, and of two nearest ones the even one, as in Go
    /// and in JavaScript.
    pub(crate) fn shortest(value: f64) -> Self {
        let Some((number, places)) = short(value) else { return Self::searched(value) };
        let mut decimal = Self::product(number, 0);
        decimal.point = decimal.point.saturating_sub(places);
        decimal
    }

    /// Returns the same for any value, out of its exact decimal form.
    fn searched(value: f64) -> Self {
        let bits = value.to_bits();
        let (mantissa, exponent) = parts(bits);
        let exact = Self::of_bits(bits);
        // Below a power of two the doubles are twice as dense.
        let below = if mantissa == HIDDEN_BIT && exponent > LOWEST_EXPONENT { 1 } else { 2 };
        let scaled = mantissa.saturating_mul(4);
        let low = Self::product(scaled.saturating_sub(below), exponent.saturating_sub(2));
        let high = Self::product(scaled.saturating_add(2), exponent.saturating_sub(2));
        // A number halfway between two doubles is read as the even one.
        let even = mantissa.is_multiple_of(2);
        let fits = |tried: &Self| {
            (low < *tried && *tried < high) || (even && (low == *tried || *tried == high))
        };
        let nearest = |count| {
            let up = exact.rounds_up(count);
            [exact.cut(count, up), exact.cut(count, !up)].into_iter().find(fits)
        };
        (1..=ENOUGH_DIGITS).find_map(nearest).unwrap_or(exact)
    }

    /// Returns all the digits as one number, and the power of ten to multiply it with.
    pub(crate) fn whole(&self) -> (u64, i32) {
        let append =
            |number: u64, digit: &u8| number.wrapping_mul(10).wrapping_add((*digit).into());
        (self.digits.iter().fold(0, append), self.places().wrapping_neg())
    }

    /// Returns the exact magnitude of the double whose bits these are.
    fn of_bits(bits: u64) -> Self {
        let (mantissa, exponent) = parts(bits);
        Self::product(mantissa, exponent)
    }

    /// Returns `mantissa * 2^exponent`.
    #[inline(never)]
    fn product(mantissa: u64, exponent: i32) -> Self {
        // A half is five tenths, so negative powers of two are powers of five and a shifted point.
        let (base, shift) = if exponent < 0 { (5_u64, exponent) } else { (2, 0) };
        let mut limbs = Vec::new();
        multiply(&mut limbs, 1, mantissa);
        let mut left = exponent.unsigned_abs();
        while left > 0 {
            let step = left.min(LARGEST_STEP);
            multiply(&mut limbs, base.pow(step), 0);
            left = left.saturating_sub(step);
        }
        let digits: Vec<u8> = limbs.iter().rev().flat_map(|limb| nine_digits(*limb)).collect();
        let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
        Self::new(length.saturating_add(shift), digits)
    }

    /// Builds a number from digits that may start and end with zeros.
    fn new(point: i32, mut digits: Vec<u8>) -> Self {
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        digits.truncate(digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1));
        // The first digit of zero is before the point, as that of one is.
        let point = match digits.is_empty() {
            true => 1,
            false => point.saturating_sub(i32::try_from(zeros).unwrap_or(i32::MAX)),
        };
        Self { point, digits }
    }

    /// Returns the number rounded half to even to `count` digits.
    fn rounded(&self, count: i32) -> Self {
        if count < 0 {
            return Self::new(0, Vec::new());
        }
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.cut(count, self.rounds_up(count))
    }

    /// Returns true if the digits behind the first `count` are more than one half, or one half
    /// after an odd digit.
    fn rounds_up(&self, count: usize) -> bool {
        let last = count.checked_sub(1).and_then(|at| self.digits.get(at)).copied().unwrap_or(0);
        match self.digits.get(count..).unwrap_or_default().cmp(&[5]) {
            Ordering::Less => false,
            Ordering::Equal => last % 2 == 1,
            Ordering::Greater => true,
        }
    }

    /// Returns the first `count` digits, plus one in the last of them if `up`.
    fn cut(&self, count: usize, up: bool) -> Self {
        let mut digits: Vec<u8> = self.digits.iter().take(count).copied().collect();
        if !up {
            return Self::new(self.point, digits);
        }
        while digits.last() == Some(&9) {
            digits.pop();
        }
        let Some(last) = digits.last_mut() else {
            return Self::new(self.point.saturating_add(1), Vec::from([1]));
        };
        *last = last.wrapping_add(1);
        Self::new(self.point, digits)
    }

    fn exponent(&self) -> i32 {
        self.point.wrapping_sub(1)
    }

    /// Returns the number of digits behind the point.
    fn places(&self) -> i32 {
        i32::try_from(self.digits.len()).unwrap_or(i32::MAX).saturating_sub(self.point)
    }

    /// Prints the digits with the sign of `value`, a point after the first `whole` of them, and
    /// `places` digits behind it.
    fn print(&self, value: f64, whole: i32, places: i32) -> String {
        let digit = |at: i32| {
            let known = usize::try_from(at).ok().and_then(|at| self.digits.get(at));
            char::from(b'0'.wrapping_add(known.copied().unwrap_or(0)))
        };
        let mut out = String::from(if value.is_sign_negative() { "-" } else { "" });
        out.extend((whole.wrapping_sub(1).min(0)..whole).map(digit));
        if places > 0 {
            out.push('.');
            out.extend((whole..whole.saturating_add(places)).map(digit));
        }
        out
    }
}

/// Returns the magnitude of a double that is a whole number below 2^53: all its digits distinguish
/// it. Most numbers are of this kind, and need none of the long arithmetic.
fn whole(bits: u64) -> Option<u64> {
    let (mantissa, exponent) = parts(bits);
    match exponent {
        _ if mantissa == 0 => Some(0),
        -52..=0 => {
            let fraction = exponent.unsigned_abs();
            (mantissa.trailing_zeros() >= fraction).then_some(mantissa >> fraction)
        }
        _ => None,
    }
}

/// Returns the whole number and the power of two whose product is the magnitude of a double.
fn parts(bits: u64) -> (u64, i32) {
    let fraction = bits & (HIDDEN_BIT - 1);
    match i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0) {
        0 => (fraction, LOWEST_EXPONENT),
        field => (fraction | HIDDEN_BIT, LOWEST_EXPONENT - 1 + field),
    }
}

/// Multiplies a number in base 10^9, least limb first, and adds `carry`.
fn multiply(limbs: &mut Vec<u32>, factor: u64, mut carry: u64) {
    for limb in limbs.iter_mut() {
        // A limb and the factor have at most 31 bits, so the carry has too.
        carry = u64::from(*limb).wrapping_mul(factor).wrapping_add(carry);
        *limb = u32::try_from(carry % LIMB).unwrap_or(0);
        carry /= LIMB;
    }
    while carry > 0 {
        limbs.push(u32::try_from(carry % LIMB).unwrap_or(0));
        carry /= LIMB;
    }
}

fn nine_digits(limb: u32) -> [u8; 9] {
    let mut rest = limb;
    let mut digits = [0; 9];
    for digit in digits.iter_mut().rev() {
        *digit = u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    digits
}

/// One above the largest limb.
const LIMB: u64 = 1_000_000_000;

/// 5^13 is the largest power of five below 2^31.
const LARGEST_STEP: u32 = 13;

/// The bit of a mantissa that normal doubles do not store.
const HIDDEN_BIT: u64 = 1 << 52;

/// The power of two that the mantissas of the smallest doubles are multiplied with.
const LOWEST_EXPONENT: i32 = -1074;

/// The number of digits that distinguishes any two doubles.
const ENOUGH_DIGITS: usize = 17;

#[cfg(test)]
mod tests;
