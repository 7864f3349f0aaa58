//! The network extension: IP addresses and networks.
//!
//! A zone and an IPv4-mapped IPv6 address are refused, because one text must mean one address.

pub(crate) mod address;
mod print;

use core::net::IpAddr;

use self::address::{Fault, NetworkFault, parse_address, parse_network, width};
pub(super) use self::print::address_text;
use super::strings::quoted;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::Value;

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    use Value as V;
    for arg in args {
        context.charge_bytes(arg.as_str().map_or(0, str::len))?;
    }
    Ok(match (function, args) {
        (F::Cidr, [V::String(text)]) => {
            let (address, length) = cidr(text)?;
            V::Cidr(address, length)
        }
        (F::Ip, [V::String(text)]) => V::Ip(ip(text)?),
        (F::IsCidr, [V::String(text)]) => V::Bool(cidr(text).is_ok()),
        (F::IsIp, [V::String(text)]) => V::Bool(ip(text).is_ok()),
        (F::IpIsCanonical, [V::String(text)]) => V::Bool(address_text(ip(text)?) == **text),
        (F::CidrContainsCidr, [V::Cidr(address, length), V::String(text)]) => {
            contains_network((*address, *length), cidr(text)?)
        }
        (F::CidrContainsCidr, [V::Cidr(address, length), V::Cidr(other, other_length)]) => {
            contains_network((*address, *length), (*other, *other_length))
        }
        (F::CidrContainsIp, [V::Cidr(address, length), V::String(text)]) => {
            V::Bool(contains((*address, *length), ip(text)?))
        }
        (F::CidrContainsIp, [V::Cidr(address, length), V::Ip(other)]) => {
            V::Bool(contains((*address, *length), *other))
        }
        (_, [V::Cidr(address, length)]) => cidr_property(function, *address, *length)?,
        (_, [V::Ip(address)]) => ip_property(function, *address)?,
        _ => return Err(Error::NoSuchOverload),
    })
}

fn cidr_property<'a>(function: Function, address: IpAddr, length: u8) -> Answer<'a> {
    use Function as F;
    Ok(match function {
        F::CidrIp | F::Ip => Value::Ip(address),
        F::CidrIsMask => Value::Bool(masked(address, length) == address),
        F::CidrMasked => Value::Cidr(masked(address, length), length),
        F::CidrPrefixLength => Value::Int(length.into()),
        _ => return Err(Error::NoSuchOverload),
    })
}

fn ip_property<'a>(function: Function, address: IpAddr) -> Answer<'a> {
    use Function as F;
    Ok(match function {
        F::IpFamily => Value::Int(if address.is_ipv4() { 4 } else { 6 }),
        F::IpIsGlobalUnicast => Value::Bool(is_global_unicast(address)),
        F::IpIsLinkLocalMulticast => Value::Bool(is_link_local_multicast(address)),
        F::IpIsLinkLocalUnicast => Value::Bool(is_link_local_unicast(address)),
        F::IpIsLoopback => Value::Bool(address.is_loopback()),
        F::IpIsUnspecified => Value::Bool(address.is_unspecified()),
        _ => return Err(Error::NoSuchOverload),
    })
}

/// Reads an address that has one meaning everywhere.
fn ip<'a>(text: &str) -> Result<IpAddr, Error<'a>> {
    let parsed = parse_address(text).map_err(|fault| {
        Error::text(format_args!(
            "IP Address {} parse error during conversion from string: {}",
            quoted(text),
            describe(text, fault),
        ))
    })?;
    if parsed.has_zone {
        return Err(Error::text(format_args!(
            "IP address {} with zone value is not allowed",
            quoted(text)
        )));
    }
    refuse_mapped(text, parsed.address)
}

/// Reads a network that has one meaning everywhere.
fn cidr<'a>(text: &str) -> Result<(IpAddr, u8), Error<'a>> {
    let (address, length) = parse_network(text).map_err(|fault| {
        Error::text(format_args!(
            "CIDR {0} parse error during conversion from string: netip.ParsePrefix({0}): {1}",
            quoted(text),
            describe_network(fault),
        ))
    })?;
    Ok((refuse_mapped(text, address)?, length))
}

fn refuse_mapped<'a>(text: &str, address: IpAddr) -> Result<IpAddr, Error<'a>> {
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => Err(Error::text(format_args!(
            "IPv4-mapped IPv6 address {} is not allowed",
            quoted(text)
        ))),
        _ => Ok(address),
    }
}

fn describe(text: &str, fault: Fault<'_>) -> alloc::string::String {
    let position = fault.at.map(|at| alloc::format!(" (at {})", quoted(at))).unwrap_or_default();
    alloc::format!("ParseAddr({}): {}{position}", quoted(text), fault.rule)
}

fn describe_network(fault: NetworkFault<'_>) -> alloc::string::String {
    match fault {
        NetworkFault::NoSlash => "no '/'".into(),
        NetworkFault::Address { text, fault } => describe(text, fault),
        NetworkFault::Zone => "IPv6 zones cannot be present in a prefix".into(),
        NetworkFault::BadLength { text } => {
            alloc::format!("bad bits after slash: {}", quoted(text))
        }
        NetworkFault::LengthOutOfRange => "prefix length out of range".into(),
    }
}

/// Returns true if `address` is in the network. Addresses of the other family never are.
pub(super) fn contains(network: (IpAddr, u8), address: IpAddr) -> bool {
    let (base, length) = network;
    base.is_ipv4() == address.is_ipv4() && masked(base, length) == masked(address, length)
}

fn contains_network<'a>(network: (IpAddr, u8), other: (IpAddr, u8)) -> Value<'a> {
    Value::Bool(network.1 <= other.1 && contains(network, other.0))
}

/// Clears all bits after the first `length`.
fn masked(address: IpAddr, length: u8) -> IpAddr {
    let host = u32::from(width(address).saturating_sub(length));
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(host).unwrap_or(0);
            core::net::Ipv4Addr::from_bits(v4.to_bits() & mask).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(host).unwrap_or(0);
            core::net::Ipv6Addr::from_bits(v6.to_bits() & mask).into()
        }
    }
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

/// Returns true for `224.0.0.0/24` (RFC 5771, section 4) and `ffx2::/16` (RFC 4291, section 2.7).
fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
        IpAddr::V6(v6) => v6.to_bits() >> 112 & 0xff0f == 0xff02,
    }
}

/// Returns true for global unicast addresses. Private addresses count as global: the term includes
/// routing within an organisation.
fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(is_broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local_unicast(address))
}

#[cfg(test)]
mod tests;
