//! The values that a schema checks, and their equality.

use super::keyword;
use super::node::pairs;
use super::number;
use super::walk::Walk;
use crate::attr::{Attr, AttrMap};
use crate::cel::pool::ConstTag;
use crate::limits::MAX_VALUE_DEPTH;

/// A value to check: an attribute, all attributes, or the name of one.
#[derive(Clone, Copy)]
pub(super) enum Json<'v> {
    Null,
    Bool(bool),
    Number(f64),
    String(&'v str),
    List(&'v [Attr]),
    Map(&'v AttrMap),
}

impl Json<'_> {
    pub(super) const fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::List(_) => "array",
            Self::Map(_) => "object",
        }
    }

    /// Returns the types that the value has; a whole number is an integer too.
    pub(super) fn type_bits(self) -> u32 {
        match self {
            Self::Null => keyword::NULL,
            Self::Bool(_) => keyword::BOOLEAN,
            Self::Number(value) if number::is_whole(value) => keyword::NUMBER | keyword::INTEGER,
            Self::Number(_) => keyword::NUMBER,
            Self::String(_) => keyword::STRING,
            Self::List(_) => keyword::ARRAY,
            Self::Map(_) => keyword::OBJECT,
        }
    }
}

impl<'v> From<&'v Attr> for Json<'v> {
    fn from(attr: &'v Attr) -> Self {
        match attr {
            Attr::Null => Self::Null,
            Attr::Bool(value) => Self::Bool(*value),
            Attr::Number(value) => Self::Number(*value),
            Attr::String(text) => Self::String(text),
            Attr::List(items) => Self::List(items),
            Attr::Map(map) => Self::Map(map),
        }
    }
}

impl Walk<'_> {
    /// Returns true if `value` is the constant `id`; `None` if there is no such constant.
    #[expect(clippy::float_cmp, reason = "a number in an enum is that very number")]
    pub(super) fn is_constant(&mut self, id: u32, value: Json<'_>, depth: usize) -> Option<bool> {
        let pool = self.schemas.pool;
        let words = pool.constants.get(usize::try_from(id).ok()?..)?;
        let (tag, rest) = words.split_first()?;
        let parts = |per: usize| {
            let (count, parts) = rest.split_first()?;
            parts.get(..usize::try_from(*count).ok()?.checked_mul(per)?)
        };
        if depth > MAX_VALUE_DEPTH {
            return None;
        }
        self.step()?;
        Some(match (ConstTag::from_code(*tag)?, value) {
            (ConstTag::Null, Json::Null)
            | (ConstTag::True, Json::Bool(true))
            | (ConstTag::False, Json::Bool(false)) => true,
            (ConstTag::Double, Json::Number(value)) => number::from_words(rest.get(..2)?)? == value,
            (ConstTag::String, Json::String(text)) => {
                self.is_same_text(pool.string(*rest.first()?)?, text)?
            }
            (ConstTag::List, Json::List(items)) => {
                let ids = parts(1)?;
                ids.len() == items.len()
                    && all(ids.iter().zip(items), |(id, item)| {
                        self.is_constant(*id, item.into(), depth + 1)
                    })?
            }
            (ConstTag::Map, Json::Map(map)) => {
                let entries = parts(2)?;
                entries.len() == map.entries().len().checked_mul(2)?
                    && all(pairs(entries).zip(map.entries()), |((key, id), (name, item))| {
                        Some(
                            self.is_constant(key, Json::String(name), depth + 1)?
                                && self.is_constant(id, item.into(), depth + 1)?,
                        )
                    })?
            }
            _ => false,
        })
    }

    /// Returns true if two attributes are equal. They nest as deep as the request does.
    #[expect(clippy::float_cmp, reason = "numbers are equal if they are the very same")]
    pub(super) fn is_same(&mut self, a: &Attr, b: &Attr, depth: usize) -> Option<bool> {
        if depth > MAX_VALUE_DEPTH {
            return None;
        }
        self.step()?;
        Some(match (a, b) {
            (Attr::Null, Attr::Null) => true,
            (Attr::Bool(a), Attr::Bool(b)) => a == b,
            (Attr::Number(a), Attr::Number(b)) => a == b,
            (Attr::String(a), Attr::String(b)) => self.is_same_text(a, b)?,
            (Attr::List(a), Attr::List(b)) => {
                a.len() == b.len() && all(a.iter().zip(b), |(a, b)| self.is_same(a, b, depth + 1))?
            }
            (Attr::Map(a), Attr::Map(b)) => {
                let (a, b) = (a.entries(), b.entries());
                a.len() == b.len()
                    && all(a.iter().zip(b), |((name, a), (other, b))| {
                        Some(self.is_same_text(name, other)? && self.is_same(a, b, depth + 1)?)
                    })?
            }
            _ => false,
        })
    }

    fn is_same_text(&mut self, a: &str, b: &str) -> Option<bool> {
        if a.len() != b.len() {
            return Some(false);
        }
        self.spend(a.len())?;
        Some(a == b)
    }
}

/// Returns true if all `items` hold, and stops at the first that does not.
fn all<T>(
    items: impl Iterator<Item = T>,
    mut holds: impl FnMut(T) -> Option<bool>,
) -> Option<bool> {
    for item in items {
        if !holds(item)? {
            return Some(false);
        }
    }
    Some(true)
}
