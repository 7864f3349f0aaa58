//! The text of a duration.
//!
//! Reads the texts of Go's `time.ParseDuration`; writes seconds, as cel-go does.

use alloc::string::String;

use super::NANOS_PER_SECOND;
use crate::number::decimal;
use crate::number::{int_to_double, parse_uint};

/// The number of digits of a fraction that count; an `u64` holds them all.
const FRACTION_DIGITS: usize = 18;

/// Reads a duration such as `1h30m`, `-1.5s` or `0`, in nanoseconds.
#[must_use]
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (nanos, after) = parse_part(rest)?;
        total = total.checked_add(nanos)?;
        rest = after;
    }
    if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

/// Writes a duration as seconds: `3.5s`.
#[must_use]
pub fn format_duration(nanos: i64) -> String {
    let whole = int_to_double(nanos / NANOS_PER_SECOND);
    let fraction = int_to_double(nanos % NANOS_PER_SECOND) / 1e9;
    decimal::text(whole + fraction) + "s"
}

/// Reads one number with its unit, and returns the text behind it.
fn parse_part(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at_checked(end)?;
    let unit = unit_nanos(unit)?;
    let whole = if whole.is_empty() { 0 } else { parse_uint(whole)? };
    let nanos = whole.checked_mul(unit)?.checked_add(fraction_nanos(fraction, unit))?;
    Some((nanos, rest))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn fraction_nanos(digits: &str, unit: u64) -> u64 {
    // From the last digit to the first: rounding down at each loses no more than doing so once.
    digits.bytes().take(FRACTION_DIGITS).rev().fold(0, |below, digit| {
        let value = u64::from(digit.saturating_sub(b'0'));
        value.saturating_mul(unit).saturating_add(below) / 10
    })
}

fn unit_nanos(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // Both the micro sign and the Greek letter mu are in use.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}
