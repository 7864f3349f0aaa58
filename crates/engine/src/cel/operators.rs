//! Arithmetic, logic and comparison.
//!
//! No operation wraps or rounds silently: an `int`, `uint`, duration or moment that leaves its
//! range is an error. Types are not mixed in arithmetic, only in comparison.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::context::Context;
use super::error::{Answer, Error};
use super::op::Op;
use super::value::{Bytes, List, Value, compare};

/// Returns `!value`.
pub(crate) fn not<'a>(value: &Value<'a>) -> Answer<'a> {
    match value {
        Value::Bool(value) => Ok(Value::Bool(!value)),
        other => Err(failure(other).cloned().unwrap_or(Error::NoSuchOverload)),
    }
}

/// Returns `-value`.
pub(crate) fn negate<'a>(value: &Value<'a>) -> Answer<'a> {
    match value {
        Value::Int(value) => value.checked_neg().map(Value::Int).ok_or(Error::INT_OVERFLOW),
        Value::Double(value) => Ok(Value::Double(-value)),
        Value::Duration(value) => {
            value.checked_neg().map(Value::Duration).ok_or(Error::INT_OVERFLOW)
        }
        other => Err(wrong_type(other)),
    }
}

/// Returns `left + right`.
pub(crate) fn add<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Value::{Double, Duration, Int, Timestamp, Uint};
    match (left, right) {
        (Int(left), Int(right)) => int(left.checked_add(*right)),
        (Uint(left), Uint(right)) => uint(left.checked_add(*right)),
        (Double(left), Double(right)) => Ok(Double(left + right)),
        (Duration(left), Duration(right)) => duration(left.checked_add(*right)),
        (Timestamp(moment), Duration(nanos)) | (Duration(nanos), Timestamp(moment)) => {
            moment.plus(*nanos).map(Timestamp)
        }
        _ => concatenate(left, right, context),
    }
}

/// Returns `left - right`.
pub(crate) fn subtract<'a>(left: &Value<'a>, right: &Value<'a>) -> Answer<'a> {
    use Value::{Double, Duration, Int, Timestamp, Uint};
    match (left, right) {
        (Int(left), Int(right)) => int(left.checked_sub(*right)),
        (Uint(left), Uint(right)) => uint(left.checked_sub(*right)),
        (Double(left), Double(right)) => Ok(Double(left - right)),
        (Duration(left), Duration(right)) => duration(left.checked_sub(*right)),
        (Timestamp(moment), Duration(nanos)) => {
            moment.plus(nanos.checked_neg().ok_or(Error::INT_OVERFLOW)?).map(Timestamp)
        }
        (Timestamp(left), Timestamp(right)) => left.since(*right).map(Duration),
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns `left * right`.
pub(crate) fn multiply<'a>(left: &Value<'a>, right: &Value<'a>) -> Answer<'a> {
    use Value::{Double, Int, Uint};
    match (left, right) {
        (Int(left), Int(right)) => int(left.checked_mul(*right)),
        (Uint(left), Uint(right)) => uint(left.checked_mul(*right)),
        (Double(left), Double(right)) => Ok(Double(left * right)),
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns `left / right`.
pub(crate) fn divide<'a>(left: &Value<'a>, right: &Value<'a>) -> Answer<'a> {
    use Value::{Double, Int, Uint};
    match (left, right) {
        (Int(_), Int(0)) | (Uint(_), Uint(0)) => Err(Error::DIVISION_BY_ZERO),
        (Int(left), Int(right)) => int(left.checked_div(*right)),
        (Uint(left), Uint(right)) => uint(left.checked_div(*right)),
        (Double(left), Double(right)) => Ok(Double(left / right)),
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns `left % right`.
pub(crate) fn modulo<'a>(left: &Value<'a>, right: &Value<'a>) -> Answer<'a> {
    use Value::{Int, Uint};
    match (left, right) {
        (Int(_), Int(0)) | (Uint(_), Uint(0)) => Err(Error::MODULUS_BY_ZERO),
        (Int(left), Int(right)) => int(left.checked_rem(*right)),
        (Uint(left), Uint(right)) => uint(left.checked_rem(*right)),
        _ => Err(Error::NoSuchOverload),
    }
}

/// Compares two values and returns true if their order is a wanted one. As in cel-go, NaN has no
/// order to any value of any type.
pub(crate) fn ordered<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    context: &Context<'a, '_>,
    wanted: fn(Ordering) -> bool,
) -> Answer<'a> {
    let bytes = |value: &Value<'a>| match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    context.charge_bytes(bytes(left).min(bytes(right)))?;
    if is_nan(left) || is_nan(right) {
        return Ok(Value::Bool(false));
    }
    compare(left, right).map(|order| Value::Bool(wanted(order)))
}

const fn is_nan(value: &Value<'_>) -> bool {
    matches!(value, Value::Double(number) if number.is_nan())
}

/// Returns `left && right` if `absorbing` is `false`, and `left || right` if it is `true`.
pub(crate) fn logic<'a>(left: &Value<'a>, right: &Value<'a>, absorbing: bool) -> Answer<'a> {
    let absorbs = |value: &Value<'a>| matches!(value, Value::Bool(found) if *found == absorbing);
    if absorbs(left) || absorbs(right) {
        return Ok(Value::Bool(absorbing));
    }
    match (failure(left), failure(right)) {
        (None, None) => Ok(Value::Bool(!absorbing)),
        (Some(error), None) | (None, Some(error)) => Err(error.clone()),
        (Some(left), Some(right)) => Err(left.beside(right)),
    }
}

/// Returns the error of an operand of logic that is no boolean.
const fn failure<'v, 'a>(value: &'v Value<'a>) -> Option<&'v Error<'a>> {
    match value {
        Value::Bool(_) => None,
        Value::Error(error) => Some(error),
        _ => Some(&Error::NoSuchOverload),
    }
}

/// Returns the error of a value of the wrong type: its own, if it is one.
pub(crate) fn wrong_type<'a>(value: &Value<'a>) -> Error<'a> {
    value.error().cloned().map_or(Error::NoSuchOverload, Error::of_operand)
}

/// Returns the error of an operator that has no meaning for its operands.
///
/// The wording is cel-go's: a left operand whose type has the operator for other operands, or whose
/// type has methods, leaves the operator unnamed.
pub(crate) fn overload_error<'a>(op: Op, left: &Value<'a>) -> Error<'a> {
    use Value::{Bool, Bytes, Double, Duration, Int, List, String, Timestamp, Uint};
    let is_known = match left {
        String(_) | Timestamp(_) | Duration(_) | Value::Hierarchy(_) => true,
        Value::SpiffeId(_) | Value::SpiffeTrustDomain(_) | Value::SpiffeMatcher(_) => true,
        Int(_) => true,
        Uint(_) => op != Op::Neg && op != Op::Not,
        Double(_) => op != Op::Mod,
        Bool(_) => matches!(op, Op::Not | Op::Neg | Op::Lt | Op::Le | Op::Gt | Op::Ge),
        Bytes(_) => matches!(op, Op::Add | Op::Lt | Op::Le | Op::Gt | Op::Ge),
        List(_) => op == Op::Add,
        _ => false,
    };
    match op {
        _ if is_known => Error::NoSuchOverload,
        Op::Not => Error::Fixed("no such overload: !_"),
        Op::Neg => Error::Fixed("no such overload: -_"),
        Op::Add => Error::Fixed("no such overload: _+_"),
        Op::Sub => Error::Fixed("no such overload: _-_"),
        Op::Mul => Error::Fixed("no such overload: _*_"),
        Op::Div => Error::Fixed("no such overload: _/_"),
        Op::Mod => Error::Fixed("no such overload: _%_"),
        Op::Lt => Error::Fixed("no such overload: _<_"),
        Op::Le => Error::Fixed("no such overload: _<=_"),
        Op::Gt => Error::Fixed("no such overload: _>_"),
        Op::Ge => Error::Fixed("no such overload: _>=_"),
        _ => Error::NoSuchOverload,
    }
}

fn concatenate<'a>(left: &Value<'a>, right: &Value<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            let bytes = left.len().saturating_add(right.len());
            context.charge_string(bytes)?;
            let mut text = String::with_capacity(bytes);
            text.push_str(left);
            text.push_str(right);
            Ok(Value::string(text))
        }
        (Value::Bytes(left), Value::Bytes(right)) => {
            context.charge_string(left.len().saturating_add(right.len()))?;
            let bytes: Vec<u8> = left.iter().chain(right.iter()).copied().collect();
            Ok(Value::Bytes(Bytes::from(bytes)))
        }
        (Value::List(left), Value::List(right)) => join(left, right, context),
        _ => Err(Error::NoSuchOverload),
    }
}

fn join<'a>(left: &List<'a>, right: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    if left.is_empty() {
        return Ok(Value::List(right.clone()));
    }
    if right.is_empty() {
        return Ok(Value::List(left.clone()));
    }
    let count = left.len().saturating_add(right.len());
    context.charge_list(count)?;
    // All elements are copied, and both lists may stay alive.
    context.charge(count)?;
    Ok(Value::List(left.iter().chain(right.iter()).collect()))
}

fn int<'a>(value: Option<i64>) -> Answer<'a> {
    value.map(Value::Int).ok_or(Error::INT_OVERFLOW)
}

fn uint<'a>(value: Option<u64>) -> Answer<'a> {
    value.map(Value::Uint).ok_or(Error::UINT_OVERFLOW)
}

fn duration<'a>(value: Option<i64>) -> Answer<'a> {
    value.map(Value::Duration).ok_or(Error::INT_OVERFLOW)
}
