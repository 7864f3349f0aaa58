//! Values of the oracle's expressions: owned, copied freely, compared the long way.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use wardgate_engine::attr::{Attr, AttrMap};

/// The failure of an expression without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
    /// A part of the request that is no attribute.
    Message(BTreeMap<String, Value>),
    /// Nanoseconds since 1970.
    Time(i128),
    /// Nanoseconds.
    Duration(i128),
    /// The result of a `?`.
    Optional(Option<Box<Value>>),
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(super) fn texts(texts: &[String]) -> Self {
        Self::List(texts.iter().map(|text| Self::text(text)).collect())
    }

    pub(super) fn count(count: usize) -> Self {
        i64::try_from(count).map_or(Self::Null, Self::Int)
    }

    pub(super) fn attributes(map: &AttrMap) -> Self {
        let entry = |(name, value): &(Box<str>, Attr)| (name.to_string(), Self::from(value));
        Self::Map(map.entries().iter().map(entry).collect())
    }

    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// Returns true if a field with this value counts as not set.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Map(map) => map.is_empty(),
            _ => false,
        }
    }

    /// Returns the boolean that logic needs.
    pub(super) fn bool(self) -> Result<bool, Failed> {
        if let Self::Bool(value) = self { Ok(value) } else { Err(Failed) }
    }

    /// Compares. Values of different types are not equal; numbers are of one type here.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Time(a), Self::Time(b)) | (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| a.equals(b)))
            }
            _ => {
                self.numbers(other).is_some_and(|(a, b)| a.partial_cmp(&b) == Some(Ordering::Equal))
            }
        }
    }

    /// Returns true for NaN, which stands in no order to any value.
    pub(super) const fn is_nan(&self) -> bool {
        matches!(self, Self::Double(value) if value.is_nan())
    }

    /// Orders. Only numbers, texts, booleans, moments and durations have an order.
    pub(super) fn order(&self, other: &Self) -> Result<Ordering, Failed> {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Ok(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) => Ok(a.cmp(b)),
            (Self::Int(a), Self::Int(b)) => Ok(a.cmp(b)),
            (Self::Time(a), Self::Time(b)) | (Self::Duration(a), Self::Duration(b)) => Ok(a.cmp(b)),
            _ => {
                let numbers = self.numbers(other).ok_or(Failed)?;
                numbers.0.partial_cmp(&numbers.1).ok_or(Failed)
            }
        }
    }

    fn numbers(&self, other: &Self) -> Option<(f64, f64)> {
        Some((self.number()?, other.number()?))
    }

    fn number(&self) -> Option<f64> {
        match self {
            // A reader of decimals takes the nearest double, as the comparison with one demands.
            Self::Int(value) => value.to_string().parse().ok(),
            Self::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the value as JSON data, which moments and durations are not here.
    pub(super) fn into_attr(self) -> Result<Attr, Failed> {
        Ok(match self {
            Self::Null => Attr::Null,
            Self::Bool(value) => Attr::Bool(value),
            Self::Int(_) => Attr::Number(self.number().ok_or(Failed)?),
            Self::Double(value) => Attr::Number(value),
            Self::Text(text) => Attr::String(text.into()),
            Self::List(items) => {
                Attr::List(items.into_iter().map(Self::into_attr).collect::<Result<_, _>>()?)
            }
            Self::Map(map) => {
                let entry = |(name, value): (String, Self)| Ok((name.into(), value.into_attr()?));
                Attr::Map(map.into_iter().map(entry).collect::<Result<_, Failed>>()?)
            }
            Self::Time(..) | Self::Duration(_) | Self::Optional(_) | Self::Message(_) => {
                return Err(Failed);
            }
        })
    }
}

impl From<&Attr> for Value {
    fn from(attr: &Attr) -> Self {
        match attr {
            Attr::Null => Self::Null,
            Attr::Bool(value) => Self::Bool(*value),
            Attr::Number(value) => Self::Double(*value),
            Attr::String(text) => Self::text(text),
            Attr::List(items) => Self::List(items.iter().map(Self::from).collect()),
            Attr::Map(map) => Self::attributes(map),
        }
    }
}
