//! The functions and the arithmetic that the generator writes.

use std::net::IpAddr;

use wardgate_compiler::cel::ast::BinaryOp;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::cel::time::parse_timestamp;

use super::value::{Failed, Value};

type Answer = Result<Value, Failed>;

/// Calls `function`; the receiver, if there is one, is the first argument.
pub(super) fn call(function: &str, args: &[Value], now: Timestamp) -> Answer {
    match (function, args) {
        ("dyn", [value]) => Ok(value.clone()),
        ("now", []) => Ok(moment(now)),
        ("size", [value]) => size(value),
        ("int", [value]) => int(value),
        ("timestamp", [Value::Text(text)]) => parse_timestamp(text).map(moment).map_err(|_| Failed),
        ("timestamp", [time @ Value::Time(..)]) => Ok(time.clone()),
        ("duration", [Value::Text(text)]) => duration(text),
        ("timeSince", [Value::Time(time)]) => Ok(Value::Duration(nanoseconds(now) - time)),
        ("getHours", [Value::Time(time)]) => whole(time.div_euclid(HOUR).rem_euclid(24)),
        ("getDayOfWeek", [Value::Time(time)]) => {
            // The first of January 1970 was a Thursday.
            whole((time.div_euclid(24 * HOUR) + 4).rem_euclid(7))
        }
        ("upperAscii", [Value::Text(text)]) => Ok(Value::Text(text.to_ascii_uppercase())),
        ("split", [Value::Text(text), Value::Text(at)]) => {
            Ok(Value::List(text.split(at.as_str()).map(Value::text).collect()))
        }
        ("replace", [Value::Text(text), Value::Text(from), Value::Text(to)]) => {
            Ok(Value::Text(text.replace(from, to)))
        }
        ("matches", [Value::Text(text), Value::Text(pattern)]) => matches(text, pattern),
        ("inIPAddrRange", [Value::Text(address), Value::Text(range)]) => in_range(address, range),
        ("lowerAscii", [Value::Text(text)]) => Ok(Value::Text(text.to_ascii_lowercase())),
        ("startsWith", [Value::Text(a), Value::Text(b)]) => Ok(Value::Bool(a.starts_with(b))),
        ("endsWith", [Value::Text(a), Value::Text(b)]) => Ok(Value::Bool(a.ends_with(b))),
        ("contains", [Value::Text(a), Value::Text(b)]) => Ok(Value::Bool(a.contains(b))),
        ("hasIntersection", [Value::List(a), Value::List(b)]) => {
            Ok(Value::Bool(a.iter().any(|a| b.iter().any(|b| a.equals(b)))))
        }
        ("isSubset", [Value::List(a), Value::List(b)]) => {
            Ok(Value::Bool(a.iter().all(|a| b.iter().any(|b| a.equals(b)))))
        }
        ("except", [Value::List(a), Value::List(b)]) => Ok(filtered(a, b, false)),
        ("intersect", [Value::List(a), Value::List(b)]) if a.len() > b.len() => {
            Ok(filtered(b, a, true))
        }
        ("intersect", [Value::List(a), Value::List(b)]) => Ok(filtered(a, b, true)),
        ("hasValue", [Value::Optional(value)]) => Ok(Value::Bool(value.is_some())),
        ("orValue", [Value::Optional(value), other]) => {
            Ok(value.as_deref().unwrap_or(other).clone())
        }
        _ => Err(Failed),
    }
}

/// Returns the elements of one list whose presence in the other is `wanted`.
fn filtered(list: &[Value], other: &[Value], wanted: bool) -> Value {
    let is_in_other = |one: &&Value| other.iter().any(|two| one.equals(two)) == wanted;
    Value::List(list.iter().filter(is_in_other).cloned().collect())
}

/// Matches the patterns that the generator writes, each written in Rust.
fn matches(text: &str, pattern: &str) -> Answer {
    let letters: Vec<char> = text.chars().collect();
    Ok(Value::Bool(match pattern {
        "^r.d$" => matches!(letters.as_slice(), ['r', middle, 'd'] if *middle != '\n'),
        "^[a-z]+$" => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase()),
        "sam|kim" => text.contains("sam") || text.contains("kim"),
        "^$" => text.is_empty(),
        "(?i)red" => text.to_ascii_lowercase().contains("red"),
        _ => return Err(Failed),
    }))
}

/// Returns true if a range holds an address. An IPv4 address in IPv6 form is an IPv4 address, and
/// neither family holds any of the other.
fn in_range(address: &str, range: &str) -> Answer {
    let address: IpAddr = address.parse().map_err(|_| Failed)?;
    let (base, length) = range.split_once('/').ok_or(Failed)?;
    let base: IpAddr = base.parse().map_err(|_| Failed)?;
    let length: usize = length.parse().map_err(|_| Failed)?;
    let (address, base) = (bits(address.to_canonical()), bits(base));
    let same = address.chars().zip(base.chars()).take(length).all(|(a, b)| a == b);
    Ok(Value::Bool(address.len() == base.len() && same))
}

/// Returns an address as a text of zeros and ones.
fn bits(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("{:032b}", address.to_bits()),
        IpAddr::V6(address) => format!("{:0128b}", address.to_bits()),
    }
}

/// Calculates. Arithmetic does not mix types.
pub(super) fn arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Answer {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => ints(op, *a, *b).map(Value::Int).ok_or(Failed),
        (Value::Double(a), Value::Double(b)) => {
            doubles(op, *a, *b).map(Value::Double).ok_or(Failed)
        }
        (Value::Text(a), Value::Text(b)) if op == BinaryOp::Add => {
            Ok(Value::Text(format!("{a}{b}")))
        }
        (Value::List(a), Value::List(b)) if op == BinaryOp::Add => {
            Ok(Value::List(a.iter().chain(b).cloned().collect()))
        }
        _ => times(op, left, right),
    }
}

pub(super) fn negate(value: Value) -> Answer {
    match value {
        Value::Int(value) => value.checked_neg().map(Value::Int).ok_or(Failed),
        Value::Double(value) => Ok(Value::Double(-value)),
        _ => Err(Failed),
    }
}

fn ints(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Mod => a.checked_rem(b),
        _ => None,
    }
}

fn doubles(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    match op {
        BinaryOp::Add => Some(a + b),
        BinaryOp::Sub => Some(a - b),
        BinaryOp::Mul => Some(a * b),
        BinaryOp::Div => Some(a / b),
        _ => None,
    }
}

fn times(op: BinaryOp, left: &Value, right: &Value) -> Answer {
    match (op, left, right) {
        (BinaryOp::Add, Value::Time(a), Value::Duration(b))
        | (BinaryOp::Add, Value::Duration(b), Value::Time(a)) => within_years(a + b),
        (BinaryOp::Sub, Value::Time(a), Value::Duration(b)) => within_years(a - b),
        // A duration has 64 bits of nanoseconds, in cel-go too; what is longer fails.
        (BinaryOp::Sub, Value::Time(a), Value::Time(b)) => match i64::try_from(a - b) {
            Ok(nanoseconds) => Ok(Value::Duration(nanoseconds.into())),
            Err(_) => Err(Failed),
        },
        _ => Err(Failed),
    }
}

/// Returns a moment in the years 1 to 9999, the range of CEL.
fn within_years(nanoseconds: i128) -> Answer {
    let years = -62_135_596_800..253_402_300_800;
    let is_known = years.contains(&nanoseconds.div_euclid(HOUR / 3600));
    if is_known { Ok(Value::Time(nanoseconds)) } else { Err(Failed) }
}

fn size(value: &Value) -> Answer {
    match value {
        Value::Text(text) => Ok(Value::count(text.chars().count())),
        Value::List(items) => Ok(Value::count(items.len())),
        Value::Map(map) => Ok(Value::count(map.len())),
        _ => Err(Failed),
    }
}

/// Converts to an integer: a double loses its fraction, a text must be decimal digits.
fn int(value: &Value) -> Answer {
    let text = match value {
        Value::Int(value) => return Ok(Value::Int(*value)),
        Value::Double(value) => format!("{:.0}", value.trunc()),
        Value::Text(text) => text.clone(),
        _ => return Err(Failed),
    };
    text.parse().map(Value::Int).map_err(|_| Failed)
}

/// Reads a duration of one number and one unit.
fn duration(text: &str) -> Answer {
    let unit = match text.chars().last() {
        Some('h') => HOUR,
        Some('m') => HOUR / 60,
        Some('s') => HOUR / 3600,
        _ => return Err(Failed),
    };
    let digits = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
    digits.parse::<i128>().map(|count| Value::Duration(count * unit)).map_err(|_| Failed)
}

fn whole(value: i128) -> Answer {
    i64::try_from(value).map(Value::Int).map_err(|_| Failed)
}

fn moment(time: Timestamp) -> Value {
    Value::Time(nanoseconds(time))
}

fn nanoseconds(time: Timestamp) -> i128 {
    i128::from(time.seconds()) * 1_000_000_000 + i128::from(time.nanos())
}

const HOUR: i128 = 3_600_000_000_000;
