//! Constants of the policy table, read without copies.
//!
//! A constant of a type that its reader does not expect yields an error value;
//! [`crate::cel::validate`] has excluded that in an opened table.

use core::cell::Cell;

use super::{Bytes, Error, Key, List, Map, Str, Value};
use crate::cel::Pool;
use crate::cel::context::spend;
use crate::cel::pool::ConstTag;
use crate::cel::time::Timestamp;
use crate::limits::MAX_VALUE_DEPTH;

/// A constant that is read without a copy: a list, a map, a regular expression or a time zone.
#[derive(Clone, Copy)]
pub struct Constant<'a> {
    pool: &'a Pool<'a>,
    id: u32,
}

/// Returns constant `id` as a value.
#[must_use]
pub fn constant<'a>(pool: &'a Pool<'a>, id: u32) -> Value<'a> {
    read(pool, id, MAX_VALUE_DEPTH).unwrap_or(Value::Error(Error::Malformed))
}

/// Searches the time zone `name` among the constants of the table.
///
/// # Errors
///
/// The step budget is spent.
pub fn zone_constant<'a>(
    pool: &'a Pool<'a>,
    name: &str,
    steps: &Cell<u32>,
) -> Result<Option<Constant<'a>>, Error<'a>> {
    let mut rest = pool.constants;
    let mut id = 0;
    while let Some(size) = size_of_constant(rest) {
        spend(steps, 1)?;
        let position = Constant { pool, id };
        if rest.first() == Some(&ConstTag::Zone.code()) && position.name() == Some(name) {
            return Ok(Some(position));
        }
        rest = rest.get(size..).unwrap_or_default();
        id = id.saturating_add(u32::try_from(size).unwrap_or(u32::MAX));
    }
    Ok(None)
}

/// Returns the number of words of the constant at the start of `words`; `None` if there is none.
pub(crate) fn size_of_constant(words: &[u32]) -> Option<usize> {
    let count = |at: usize| words.get(at).and_then(|count| usize::try_from(*count).ok());
    match ConstTag::from_code(*words.first()?)? {
        ConstTag::Null | ConstTag::False | ConstTag::True | ConstTag::None => Some(1),
        ConstTag::String | ConstTag::Type | ConstTag::Some => Some(2),
        ConstTag::Int
        | ConstTag::Uint
        | ConstTag::Double
        | ConstTag::Bytes
        | ConstTag::Duration => Some(3),
        ConstTag::Timestamp => Some(4),
        ConstTag::List => count(1)?.checked_add(2),
        ConstTag::Map => count(1)?.checked_mul(2)?.checked_add(2),
        ConstTag::Regex | ConstTag::Zone => count(2)?.checked_add(3),
    }
}

impl<'a> Constant<'a> {
    /// Returns a reference to constant `id`, which is a list, a map, a regular expression or a time
    /// zone.
    #[must_use]
    pub const fn new(pool: &'a Pool<'a>, id: u32) -> Self {
        Self { pool, id }
    }

    /// Returns the constant's id.
    #[must_use]
    pub const fn id(self) -> u32 {
        self.id
    }

    /// Returns the number of elements or entries of a list or map.
    #[must_use]
    pub fn len(self) -> usize {
        self.word(1).and_then(|len| usize::try_from(len).ok()).unwrap_or(0)
    }

    /// Returns true if a list or map is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns element `at` of a list.
    #[must_use]
    pub fn element(self, at: usize) -> Option<Value<'a>> {
        if at >= self.len() {
            return None;
        }
        self.word(at.checked_add(2)?).map(|id| constant(self.pool, id))
    }

    /// Returns entry `at` of a map.
    #[must_use]
    pub fn entry(self, at: usize) -> Option<(Value<'a>, Value<'a>)> {
        if at >= self.len() {
            return None;
        }
        let first = at.checked_mul(2)?.checked_add(2)?;
        let value = self.word(first.checked_add(1)?)?;
        Some((constant(self.pool, self.word(first)?), constant(self.pool, value)))
    }

    /// Returns the value under `key` of a map.
    #[must_use]
    pub fn lookup(self, key: &Key<'a>) -> Option<Value<'a>> {
        (0..self.len()).find_map(|at| {
            let (found, value) = self.entry(at)?;
            (Key::of(&found).as_ref() == Some(key)).then_some(value)
        })
    }

    /// Returns the pattern of a regular expression or the name of a time zone.
    #[must_use]
    pub fn name(self) -> Option<&'a str> {
        self.pool.string(self.word(1)?)
    }

    /// Returns the words of a regular expression or a time zone.
    #[must_use]
    pub fn words(self) -> Option<&'a [u32]> {
        let start = usize::try_from(self.id).ok()?.checked_add(3)?;
        let len = usize::try_from(self.word(2)?).ok()?;
        self.pool.constants.get(start..start.checked_add(len)?)
    }

    fn word(self, at: usize) -> Option<u32> {
        word(self.pool, self.id, at)
    }
}

impl core::fmt::Debug for Constant<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "constant {}", self.id)
    }
}

fn word(pool: &Pool<'_>, id: u32, at: usize) -> Option<u32> {
    pool.constants.get(usize::try_from(id).ok()?.checked_add(at)?).copied()
}

fn read<'a>(pool: &'a Pool<'a>, id: u32, depth: usize) -> Option<Value<'a>> {
    let at = |offset| word(pool, id, offset);
    let position = Constant { pool, id };
    Some(match ConstTag::from_code(at(0)?)? {
        ConstTag::Null => Value::Null,
        ConstTag::False => Value::Bool(false),
        ConstTag::True => Value::Bool(true),
        ConstTag::Int => Value::Int(wide(at(1)?, at(2)?).cast_signed()),
        ConstTag::Uint => Value::Uint(wide(at(1)?, at(2)?)),
        ConstTag::Double => Value::Double(f64::from_bits(wide(at(1)?, at(2)?))),
        ConstTag::String => Value::String(Str::Borrowed(pool.string(at(1)?)?)),
        ConstTag::Bytes => Value::Bytes(Bytes::Borrowed(blob(pool, at(1)?, at(2)?)?)),
        ConstTag::List => Value::List(List::Constant(position)),
        ConstTag::Map => Value::Map(Map::Constant(position)),
        ConstTag::Timestamp => {
            Value::Timestamp(Timestamp::new(wide(at(1)?, at(2)?).cast_signed(), at(3)?)?)
        }
        ConstTag::Duration => Value::Duration(wide(at(1)?, at(2)?).cast_signed()),
        ConstTag::Type => Value::Type(pool.string(at(1)?)?),
        ConstTag::None => Value::none(),
        ConstTag::Some => Value::some(read(pool, at(1)?, depth.checked_sub(1)?)?),
        ConstTag::Regex => Value::Regex(position),
        ConstTag::Zone => Value::Zone(position),
    })
}

fn blob<'a>(pool: &Pool<'a>, start: u32, len: u32) -> Option<&'a [u8]> {
    let start = usize::try_from(start).ok()?;
    pool.blob.get(start..start.checked_add(usize::try_from(len).ok()?)?)
}

fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
