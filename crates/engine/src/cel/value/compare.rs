//! Equality and order.
//!
//! Values of different types are unequal, except that numbers compare with each other; NaN equals
//! no value. Order exists within a type and among numbers. Both pay a step for each element that
//! they compare, so a comparison of large values cannot exceed the budget.

use core::cell::Cell;
use core::cmp::Ordering;

use super::{Error, List, Map, Value};
use crate::cel::context::{spend, spend_key, spend_text};
use crate::cel::functions::spiffe;
use crate::limits::MAX_VALUE_DEPTH;
use crate::number::{compare_int_double, compare_int_uint, compare_uint_double};

/// Returns true if two values are equal.
///
/// # Errors
///
/// The step budget is spent, or a value nests too deep.
pub fn equal<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    steps: &Cell<u32>,
) -> Result<bool, Error<'a>> {
    equal_at(left, right, steps, MAX_VALUE_DEPTH)
}

/// Orders two values.
///
/// # Errors
///
/// The values have no order.
pub fn compare<'a>(left: &Value<'a>, right: &Value<'a>) -> Result<Ordering, Error<'a>> {
    if let Some(order) = numbers(left, right) {
        return order.ok_or(Error::NoSuchOverload);
    }
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(left.cmp(right)),
        (Value::String(left), Value::String(right)) => Ok(left.cmp(right)),
        (Value::Bytes(left), Value::Bytes(right)) => Ok(left.cmp(right)),
        (Value::Timestamp(left), Value::Timestamp(right)) => Ok(left.cmp(right)),
        (Value::Duration(left), Value::Duration(right)) => Ok(left.cmp(right)),
        _ => Err(Error::NoSuchOverload),
    }
}

/// The number of pairs of values that were compared in this process: a budget must keep it small,
/// in any way of counting steps.
#[cfg(feature = "observe")]
pub static COMPARISONS: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);

impl PartialEq for Value<'_> {
    /// Compares without a budget, for tests and for values of bounded size.
    fn eq(&self, other: &Self) -> bool {
        equal(self, other, &Cell::new(u32::MAX)).unwrap_or(false)
    }
}

/// Compares numbers: `None` if one of the two is not a number; `Some(None)` if one is NaN.
fn numbers(left: &Value<'_>, right: &Value<'_>) -> Option<Option<Ordering>> {
    use Value::{Double, Int, Uint};
    Some(match (left, right) {
        (Int(left), Int(right)) => Some(left.cmp(right)),
        (Uint(left), Uint(right)) => Some(left.cmp(right)),
        (Double(left), Double(right)) => left.partial_cmp(right),
        (Int(left), Uint(right)) => Some(compare_int_uint(*left, *right)),
        (Uint(left), Int(right)) => Some(compare_int_uint(*right, *left).reverse()),
        (Int(left), Double(right)) => compare_int_double(*left, *right),
        (Double(left), Int(right)) => compare_int_double(*right, *left).map(Ordering::reverse),
        (Uint(left), Double(right)) => compare_uint_double(*left, *right),
        (Double(left), Uint(right)) => compare_uint_double(*right, *left).map(Ordering::reverse),
        _ => return None,
    })
}

fn equal_at<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    steps: &Cell<u32>,
    depth: usize,
) -> Result<bool, Error<'a>> {
    #[cfg(feature = "observe")]
    COMPARISONS.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    if let Some(order) = numbers(left, right) {
        return Ok(order == Some(Ordering::Equal));
    }
    match (left, right) {
        (Value::List(left), Value::List(right)) => lists(left, right, steps, depth),
        (Value::Map(left), Value::Map(right)) => maps(left, right, steps, depth),
        (Value::Optional(Some(left)), Value::Optional(Some(right))) => {
            equal_at(left, right, steps, deeper(depth)?)
        }
        (Value::Message(left), Value::Message(right)) => {
            let same_type = left.type_name() == right.type_name();
            let left = left.fields().map(|(_, value)| value).collect();
            let right = right.fields().map(|(_, value)| value).collect();
            Ok(same_type && lists(&left, &right, steps, deeper(depth)?)?)
        }
        (Value::String(left), Value::String(right))
        | (Value::SpiffeId(left), Value::SpiffeId(right) | Value::String(right)) => {
            same_bytes(left.as_bytes(), right.as_bytes(), steps)
        }
        (Value::Bytes(left), Value::Bytes(right)) => same_bytes(left, right, steps),
        (Value::Hierarchy(left), Value::Hierarchy(right)) => {
            let bytes: usize = left.iter().map(|segment| segment.len() | 16).sum();
            spend_text(steps, bytes)?;
            Ok(left == right)
        }
        _ => Ok(plain(left, right)),
    }
}

/// Compares bytes; pays only if the lengths are equal.
#[inline(never)]
fn same_bytes<'a>(left: &[u8], right: &[u8], steps: &Cell<u32>) -> Result<bool, Error<'a>> {
    if left.len() != right.len() {
        return Ok(false);
    }
    spend_text(steps, left.len())?;
    Ok(left == right)
}

/// Compares values of the types that contain no values.
fn plain(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) | (Value::Optional(None), Value::Optional(None)) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::SpiffeTrustDomain(left), Value::SpiffeTrustDomain(right)) => left == right,
        // Only in this order: a text on the left has no SPIFFE operations.
        (Value::SpiffeTrustDomain(name), Value::String(text)) => {
            spiffe::id::parse_domain(text) == Ok(&**name)
        }
        (Value::Timestamp(left), Value::Timestamp(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Type(left), Value::Type(right)) => left == right,
        (Value::Ip(left), Value::Ip(right)) => left == right,
        (Value::Cidr(left, bits), Value::Cidr(right, others)) => left == right && bits == others,
        (Value::Error(left), Value::Error(right)) => left == right,
        _ => false,
    }
}

fn lists<'a>(
    left: &List<'a>,
    right: &List<'a>,
    steps: &Cell<u32>,
    depth: usize,
) -> Result<bool, Error<'a>> {
    if left.len() != right.len() {
        return Ok(false);
    }
    let depth = deeper(depth)?;
    for (left, right) in left.iter().zip(right.iter()) {
        spend(steps, 1)?;
        if !equal_at(&left, &right, steps, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps<'a>(
    left: &Map<'a>,
    right: &Map<'a>,
    steps: &Cell<u32>,
    depth: usize,
) -> Result<bool, Error<'a>> {
    if left.len() != right.len() {
        return Ok(false);
    }
    let depth = deeper(depth)?;
    for (key, left) in left.iter() {
        spend(steps, 1)?;
        spend_key(steps, &key)?;
        let Some(right) = right.get(&key) else { return Ok(false) };
        if !equal_at(&left, &right, steps, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn deeper<'a>(depth: usize) -> Result<usize, Error<'a>> {
    depth.checked_sub(1).ok_or(Error::Limit)
}
