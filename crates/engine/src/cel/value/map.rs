//! Maps, in any of their forms in memory.
//!
//! Keys may be of several types; `1`, `1u` and `1.0` are one key. Iteration follows the order of
//! insertion (of a request's map: the order of the keys), so no result depends on hashing.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{Constant, Str, Value};
use crate::attr::AttrMap;
use crate::number;
use crate::order;

/// A map of values.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// An object of the request.
    Attrs(&'a AttrMap),
    /// A map of the policy table.
    Constant(Constant<'a>),
    /// Built by an expression.
    Owned(Rc<OwnedMap<'a>>),
}

/// A map that an expression built.
#[derive(Clone, Debug, Default)]
pub struct OwnedMap<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    // INVARIANT: each position in `entries` is in one of the two, which are sorted by the keys. New
    // ones go to `recent`, so that a map of n entries moves n * sqrt(n) positions at worst and not
    // n * n. A `BTreeMap` would be 17 KB of code in every page.
    sorted: Vec<usize>,
    recent: Vec<usize>,
    /// The depth of owned values in it: see [`Value::nesting`].
    nesting: usize,
}

/// A map key in the form by which keys are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    /// A truth value.
    Bool(bool),
    /// A number that fits an `int`, whatever its type.
    Int(i64),
    /// A number beyond every `int`.
    Uint(u64),
    /// Text.
    String(Str<'a>),
}

impl<'a> Map<'a> {
    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Attrs(map) => map.entries().len(),
            Self::Constant(map) => map.len(),
            Self::Owned(map) => map.entries.len(),
        }
    }

    /// Returns true if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value under `key`.
    #[must_use]
    pub fn get(&self, key: &Value<'a>) -> Option<Value<'a>> {
        match self {
            Self::Attrs(map) => map.get(key.as_str()?).map(Value::from),
            Self::Constant(map) => map.lookup(&Key::of(key)?),
            Self::Owned(map) => map.get(&Key::of(key)?).cloned(),
        }
    }

    /// Returns the value under the string `key`.
    #[must_use]
    pub fn field(&self, key: &'a str) -> Option<Value<'a>> {
        match self {
            Self::Attrs(map) => map.get(key).map(Value::from),
            Self::Constant(map) => map.lookup(&Key::String(Str::Borrowed(key))),
            Self::Owned(map) => map.get(&Key::String(Str::Borrowed(key))).cloned(),
        }
    }

    /// Returns entry `at`.
    #[must_use]
    pub fn entry(&self, at: usize) -> Option<(Value<'a>, Value<'a>)> {
        match self {
            Self::Attrs(map) => map
                .entries()
                .get(at)
                .map(|(key, value)| (Value::String(Str::Borrowed(key)), Value::from(value))),
            Self::Constant(map) => map.entry(at),
            Self::Owned(map) => map.entries.get(at).cloned(),
        }
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + '_ {
        (0..self.len()).filter_map(|at| self.entry(at))
    }
}

impl<'a> OwnedMap<'a> {
    /// Returns the depth of owned values in the map.
    pub(super) const fn nesting(&self) -> usize {
        self.nesting
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value under `key`.
    #[must_use]
    pub fn get(&self, key: &Key<'a>) -> Option<&Value<'a>> {
        let find = |positions: &[usize]| {
            self.search(positions, key).ok().and_then(|at| positions.get(at)).copied()
        };
        let position = find(&self.sorted).or_else(|| find(&self.recent))?;
        self.entries.get(position).map(|(_, value)| value)
    }

    /// Appends an entry; returns `false`, and changes nothing, if the key is present or is of a
    /// type that cannot be a key.
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> bool {
        let Some(position) = Key::of(&key) else { return false };
        if self.search(&self.sorted, &position).is_ok() {
            return false;
        }
        let Err(at) = self.search(&self.recent, &position) else { return false };
        self.recent.insert(at, self.entries.len());
        self.nesting = self.nesting.max(value.nesting());
        self.entries.push((key, value));
        if self.recent.len() >= MAX_RECENT {
            self.settle();
        }
        true
    }

    /// Returns the index of `key` in `positions`, or the index at which to insert it.
    fn search(&self, positions: &[usize], key: &Key<'a>) -> Result<usize, usize> {
        positions.binary_search_by(|&position| self.key(position).as_ref().cmp(&Some(key)))
    }

    fn key(&self, position: usize) -> Option<Key<'a>> {
        self.entries.get(position).and_then(|(key, _)| Key::of(key))
    }

    fn settle(&mut self) {
        let mut merged = Vec::with_capacity(self.entries.len());
        let compare = |a, b| -> Ordering { self.key(a).cmp(&self.key(b)) };
        order::merge(&self.sorted, &self.recent, &compare, &mut merged);
        self.sorted = merged;
        self.recent.clear();
    }
}

impl<'a> Key<'a> {
    /// Returns the key of `value`; `None` for a type that cannot be one. Of doubles only whole ones
    /// can equal a key.
    #[must_use]
    pub fn of(value: &Value<'a>) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::Uint(value) => Some(Self::from_uint(*value)),
            Value::Double(value) => match number::exact_int(*value) {
                Some(int) => Some(Self::Int(int)),
                None => number::exact_uint(*value).map(Self::Uint),
            },
            Value::String(text) => Some(Self::String(text.clone())),
            _ => None,
        }
    }

    fn from_uint(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Uint(value), Self::Int)
    }
}

/// A few times the root of the largest map: moving positions costs less than merging them.
const MAX_RECENT: usize = 1024;
