//! The sets extension: lists without regard to order and repetition.
//!
//! Elements are compared as `==` does, so `1` and `1.0` are one element.

mod members;

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Value};
pub(super) use members::Members;

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

/// Returns true if every element of `part` is in `whole`.
pub(super) fn contains_all<'a>(
    whole: &List<'a>,
    part: &List<'a>,
    context: &Context<'a, '_>,
) -> Result<bool, Error<'a>> {
    let whole = Elements::of(whole, part.len(), context)?;
    for element in part.iter() {
        if !whole.contains(&element, context)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if the lists have an element in common.
pub(super) fn intersects<'a>(
    left: &List<'a>,
    right: &List<'a>,
    context: &Context<'a, '_>,
) -> Result<bool, Error<'a>> {
    let right = Elements::of(right, left.len(), context)?;
    for element in left.iter() {
        if right.contains(&element, context)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A list that is searched several times.
pub(super) enum Elements<'l, 'a> {
    /// Compared one by one: used if either side is short, and the oracle of hashing.
    Listed(&'l List<'a>),
    /// Found by hash.
    Hashed(Members<'a>),
}

impl<'l, 'a> Elements<'l, 'a> {
    /// Prepares `list` for so many searches.
    ///
    /// # Errors
    /// The budget is spent.
    pub(super) fn of(
        list: &'l List<'a>,
        questions: usize,
        context: &Context<'a, '_>,
    ) -> Result<Self, Error<'a>> {
        if list.len().min(questions) <= FEW {
            return Ok(Self::Listed(list));
        }
        Members::of(list, context).map(Self::Hashed)
    }

    /// Returns true if `wanted` is in the list.
    ///
    /// # Errors
    /// The budget is spent.
    pub(super) fn contains(
        &self,
        wanted: &Value<'a>,
        context: &Context<'a, '_>,
    ) -> Result<bool, Error<'a>> {
        match self {
            Self::Listed(list) => scan(list, wanted, context),
            Self::Hashed(members) => members.contains(wanted, context),
        }
    }
}

fn scan<'a>(
    list: &List<'a>,
    wanted: &Value<'a>,
    context: &Context<'a, '_>,
) -> Result<bool, Error<'a>> {
    context.charge(1)?;
    for element in list.iter() {
        context.charge(1)?;
        if context.equal(wanted, &element)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of elements or searches up to which hashing does not pay.
const FEW: usize = 4;

#[cfg(test)]
mod tests;
