//! The lists extension.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::sets::Members;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Value};
use crate::limits::MAX_VALUE_DEPTH;
use crate::order;

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    use Value as V;
    match (function, args) {
        (F::Distinct, [V::List(list)]) => distinct(list, context),
        (F::First, [V::List(list)]) => Ok(list.get(0).map_or(V::none(), V::some)),
        (F::Flatten, [V::List(list)]) => flatten(list, 1, context),
        (F::Flatten, [V::List(list), V::Int(depth)]) => flatten(list, *depth, context),
        (F::Last, [V::List(list)]) => Ok(list.iter().next_back().map_or(V::none(), V::some)),
        (F::ListsRange, [V::Int(length)]) => range(*length, context),
        (F::Slice, [V::List(list), V::Int(start), V::Int(end)]) => {
            slice(list, *start, *end, context)
        }
        (F::Sort, [V::List(list)]) => sort_by(list, list, context),
        (F::SortByAssociatedKeys, [V::List(list), V::List(keys)]) => sort_by(list, keys, context),
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns the elements from last to first.
pub(super) fn reverse<'a>(list: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    context.charge_list(list.len())?;
    Ok(Value::list(list.iter().rev().collect()))
}

fn range<'a>(length: i64, context: &Context<'a, '_>) -> Answer<'a> {
    let count = usize::try_from(length).map_err(|_| {
        Error::text(format_args!("lists.range: size must be non-negative, got {length}"))
    })?;
    context.charge_list(count)?;
    Ok(Value::list((0..length).map(Value::Int).collect()))
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64, context: &Context<'a, '_>) -> Answer<'a> {
    let fault = |why| Err(Error::text(format_args!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return fault(format_args!("negative indexes not supported"));
    };
    if from > to {
        return fault(format_args!("start index must be less than or equal to end index"));
    }
    if to > list.len() {
        return fault(format_args!("list is length {}", list.len()));
    }
    context.charge_list(to.saturating_sub(from))?;
    Ok(Value::list((from..to).filter_map(|at| list.get(at)).collect()))
}

fn flatten<'a>(list: &List<'a>, depth: i64, context: &Context<'a, '_>) -> Answer<'a> {
    let depth = usize::try_from(depth).map_err(|_| Error::Fixed("level must be non-negative"))?;
    let mut flat = Vec::new();
    append_flat(list, depth.min(MAX_VALUE_DEPTH), &mut flat, context)?;
    Ok(Value::list(flat))
}

fn append_flat<'a>(
    list: &List<'a>,
    depth: usize,
    flat: &mut Vec<Value<'a>>,
    context: &Context<'a, '_>,
) -> Result<(), Error<'a>> {
    context.charge_list(list.len())?;
    for element in list.iter() {
        match (&element, depth.checked_sub(1)) {
            (Value::List(inner), Some(depth)) => append_flat(inner, depth, flat, context)?,
            _ => flat.push(element),
        }
    }
    if flat.len() > crate::limits::MAX_ELEMENTS { Err(Error::Limit) } else { Ok(()) }
}

fn distinct<'a>(list: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    let mut members = Members::with_room(list.len());
    let mut unique = Vec::new();
    for element in list.iter() {
        if members.insert(element.clone(), context)? {
            unique.push(element);
        }
    }
    Ok(Value::list(unique))
}

/// Sorts `list` by the `keys` of its elements. Elements with equal keys stay in their order.
fn sort_by<'a>(list: &List<'a>, keys: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    if list.len() != keys.len() {
        return Err(Error::text(format_args!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, \
             but got {} and {} elements respectively",
            list.len(),
            keys.len(),
        )));
    }
    let mut pairs: Vec<_> = keys.iter().zip(list.iter()).collect();
    check_keys(&pairs, context)?;
    order::sort_by(&mut pairs, |(a, _), (b, _)| order_of(a, b).unwrap_or(Ordering::Equal));
    Ok(Value::list(pairs.into_iter().map(|(_, element)| element).collect()))
}

/// Checks that the keys have an order, and pays for the comparisons.
fn check_keys<'a>(
    pairs: &[(Value<'a>, Value<'a>)],
    context: &Context<'a, '_>,
) -> Result<(), Error<'a>> {
    let Some((first, _)) = pairs.first() else { return Ok(()) };
    if order_of(first, first).is_none() {
        return Err(Error::Fixed("list elements must be comparable"));
    }
    if pairs.iter().any(|(key, _)| key.type_name() != first.type_name()) {
        return Err(Error::Fixed("list elements must have the same type"));
    }
    let rounds = usize::try_from(pairs.len().ilog2()).unwrap_or(usize::MAX).saturating_add(1);
    let bytes: usize = pairs.iter().map(|(key, _)| length(key)).sum();
    context.charge(pairs.len().saturating_mul(rounds))?;
    Ok(context.charge_bytes(bytes.saturating_mul(rounds))?)
}

fn length(key: &Value<'_>) -> usize {
    match key {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

/// Orders two keys of one type; `None` if the type has no order. NaN comes last, so that the order
/// is total.
fn order_of(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    use Value as V;
    Some(match (a, b) {
        (V::Bool(a), V::Bool(b)) => a.cmp(b),
        (V::Int(a), V::Int(b)) => a.cmp(b),
        (V::Uint(a), V::Uint(b)) => a.cmp(b),
        (V::Double(a), V::Double(b)) => {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (V::String(a), V::String(b)) => a.cmp(b),
        (V::Bytes(a), V::Bytes(b)) => a.cmp(b),
        (V::Duration(a), V::Duration(b)) => a.cmp(b),
        (V::Timestamp(a), V::Timestamp(b)) => a.cmp(b),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
