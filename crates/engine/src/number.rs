//! Numbers across types: conversion, comparison, and Go's text for a double.
//!
//! A whole number is rounded to a double before it is compared with one, as the conformance tests
//! of CEL demand: beyond 2^53 several whole numbers equal the same double. As a key of a map or an
//! index of a list a double means only the number that it equals exactly.

pub mod decimal;

use alloc::format;
use alloc::string::{String, ToString};
use core::cmp::Ordering;

/// 2^63, the first double beyond every `int`.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
/// 2^64, the first double beyond every `uint`.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// Returns the double nearest to `value`.
#[must_use]
#[expect(clippy::as_conversions, reason = "the standard library has no other way to round an int")]
pub const fn int_to_double(value: i64) -> f64 {
    value as f64
}

/// Returns the double nearest to `value`.
#[must_use]
#[expect(clippy::as_conversions, reason = "the standard library has no other way to round a uint")]
pub const fn uint_to_double(value: u64) -> f64 {
    value as f64
}

/// Returns `value` without its fraction; `None` if that leaves the range. As in cel-go, the lowest
/// `int` counts as out of range too.
#[must_use]
#[expect(clippy::as_conversions, reason = "the range is checked first")]
pub fn truncate_int(value: f64) -> Option<i64> {
    (value > -TWO_63 && value < TWO_63).then_some(value as i64)
}

/// Returns `value` without its fraction; `None` if that leaves the range.
#[must_use]
#[expect(clippy::as_conversions, reason = "the range is checked first")]
pub fn truncate_uint(value: f64) -> Option<u64> {
    (0.0..TWO_64).contains(&value).then_some(value as u64)
}

/// Returns the `int` that equals `value`, or `None`.
#[must_use]
pub fn exact_int(value: f64) -> Option<i64> {
    if value.to_bits() == (-TWO_63).to_bits() {
        return Some(i64::MIN);
    }
    truncate_int(value).filter(|int| same(int_to_double(*int), value))
}

/// Returns the `uint` that equals `value`, or `None`.
#[must_use]
pub fn exact_uint(value: f64) -> Option<u64> {
    truncate_uint(value).filter(|uint| same(uint_to_double(*uint), value))
}

/// Compares an `int` with a double as doubles; `None` if `right` is NaN.
#[must_use]
pub fn compare_int_double(left: i64, right: f64) -> Option<Ordering> {
    int_to_double(left).partial_cmp(&right)
}

/// Compares a `uint` with a double as doubles; `None` if `right` is NaN.
#[must_use]
pub fn compare_uint_double(left: u64, right: f64) -> Option<Ordering> {
    uint_to_double(left).partial_cmp(&right)
}

/// Compares by value.
#[must_use]
pub fn compare_int_uint(left: i64, right: u64) -> Ordering {
    u64::try_from(left).map_or(Ordering::Less, |left| left.cmp(&right))
}

/// Returns the shortest text that reads back as `value`, laid out as Go's `%g` does: with an
/// exponent below 1e-4 and from 1e6.
#[must_use]
pub fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_string();
    }
    let (mantissa, exponent) = decimal::scientific(value);
    if (-4..6).contains(&exponent) {
        return decimal::text(value);
    }
    with_exponent(&mantissa, exponent)
}

/// Returns a number in Go's scientific notation: the exponent has a sign and at least two digits.
pub(crate) fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Reads digits; `None` for any other text.
///
/// All whole numbers are read here, because the standard library has a reader for each type of
/// them.
pub(crate) fn parse_uint(digits: &str) -> Option<u64> {
    let mut value = None;
    for byte in digits.bytes() {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        value = Some(value.unwrap_or(0_u64).checked_mul(10)?.checked_add(digit.into())?);
    }
    value
}

/// Reads digits after an optional sign.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(digits) => 0_i64.checked_sub_unsigned(parse_uint(digits)?),
        None => parse_uint(text.strip_prefix('+').unwrap_or(text))?.try_into().ok(),
    }
}

/// Reads the decimal notation of Go's `strconv.ParseFloat`: too large a number is `None`, NaN has
/// no sign, and underscores may separate digits.
#[must_use]
pub fn parse_double(text: &str) -> Option<f64> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let separates = |at: usize| is_digit(at.wrapping_sub(1)) && is_digit(at.wrapping_add(1));
    let mut separators = text.bytes().enumerate().filter(|(_, byte)| *byte == b'_');
    if !separators.all(|(at, _)| separates(at)) {
        return None;
    }
    let joined: String = text.chars().filter(|c| *c != '_').collect();
    let value = decimal::read(&joined)?;
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let signed = text.starts_with(['+', '-']);
    (value.is_finite() || !(digits || value.is_nan() && signed)).then_some(value)
}

#[expect(clippy::float_cmp, reason = "exact equality is the question")]
fn same(left: f64, right: f64) -> bool {
    left == right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_as_the_standard_library_reads_them() {
        let check = |text: &str| {
            assert_eq!(parse_int(text), text.parse().ok(), "{text}");
            let digits = text.starts_with(|first: char| first.is_ascii_digit());
            assert_eq!(parse_uint(text), text.parse().ok().filter(|_| digits), "{text}");
        };
        for text in
            ["", "+", "-", "--1", "+-1", "0", "-0", "+7", "007", "1 ", "1_0", "1a", "/", ":"]
        {
            check(text);
        }
        check("9223372036854775807");
        check("9223372036854775808");
        check("-9223372036854775808");
        check("-9223372036854775809");
        check("18446744073709551615");
        check("18446744073709551616");
        check("99999999999999999999999");
    }

    #[test]
    fn doubles_read_as_in_go() {
        let check = |value: f64, expected: &str| assert_eq!(double_text(value), expected);
        check(1.0, "1");
        check(100_000.0, "100000");
        check(1e6, "1e+06");
        check(123_456_789.0, "1.23456789e+08");
        check(1e21, "1e+21");
        check(0.0001, "0.0001");
        check(1e-5, "1e-05");
        check(123.456, "123.456");
        check(-1.5e300, "-1.5e+300");
        check(-0.0, "-0");
        check(f64::NAN, "NaN");
        check(f64::INFINITY, "+Inf");
        check(f64::NEG_INFINITY, "-Inf");
    }

    #[test]
    fn texts_read_as_doubles() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(parse_double(text), expected);
        check("1.5", Some(1.5));
        check("-1e3", Some(-1000.0));
        check("+.5", Some(0.5));
        check("5.", Some(5.0));
        check("inf", Some(f64::INFINITY));
        check("-Infinity", Some(f64::NEG_INFINITY));
        check("1e999", None);
        check("", None);
        check("1_000", Some(1000.0));
        check("1e1_0", Some(1e10));
        check("1__0", None);
        check("_1", None);
        check("1_", None);
        check("1_.5", None);
        check("+nan", None);
        assert!(parse_double("nan").is_some_and(f64::is_nan));
        check(" 1", None);
    }

    #[test]
    fn conversion_to_whole_numbers_knows_its_range() {
        assert_eq!(truncate_int(-1.9), Some(-1));
        assert_eq!(truncate_int(TWO_63), None);
        assert_eq!(truncate_int(-TWO_63), None);
        assert_eq!(exact_int(-TWO_63), Some(i64::MIN));
        assert_eq!(exact_int(1.5), None);
        assert_eq!(truncate_uint(-0.5), None);
        assert_eq!(truncate_uint(TWO_64), None);
        assert_eq!(truncate_int(f64::NAN), None);
    }
}
