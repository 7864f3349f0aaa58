//! The values in ranges.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::str::from_utf8;

use super::Type;
use super::moment::{Clock, Moment};

/// A value of one of the types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Alpha(Vec<u8>),
    Numeric(u32),
    Date(Moment),
    Time(Clock),
    Ipv4(u32),
    Ipv6(u128),
}

impl Value {
    /// Reads an atom of a query; returns `None` if it is no value of the type.
    pub(crate) fn of_atom(kind: Type, atom: &[u8]) -> Option<Self> {
        let has_leading_zero = atom.len() > 1 && atom.starts_with(b"0");
        if kind == Type::Numeric && has_leading_zero {
            return None;
        }
        Self::constant(kind, atom)
    }

    /// Reads a constant of a range, which may have leading zeros.
    pub(crate) fn constant(kind: Type, text: &[u8]) -> Option<Self> {
        Some(match kind {
            Type::Alpha => Self::Alpha(text.to_vec()),
            Type::Numeric if text.iter().all(u8::is_ascii_digit) => {
                Self::Numeric(from_utf8(text).ok()?.parse().ok()?)
            }
            Type::Numeric => return None,
            Type::Date => Self::Date(Moment::read(text)?),
            Type::Time => Self::Time(Clock::read(text)?),
            Type::Ipv4 => Self::Ipv4(from_utf8(text).ok()?.parse::<Ipv4Addr>().ok()?.to_bits()),
            Type::Ipv6 => Self::Ipv6(from_utf8(text).ok()?.parse::<Ipv6Addr>().ok()?.to_bits()),
        })
    }

    /// Compares a value of the type `alpha` with a text.
    pub(crate) fn compare(&self, text: &[u8]) -> Option<Ordering> {
        match self {
            Self::Alpha(value) => Some(value.as_slice().cmp(text)),
            _ => None,
        }
    }

    /// Returns the text of the value in normal forms.
    pub(crate) fn text(&self) -> Vec<u8> {
        match self {
            Self::Alpha(text) => text.clone(),
            Self::Numeric(number) => number.to_string().into_bytes(),
            Self::Date(moment) => moment.to_string().into_bytes(),
            Self::Time(clock) => clock.to_string().into_bytes(),
            Self::Ipv4(bits) => Ipv4Addr::from_bits(*bits).to_string().into_bytes(),
            Self::Ipv6(bits) => Ipv6Addr::from_bits(*bits).to_string().into_bytes(),
        }
    }

    /// Returns true if the values of the type are discrete: no value lies between one and the next.
    pub(crate) const fn is_whole(&self) -> bool {
        matches!(self, Self::Numeric(_) | Self::Ipv4(_) | Self::Ipv6(_))
    }

    /// Returns the value after this one, if values are discrete and it exists.
    pub(crate) fn next(&self) -> Option<Self> {
        match self {
            Self::Numeric(number) => number.checked_add(1).map(Self::Numeric),
            Self::Ipv4(bits) => bits.checked_add(1).map(Self::Ipv4),
            Self::Ipv6(bits) => bits.checked_add(1).map(Self::Ipv6),
            _ => None,
        }
    }

    /// Returns the value before this one, if values are discrete and it exists.
    pub(crate) fn previous(&self) -> Option<Self> {
        match self {
            Self::Numeric(number) => number.checked_sub(1).map(Self::Numeric),
            Self::Ipv4(bits) => bits.checked_sub(1).map(Self::Ipv4),
            Self::Ipv6(bits) => bits.checked_sub(1).map(Self::Ipv6),
            _ => None,
        }
    }

    /// Returns true if this is the least value of the type.
    pub(crate) fn is_least(&self) -> bool {
        match self {
            Self::Time(clock) => *clock == Clock::LEAST,
            _ => self.is_whole() && self.previous().is_none(),
        }
    }

    /// Returns true if this is the greatest value of the type.
    pub(crate) fn is_greatest(&self) -> bool {
        self.is_whole() && self.next().is_none()
    }
}
