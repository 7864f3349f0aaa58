//! Ranges: the atoms of one type between two bounds.
//!
//! Atoms are compared by the type of the range and never as text (section 5.3.3 of the draft). An
//! atom belongs to a range if it is a value of the type. Numbers and IPv4 addresses have one
//! spelling each, so `010` is in no range; moments, times of day and IPv6 addresses may be spelled
//! in any way that their standards allow.

mod moment;
#[cfg(test)]
mod tests;
mod value;

use alloc::vec::Vec;
use core::cmp::Ordering;

pub(crate) use value::Value;

use crate::error::Kind;
use crate::write::atom;

/// The atoms of one type between two bounds; at least two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    kind: Type,
    low: Option<Bound>,
    high: Option<Bound>,
}

/// The types of section 5.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// Octets, in the order of their values.
    Alpha,
    /// Whole numbers from 0 to 4,294,967,295.
    Numeric,
    /// Moments (RFC 3339).
    Date,
    /// Times of day (RFC 3339, `partial-time`).
    Time,
    /// IPv4 addresses.
    Ipv4,
    /// IPv6 addresses (RFC 4291).
    Ipv6,
}

/// One end of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) value: Value,
    pub(crate) inclusive: bool,
}

/// An argument of covering: one value, or a range of the same type.
pub(crate) enum Probe<'p> {
    /// A value of the type `alpha`, borrowed.
    Text(&'p [u8]),
    /// A value of another type.
    Value(Value),
    /// A range.
    Range(&'p Range),
}

impl<'p> Probe<'p> {
    /// Reads an atom; returns `None` if it is no value of the type.
    pub(crate) fn of_atom(kind: Type, atom: &'p [u8]) -> Option<Self> {
        if kind == Type::Alpha {
            return Some(Self::Text(atom));
        }
        Value::of_atom(kind, atom).map(Self::Value)
    }
}

impl Range {
    /// Reads the words after `range`: a type, and up to two relations with their constants.
    pub(crate) fn read(words: &[&[u8]]) -> Result<Self, Kind> {
        let (name, mut rest) = words.split_first().ok_or(Kind::RangeType)?;
        let kind = Type::named(name).ok_or(Kind::RangeType)?;
        let (mut low, mut high) = (None, None);
        while let [relation, more @ ..] = rest {
            let (side, inclusive) = match *relation {
                b"gt" => (&mut low, false),
                b"ge" => (&mut low, true),
                b"lt" => (&mut high, false),
                b"le" => (&mut high, true),
                _ => return Err(Kind::Relation),
            };
            let (constant, more) = more.split_first().ok_or(Kind::Constant)?;
            let value = Value::constant(kind, constant).ok_or(Kind::Constant)?;
            if side.replace(Bound { value, inclusive }).is_some() {
                return Err(Kind::Relation);
            }
            rest = more;
        }
        let range = Self::between(kind, low, high).ok_or(Kind::NarrowRange)?;
        if range.single().is_some() { Err(Kind::NarrowRange) } else { Ok(range) }
    }

    /// Returns the range of one value.
    pub(crate) fn of(kind: Type, value: Value) -> Self {
        let bound = |bound: Bound, is_implied: bool| Some(bound).filter(|_| !is_implied);
        let low = bound(value.clone().into(), value.is_least());
        let high = bound(value.clone().into(), value.is_greatest());
        Self { kind, low, high }
    }

    /// Makes a range, with the bounds of whole numbers written as `ge` and `le`; returns `None` if
    /// it is empty.
    fn between(kind: Type, low: Option<Bound>, high: Option<Bound>) -> Option<Self> {
        let low = match low {
            Some(Bound { value, inclusive: false }) if value.is_whole() => {
                Some(value.next()?.into())
            }
            low => low,
        };
        let high = match high {
            Some(Bound { value, inclusive: false }) if value.is_whole() => {
                Some(value.previous()?.into())
            }
            high => high,
        };
        let low = low.filter(|bound| !(bound.inclusive && bound.value.is_least()));
        let high = high.filter(|bound| !(bound.inclusive && bound.value.is_greatest()));
        let range = Self { kind, low, high };
        (!range.is_empty()).then_some(range)
    }

    /// Returns the type of the values.
    #[must_use]
    pub const fn kind(&self) -> Type {
        self.kind
    }

    /// Returns true if an atom is a value of the range.
    #[must_use]
    pub fn holds(&self, atom: &[u8]) -> bool {
        Probe::of_atom(self.kind, atom)
            .is_some_and(|probe| self.begins_before(&probe) && self.ends_after(&probe))
    }

    /// Returns true if a value of the type lies between the bounds.
    pub(crate) fn has(&self, value: &Value) -> bool {
        self.low.as_ref().is_none_or(|low| low.allows_above(value, true))
            && self.high.as_ref().is_none_or(|high| high.allows_below(value, true))
    }

    /// Returns true if every value of the other range is a value of this one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let probe = Probe::Range(other);
        self.kind == other.kind && self.begins_before(&probe) && self.ends_after(&probe)
    }

    /// Returns true if this range begins no later than the probe, which has the same type.
    pub(crate) fn begins_before(&self, probe: &Probe<'_>) -> bool {
        let Some(low) = &self.low else { return true };
        match probe {
            Probe::Text(text) => low.value.compare(text).is_some_and(|order| low.is_below(order)),
            Probe::Value(value) => low.allows_above(value, true),
            Probe::Range(Self { low: Some(inner), .. }) => {
                low.allows_above(&inner.value, inner.inclusive)
            }
            Probe::Range(Self { low: None, .. }) => false,
        }
    }

    /// Returns true if this range ends no earlier than the probe, which has the same type.
    pub(crate) fn ends_after(&self, probe: &Probe<'_>) -> bool {
        let Some(high) = &self.high else { return true };
        match probe {
            Probe::Text(text) => {
                high.value.compare(text).is_some_and(|order| high.is_below(order.reverse()))
            }
            Probe::Value(value) => high.allows_below(value, true),
            Probe::Range(Self { high: Some(inner), .. }) => {
                high.allows_below(&inner.value, inner.inclusive)
            }
            Probe::Range(Self { high: None, .. }) => false,
        }
    }

    /// Returns the sort key of the lower bound: no bound first, then by value, inclusive bounds
    /// first.
    pub(crate) fn begin(&self) -> (Option<&Value>, bool) {
        self.low.as_ref().map_or((None, false), |low| (Some(&low.value), !low.inclusive))
    }

    /// Returns the sort key of the upper bound: no bound last, the others by value, inclusive
    /// bounds last.
    pub(crate) fn end(&self) -> (bool, Option<&Value>, bool) {
        let high = self.high.as_ref();
        (high.is_none(), high.map(|high| &high.value), high.is_some_and(|high| high.inclusive))
    }

    /// Compares ranges of one type by their beginning, then by their end; only the same range is
    /// equal.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.begin().cmp(&other.begin()).then_with(|| self.end().cmp(&other.end()))
    }

    /// Joins a range that begins no earlier, if no value lies between the two; returns true if it
    /// did.
    pub(crate) fn join(&mut self, later: &Self) -> bool {
        let Some(end) = &self.high else { return true };
        let touches = later.low.as_ref().is_none_or(|begin| match begin.value.cmp(&end.value) {
            Ordering::Less => true,
            Ordering::Equal => begin.inclusive || end.inclusive,
            Ordering::Greater => end.value.next().as_ref() == Some(&begin.value),
        });
        if touches && later.ends_beyond(end) {
            self.high.clone_from(&later.high);
        }
        touches
    }

    fn ends_beyond(&self, end: &Bound) -> bool {
        self.high
            .as_ref()
            .is_none_or(|high| (&high.value, high.inclusive) > (&end.value, end.inclusive))
    }

    /// Returns the value of a range that has only one.
    pub(crate) fn single(&self) -> Option<&Value> {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) if low.value == high.value => Some(&low.value),
            // For the least number, or the greatest, the bound on the other side is implied.
            (None, Some(high)) if high.value.is_least() => Some(&high.value),
            (Some(low), None) if low.value.is_greatest() => Some(&low.value),
            _ => None,
        }
    }

    fn is_empty(&self) -> bool {
        let (Some(low), Some(high)) = (&self.low, &self.high) else { return false };
        low.value > high.value || low.value == high.value && !(low.inclusive && high.inclusive)
    }

    /// Writes the range in canonical form, the same text for the same values.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"(1:*5:range");
        atom(self.kind.name(), out);
        for (bound, inclusive, exclusive) in [(&self.low, b"ge", b"gt"), (&self.high, b"le", b"lt")]
        {
            if let Some(bound) = bound {
                atom(if bound.inclusive { inclusive } else { exclusive }, out);
                atom(&bound.value.text(), out);
            }
        }
        out.push(b')');
    }
}

impl Bound {
    /// Returns true if a value that compares with this lower bound as `order` lies above it.
    fn is_below(&self, order: Ordering) -> bool {
        order.is_lt() || order.is_eq() && self.inclusive
    }

    /// Returns true if a range that begins with `value` stays above this lower bound.
    fn allows_above(&self, value: &Value, inclusive: bool) -> bool {
        *value > self.value || *value == self.value && (self.inclusive || !inclusive)
    }

    /// Returns true if a range that ends with `value` stays below this upper bound.
    fn allows_below(&self, value: &Value, inclusive: bool) -> bool {
        *value < self.value || *value == self.value && (self.inclusive || !inclusive)
    }
}

impl From<Value> for Bound {
    fn from(value: Value) -> Self {
        Self { value, inclusive: true }
    }
}

impl Type {
    /// Every type.
    pub const ALL: [Self; 6] =
        [Self::Alpha, Self::Numeric, Self::Date, Self::Time, Self::Ipv4, Self::Ipv6];

    /// Returns the index of the type among all.
    pub(crate) fn position(self) -> usize {
        Self::ALL.iter().position(|kind| *kind == self).unwrap_or_default()
    }

    fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    const fn name(self) -> &'static [u8] {
        match self {
            Self::Alpha => b"alpha",
            Self::Numeric => b"numeric",
            Self::Date => b"date",
            Self::Time => b"time",
            Self::Ipv4 => b"ipv4",
            Self::Ipv6 => b"ipv6",
        }
    }

    /// Returns true if each value of the type has one spelling, so that an atom equals its value.
    pub(crate) const fn has_one_spelling(self) -> bool {
        matches!(self, Self::Alpha | Self::Numeric | Self::Ipv4)
    }
}
