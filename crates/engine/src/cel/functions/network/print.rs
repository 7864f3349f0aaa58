//! Addresses as text, in the form that RFC 5952 recommends.
//!
//! The standard library prints the same, with two kilobytes of code that this replaces.

use alloc::string::String;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;

use crate::text::push_digits;

/// Returns the canonical text of `address`.
pub(in crate::cel::functions) fn address_text(address: IpAddr) -> String {
    let mut out = String::new();
    match address {
        IpAddr::V4(v4) => write_v4(&mut out, v4),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => {
                out.push_str("::ffff:");
                write_v4(&mut out, v4);
            }
            None => write_v6(&mut out, v6),
        },
    }
    out
}

fn write_v4(out: &mut String, address: Ipv4Addr) {
    for (at, octet) in address.octets().into_iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "." });
        push_digits(out, u64::from(octet), 10, 1);
    }
}

fn write_v6(out: &mut String, address: Ipv6Addr) {
    let groups = address.segments();
    let zeros = longest_zeros(&groups);
    for (at, group) in groups.into_iter().enumerate() {
        if at == zeros.start && !zeros.is_empty() {
            out.push_str("::");
        }
        if zeros.contains(&at) {
            continue;
        }
        out.push_str(if at == 0 || at == zeros.end { "" } else { ":" });
        push_digits(out, u64::from(group), 16, 1);
    }
}

/// Returns the first of the longest runs of two or more zeros.
fn longest_zeros(groups: &[u16]) -> Range<usize> {
    let mut longest = 0..0;
    let mut start = 0;
    for (at, group) in groups.iter().enumerate() {
        if *group != 0 {
            start = at + 1;
        } else if at + 1 - start > longest.len().max(1) {
            longest = start..at + 1;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use super::address_text;

    fn check(address: IpAddr) {
        assert_eq!(address_text(address), alloc::string::ToString::to_string(&address));
    }

    #[test]
    fn prints_as_the_standard_library_does() {
        for bits in [0, 1, 0x7f00_0001, 0x0a0b_0cff, u32::MAX] {
            check(Ipv4Addr::from_bits(bits).into());
            check(Ipv4Addr::from_bits(bits).to_ipv6_mapped().into());
        }
        // Each of the eight groups is a zero or not.
        for pattern in 0..256_u16 {
            let groups: [u16; 8] = core::array::from_fn(|at| (pattern >> at & 1) * (0xa0 << at));
            check(Ipv6Addr::from(groups).into());
        }
    }
}
