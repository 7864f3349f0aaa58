//! Cerbos's functions over lists, time and addresses.

use core::net::IpAddr;

use super::network::address::{parse_address, parse_network};
use super::sets::Elements;
use super::{network, sets};
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::time::Timestamp;
use crate::cel::value::{List, Value};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    use Value as V;
    match (function, args) {
        (F::Except, [V::List(left), V::List(right)]) => filter(left, right, false, context),
        (F::Intersect, [V::List(left), V::List(right)]) => intersect(left, right, context),
        (F::HasIntersection, [V::List(left), V::List(right)]) => {
            sets::intersects(left, right, context).map(V::Bool)
        }
        (F::IsSubset, [V::List(part), V::List(whole)]) => {
            sets::contains_all(whole, part, context).map(V::Bool)
        }
        (F::Id, [value]) => Ok(value.clone()),
        (F::InIpAddrRange, [V::String(address), V::String(range)]) => {
            context.charge_bytes(address.len().saturating_add(range.len()))?;
            in_range(address, range)
        }
        (F::Now, []) => Ok(V::Timestamp(context.now())),
        (F::TimeSince, [V::Timestamp(moment)]) => Ok(V::Duration(elapsed(*moment, context.now()))),
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns the nanoseconds from one moment to another, or the nearest duration.
fn elapsed(from: Timestamp, to: Timestamp) -> i64 {
    to.since(from).unwrap_or(if from < to { i64::MAX } else { i64::MIN })
}

/// Returns the elements of the shorter list that are in the longer one.
fn intersect<'a>(left: &List<'a>, right: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    if left.len() > right.len() {
        filter(right, left, true, context)
    } else {
        filter(left, right, true, context)
    }
}

/// Returns the elements of `list` that are in `other` if `wanted`, else those that are not.
fn filter<'a>(
    list: &List<'a>,
    other: &List<'a>,
    wanted: bool,
    context: &Context<'a, '_>,
) -> Answer<'a> {
    let mut elements = alloc::vec::Vec::new();
    let other = Elements::of(other, list.len(), context)?;
    for element in list.iter() {
        if other.contains(&element, context)? == wanted {
            elements.push(element);
        }
    }
    Ok(Value::list(elements))
}

/// Returns true if an address is in a network. An IPv4-mapped IPv6 address is an IPv4 address.
fn in_range<'a>(address: &str, range: &str) -> Answer<'a> {
    let address = parse_address(address)
        .ok()
        .filter(|parsed| !parsed.has_zone)
        .map(|parsed| parsed.address.to_canonical())
        .ok_or_else(|| Error::text(format_args!("invalid IP address: {address}")))?;
    let network = parse_range(range)
        .ok_or_else(|| Error::text(format_args!("invalid CIDR address: {range}")))?;
    Ok(Value::Bool(network::contains(network, address)))
}

/// Reads a network, with leading zeros in its length allowed.
fn parse_range(range: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = range.split_once('/')?;
    let padding =
        length.len().checked_sub(1)?.min(length.bytes().take_while(|b| *b == b'0').count());
    let plain = alloc::format!("{address}/{}", length.get(padding..)?);
    let (base, length) = parse_network(&plain).ok()?;
    match (base.to_canonical(), length.checked_sub(96)) {
        (v4 @ IpAddr::V4(_), Some(length)) if base.is_ipv6() => Some((v4, length)),
        _ => Some((base, length)),
    }
}

#[cfg(test)]
mod tests;
