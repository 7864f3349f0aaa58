//! The math extension.

mod float;

use core::cmp::Ordering;

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::Value;
use crate::number::{self, int_to_double, uint_to_double};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    match function {
        F::MathGreatest => extreme(args, &GREATEST, context),
        F::MathLeast => extreme(args, &LEAST, context),
        F::MathAbs | F::MathSign | F::MathSqrt | F::MathBitNot => one(function, args),
        F::MathBitAnd | F::MathBitOr | F::MathBitXor => bits(function, args),
        F::MathBitShiftLeft | F::MathBitShiftRight => shift(function, args),
        _ => rounding(function, args),
    }
}

/// The choice of a number among several: the least or the greatest.
struct Extreme {
    /// The order of the present choice to a better one.
    beaten: Ordering,
    mismatch: &'static str,
    empty: &'static str,
}

const GREATEST: Extreme = Extreme {
    beaten: Ordering::Less,
    mismatch: "no such overload: math.@max",
    empty: "math.@max(list) argument must not be empty",
};

const LEAST: Extreme = Extreme {
    beaten: Ordering::Greater,
    mismatch: "no such overload: math.@min",
    empty: "math.@min(list) argument must not be empty",
};

/// Returns the first argument, or first element of the only argument, that no other one beats.
fn extreme<'a>(args: &[Value<'a>], which: &Extreme, context: &Context<'a, '_>) -> Answer<'a> {
    let mut best: Option<Value<'a>> = None;
    let mut consider = |value: Value<'a>| -> Result<(), Error<'a>> {
        context.charge(1)?;
        let order = match &best {
            Some(best) => compare(best, &value),
            None => is_number(&value).then_some(which.beaten),
        };
        if order.ok_or(Error::Fixed(which.mismatch))? == which.beaten {
            best = Some(value);
        }
        Ok(())
    };
    match args {
        [Value::List(list)] => list.iter().try_for_each(&mut consider)?,
        _ => args.iter().cloned().try_for_each(&mut consider)?,
    }
    best.ok_or(Error::Fixed(which.empty))
}

const fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

/// Compares numbers of any types; `None` for NaN and for other values.
fn compare(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    use Value as V;
    match (left, right) {
        (V::Int(a), V::Int(b)) => Some(a.cmp(b)),
        (V::Uint(a), V::Uint(b)) => Some(a.cmp(b)),
        (V::Double(a), V::Double(b)) => a.partial_cmp(b),
        (V::Int(a), V::Uint(b)) => Some(number::compare_int_uint(*a, *b)),
        (V::Int(a), V::Double(b)) => number::compare_int_double(*a, *b),
        (V::Uint(a), V::Double(b)) => number::compare_uint_double(*a, *b),
        (V::Uint(_) | V::Double(_), V::Int(_)) | (V::Double(_), V::Uint(_)) => {
            compare(right, left).map(Ordering::reverse)
        }
        _ => None,
    }
}

fn one<'a>(function: Function, args: &[Value<'a>]) -> Answer<'a> {
    use Function as F;
    use Value as V;
    Ok(match (function, args) {
        (F::MathAbs, [V::Double(value)]) => V::Double(value.abs()),
        (F::MathAbs, [V::Int(value)]) => V::Int(value.checked_abs().ok_or(Error::INT_OVERFLOW)?),
        (F::MathAbs, [V::Uint(value)]) => V::Uint(*value),
        (F::MathSign, [V::Double(value)]) => V::Double(match value.partial_cmp(&0.0) {
            Some(Ordering::Less) => -1.0,
            Some(Ordering::Equal) => 0.0,
            Some(Ordering::Greater) => 1.0,
            None => *value,
        }),
        (F::MathSign, [V::Int(value)]) => V::Int(value.signum()),
        (F::MathSign, [V::Uint(value)]) => V::Uint((*value).min(1)),
        (F::MathSqrt, [V::Double(value)]) => V::Double(float::sqrt(*value)),
        (F::MathSqrt, [V::Int(value)]) => V::Double(float::sqrt(int_to_double(*value))),
        (F::MathSqrt, [V::Uint(value)]) => V::Double(float::sqrt(uint_to_double(*value))),
        (F::MathBitNot, [V::Int(value)]) => V::Int(!value),
        (F::MathBitNot, [V::Uint(value)]) => V::Uint(!value),
        _ => return Err(Error::NoSuchOverload),
    })
}

fn bits<'a>(function: Function, args: &[Value<'a>]) -> Answer<'a> {
    use Function as F;
    use Value as V;
    Ok(match (function, args) {
        (F::MathBitAnd, [V::Int(a), V::Int(b)]) => V::Int(a & b),
        (F::MathBitAnd, [V::Uint(a), V::Uint(b)]) => V::Uint(a & b),
        (F::MathBitOr, [V::Int(a), V::Int(b)]) => V::Int(a | b),
        (F::MathBitOr, [V::Uint(a), V::Uint(b)]) => V::Uint(a | b),
        (F::MathBitXor, [V::Int(a), V::Int(b)]) => V::Int(a ^ b),
        (F::MathBitXor, [V::Uint(a), V::Uint(b)]) => V::Uint(a ^ b),
        _ => return Err(Error::NoSuchOverload),
    })
}

/// Shifts zeros in, on a right shift too: an `int` is moved as its bit pattern.
fn shift<'a>(function: Function, args: &[Value<'a>]) -> Answer<'a> {
    let [value, Value::Int(by)] = args else { return Err(Error::NoSuchOverload) };
    let pattern = match value {
        Value::Int(value) => value.cast_unsigned(),
        Value::Uint(value) => *value,
        _ => return Err(Error::NoSuchOverload),
    };
    if *by < 0 {
        let name = function.name();
        return Err(Error::text(format_args!("{name}() negative offset: {by}")));
    }
    let by = u32::try_from(*by).unwrap_or(u32::MAX);
    let moved = match function {
        Function::MathBitShiftLeft => pattern.checked_shl(by),
        _ => pattern.checked_shr(by),
    };
    let moved = moved.unwrap_or(0);
    Ok(match value {
        Value::Int(_) => Value::Int(moved.cast_signed()),
        _ => Value::Uint(moved),
    })
}

fn rounding<'a>(function: Function, args: &[Value<'a>]) -> Answer<'a> {
    use Function as F;
    let [Value::Double(value)] = args else { return Err(Error::NoSuchOverload) };
    Ok(match function {
        F::MathCeil => Value::Double(float::ceil(*value)),
        F::MathFloor => Value::Double(float::floor(*value)),
        F::MathRound => Value::Double(float::round(*value)),
        F::MathTrunc => Value::Double(float::trunc(*value)),
        F::MathIsFinite => Value::Bool(value.is_finite()),
        F::MathIsInf => Value::Bool(value.is_infinite()),
        F::MathIsNaN => Value::Bool(value.is_nan()),
        _ => return Err(Error::NoSuchOverload),
    })
}

#[cfg(test)]
mod tests;
