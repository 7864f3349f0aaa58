//! The values that programs compute with.
//!
//! A value borrows from the policy table and the request wherever it can, so that reading an
//! attribute or a constant copies nothing; only values that an expression builds are owned, behind
//! an `Rc`. `'a` covers table and request. A test checks that the enum has 32 bytes.

mod compare;
mod constant;
mod json;
mod list;
mod map;
mod message;
mod text;

use alloc::rc::Rc;
use core::net::IpAddr;

use super::error::{Answer, Error};
use super::time::Timestamp;
use crate::attr::Attr;
use crate::limits::MAX_VALUE_DEPTH;

#[cfg(feature = "observe")]
pub use compare::COMPARISONS;
pub use compare::{compare, equal};
pub(crate) use constant::size_of_constant;
pub use constant::{Constant, constant, zone_constant};
pub use list::List;
pub use map::{Key, Map, OwnedMap};
pub use message::Message;
pub(crate) use message::is_present;
pub use text::{Bytes, Str};

/// A CEL value, or the error of computing it.
#[derive(Clone, Debug, Default)]
pub enum Value<'a> {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating point number; every number of a request is one.
    Double(f64),
    /// Text.
    String(Str<'a>),
    /// Bytes.
    Bytes(Bytes<'a>),
    /// A moment.
    Timestamp(Timestamp),
    /// A duration in nanoseconds.
    Duration(i64),
    /// A list.
    List(List<'a>),
    /// A map.
    Map(Map<'a>),
    /// A type, by its name.
    Type(&'a str),
    /// A value that may be missing.
    Optional(Option<Rc<Value<'a>>>),
    /// `request`, a part of it, or `runtime`.
    Message(Message<'a>),
    /// A compiled regular expression.
    Regex(Constant<'a>),
    /// A time zone.
    Zone(Constant<'a>),
    /// An IP address.
    Ip(IpAddr),
    /// An IP network: an address, host bits included, and the length of its prefix.
    Cidr(IpAddr, u8),
    /// A Cerbos hierarchy: the segments of a path.
    Hierarchy(Rc<[Str<'a>]>),
    /// A SPIFFE id, `spiffe://domain/path`.
    SpiffeId(Str<'a>),
    /// The name of a SPIFFE trust domain.
    SpiffeTrustDomain(Str<'a>),
    /// A predicate over SPIFFE ids.
    SpiffeMatcher(Rc<SpiffeMatcher<'a>>),
    /// An error instead of a value.
    Error(Error<'a>),
}

/// The set of SPIFFE ids that a matcher accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum SpiffeMatcher<'a> {
    /// Every id.
    Any,
    /// This id.
    Exact(Str<'a>),
    /// One of these ids.
    OneOf(Rc<[Str<'a>]>),
    /// Every id of this trust domain.
    TrustDomain(Str<'a>),
}

impl<'a> Value<'a> {
    /// Returns a string value.
    pub fn string(text: impl Into<Str<'a>>) -> Self {
        Self::String(text.into())
    }

    /// Returns a list that owns `items`; an error if they nest too deep.
    #[must_use]
    pub fn list(items: alloc::vec::Vec<Value<'a>>) -> Self {
        Self::List(items.into_iter().collect()).bounded()
    }

    /// Returns the depth of owned values, which are freed one through the other. A depth beyond the
    /// stack would end the process, and a loop could reach it without a limit.
    #[must_use]
    pub fn nesting(&self) -> usize {
        1 + match self {
            Self::List(list) => list.nesting(),
            Self::Map(Map::Owned(map)) => map.nesting(),
            Self::Optional(Some(inner)) => inner.nesting(),
            _ => 0,
        }
    }

    /// Returns the value, or an error if it nests too deep.
    pub(crate) fn bounded(self) -> Self {
        if self.nesting() > MAX_VALUE_DEPTH { Self::Error(Error::Limit) } else { self }
    }

    /// Returns `length` as an `int`.
    #[must_use]
    pub fn length(length: usize) -> Self {
        i64::try_from(length).map_or(Self::Error(Error::INT_OVERFLOW), Self::Int)
    }

    /// Returns `optional.of(value)`; an error if it nests too deep.
    #[must_use]
    pub fn some(value: Value<'a>) -> Self {
        Self::Optional(Some(Rc::new(value))).bounded()
    }

    /// Returns `optional.none()`.
    #[must_use]
    pub const fn none() -> Self {
        Self::Optional(None)
    }

    /// Returns the error, if this is one.
    #[must_use]
    pub const fn error(&self) -> Option<&Error<'a>> {
        match self {
            Self::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the text, if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Turns an error value into an `Err`.
    ///
    /// # Errors
    ///
    /// The error, if the value is one.
    pub fn into_answer(self) -> Answer<'a> {
        match self {
            Self::Error(error) => Err(error),
            value => Ok(value),
        }
    }

    /// Returns the name of the value's type, as `type()` shows it.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) | Self::Regex(_) | Self::Zone(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Message(message) => message.type_name(),
            Self::Ip(_) => "net.IP",
            Self::Cidr(..) => "net.CIDR",
            Self::Hierarchy(_) => "cerbos.lib.hierarchy",
            Self::SpiffeId(_) => "cerbos.lib.spiffeID",
            Self::SpiffeTrustDomain(_) => "cerbos.lib.spiffeTrustDomain",
            Self::SpiffeMatcher(_) => "cerbos.lib.spiffeMatcher",
            Self::Error(_) => "error",
        }
    }
}

impl<'a> From<&'a Attr> for Value<'a> {
    fn from(attr: &'a Attr) -> Self {
        match attr {
            Attr::Null => Self::Null,
            Attr::Bool(value) => Self::Bool(*value),
            Attr::Number(value) => Self::Double(*value),
            Attr::String(text) => Self::String(Str::Borrowed(text)),
            Attr::List(items) => Self::List(List::Attrs(items)),
            Attr::Map(map) => Self::Map(Map::Attrs(map)),
        }
    }
}

impl<'a> From<Error<'a>> for Value<'a> {
    fn from(error: Error<'a>) -> Self {
        Self::Error(error)
    }
}

impl<'a> From<Answer<'a>> for Value<'a> {
    fn from(answer: Answer<'a>) -> Self {
        answer.unwrap_or_else(Self::Error)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

#[cfg(test)]
mod tests;
