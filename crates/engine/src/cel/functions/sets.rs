//! The sets extension: lists without regard to order and repetition.
//!
//! Elements are compared as `==` does, so `1` and `1.0` are one element.

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Value};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    let [Value::List(left), Value::List(right)] = args else {
        return Err(Error::NoSuchOverload);
    };
    let answer = match function {
        Function::SetsContains => contains_all(left, right, context)?,
        Function::SetsEquivalent => {
            contains_all(left, right, context)? && contains_all(right, left, context)?
        }
        Function::SetsIntersects => intersects(left, right, context)?,
        _ => return Err(Error::NoSuchOverload),
    };
    Ok(Value::Bool(answer))
}

/// Tells whether every element of `part` is in `whole`.
pub(super) fn contains_all<'a>(
    whole: &List<'a>,
    part: &List<'a>,
    context: &Context<'a, '_>,
) -> Result<bool, Error<'a>> {
    for element in part.iter() {
        if !contains(whole, &element, context)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Tells whether the lists have an element in common.
pub(super) fn intersects<'a>(
    left: &List<'a>,
    right: &List<'a>,
    context: &Context<'a, '_>,
) -> Result<bool, Error<'a>> {
    for element in left.iter() {
        if contains(right, &element, context)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tells whether `wanted` is in `list`.
pub(super) fn contains<'a>(
    list: &List<'a>,
    wanted: &Value<'a>,
    context: &Context<'a, '_>,
) -> Result<bool, Error<'a>> {
    context.charge(1)?;
    for element in list.iter() {
        if context.equal(wanted, &element)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
