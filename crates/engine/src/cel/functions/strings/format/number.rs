//! The texts of numbers that `format` prints.
//!
//! Doubles are rounded half to even from their exact value. A value that a clause does not take
//! gives `None`.

use alloc::string::{String, ToString};

use crate::cel::value::Value;
use crate::number::decimal;
use crate::number::{int_to_double, uint_to_double, with_exponent};
use crate::text::push_digits;

/// Returns the shortest decimal text, without an exponent, that reads back as `value`.
pub(super) fn shortest(value: f64) -> String {
    special(value).unwrap_or_else(|| decimal::text(value))
}

/// Returns a duration in seconds.
pub(super) fn seconds(nanoseconds: i64) -> String {
    let whole = int_to_double(nanoseconds / NANOSECONDS);
    let fraction = int_to_double(nanoseconds % NANOSECONDS) / int_to_double(NANOSECONDS);
    decimal::text(whole + fraction) + "s"
}

/// Returns the text of `%d`.
pub(super) fn integer(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Int(value) => Some(value.to_string()),
        Value::Uint(value) => Some(value.to_string()),
        Value::Double(value) => Some(shortest(*value)),
        _ => None,
    }
}

/// Returns the text of `%f`.
pub(super) fn fixed(value: &Value<'_>, precision: usize) -> Option<String> {
    let value = to_double(value)?;
    Some(special(value).unwrap_or_else(|| decimal::fixed(value, precision)))
}

/// Returns the text of `%e`: an exponent has a sign and at least two digits.
pub(super) fn scientific(value: &Value<'_>, precision: usize) -> Option<String> {
    let value = to_double(value)?;
    if let Some(text) = special(value) {
        return Some(text);
    }
    let (mantissa, exponent) = decimal::scientific_fixed(value, precision);
    Some(with_exponent(&mantissa, exponent))
}

/// Returns the text of `%b`.
pub(super) fn binary(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Bool(value) => Some(String::from(if *value { "1" } else { "0" })),
        _ => in_base(value, 2),
    }
}

/// Returns the text of `%o`.
pub(super) fn octal(value: &Value<'_>) -> Option<String> {
    in_base(value, 8)
}

/// Returns the text of `%x` or `%X`; for text and bytes, that of each byte.
pub(super) fn hexadecimal(value: &Value<'_>, upper: bool) -> Option<String> {
    let text = match value {
        Value::String(text) => bytes(text.as_bytes()),
        Value::Bytes(content) => bytes(content),
        _ => in_base(value, 16)?,
    };
    Some(if upper { text.to_ascii_uppercase() } else { text })
}

fn bytes(content: &[u8]) -> String {
    content.iter().fold(String::new(), |mut text, byte| {
        push_digits(&mut text, u64::from(*byte), 16, 2);
        text
    })
}

fn in_base(value: &Value<'_>, base: u64) -> Option<String> {
    let (negative, magnitude) = match value {
        Value::Int(value) => (*value < 0, value.unsigned_abs()),
        Value::Uint(value) => (false, *value),
        _ => return None,
    };
    let mut text = String::from(if negative { "-" } else { "" });
    push_digits(&mut text, magnitude, base, 1);
    Some(text)
}

fn to_double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(value) => Some(int_to_double(*value)),
        Value::Uint(value) => Some(uint_to_double(*value)),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}

/// Returns the name of a value without digits: infinity or NaN.
fn special(value: f64) -> Option<String> {
    let name = match value {
        _ if value.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => return None,
    };
    Some(name.to_string())
}

const NANOSECONDS: i64 = 1_000_000_000;
