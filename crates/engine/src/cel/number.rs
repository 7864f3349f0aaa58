//! Numbers across types: exact conversions, exact comparison, and Go's text for a double.
//!
//! An `int` and a `double` are compared by their mathematical values: neither is rounded to the
//! other's type first.

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

/// Returns `value` without its fraction; nothing if that leaves the range. As in cel-go, the
/// lowest `int` counts as out of range too.
#[must_use]
#[expect(clippy::as_conversions, reason = "the range is checked first")]
pub fn truncate_int(value: f64) -> Option<i64> {
    (value > -TWO_63 && value < TWO_63).then_some(value as i64)
}

/// Returns `value` without its fraction; nothing if that leaves the range.
#[must_use]
#[expect(clippy::as_conversions, reason = "the range is checked first")]
pub fn truncate_uint(value: f64) -> Option<u64> {
    (0.0..TWO_64).contains(&value).then_some(value as u64)
}

/// Returns the `int` that equals `value`.
#[must_use]
pub fn exact_int(value: f64) -> Option<i64> {
    if value.to_bits() == (-TWO_63).to_bits() {
        return Some(i64::MIN);
    }
    truncate_int(value).filter(|int| same(int_to_double(*int), value))
}

/// Returns the `uint` that equals `value`.
#[must_use]
pub fn exact_uint(value: f64) -> Option<u64> {
    truncate_uint(value).filter(|uint| same(uint_to_double(*uint), value))
}

/// Compares by value; nothing if `right` is NaN.
#[must_use]
pub fn compare_int_double(left: i64, right: f64) -> Option<Ordering> {
    if right < -TWO_63 {
        return Some(Ordering::Greater);
    }
    if right >= TWO_63 {
        return Some(Ordering::Less);
    }
    let whole = exact_floor(right)?;
    Some(left.cmp(&whole).then_with(|| fraction_order(int_to_double(whole), right)))
}

/// Compares by value; nothing if `right` is NaN.
#[must_use]
pub fn compare_uint_double(left: u64, right: f64) -> Option<Ordering> {
    if right < 0.0 {
        return Some(Ordering::Greater);
    }
    if right >= TWO_64 {
        return Some(Ordering::Less);
    }
    let whole = truncate_uint(right)?;
    Some(left.cmp(&whole).then_with(|| fraction_order(uint_to_double(whole), right)))
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
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Reads what Go's `strconv.ParseFloat` reads of decimal notation; too large a number is none.
#[must_use]
pub fn parse_double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    (!digits || value.is_finite()).then_some(value)
}

fn exact_floor(value: f64) -> Option<i64> {
    if value.is_nan() {
        return None;
    }
    let whole = if value <= -TWO_63 { i64::MIN } else { truncate_int(value)? };
    // Truncation goes towards zero; of a negative fraction the floor is one lower.
    Some(if int_to_double(whole) > value { whole.saturating_sub(1) } else { whole })
}

fn fraction_order(whole: f64, value: f64) -> Ordering {
    if whole < value { Ordering::Less } else { Ordering::Equal }
}

#[expect(clippy::float_cmp, reason = "exact equality is the question")]
fn same(left: f64, right: f64) -> bool {
    left == right
}
