//! Values of expressions that read nothing, as far as comparisons need them.

use std::cell::Cell;
use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Value;

use super::Outcomes;
use wardgate_compiler::cel::{Expr, constant};

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Folded {
    Null,
    Bool(bool),
    /// Every number that a double holds exactly; `1` and `1.0` are equal.
    Number(f64),
    Text(String),
    List(Vec<Self>),
    /// Anything else, about which nothing is concluded.
    Opaque,
}

impl Folded {
    /// Computes an expression that reads nothing but constants; nothing if it fails.
    pub(super) fn of(expr: &Expr, constants: &BTreeMap<String, Attr>) -> Option<Self> {
        let room = Cell::new(MAX_VALUES);
        constant(expr, constants, |value| {
            (value.error().is_none()).then(|| Self::from(&value, &room))
        })?
    }

    fn from(value: &Value<'_>, room: &Cell<u32>) -> Self {
        room.set(room.get().saturating_sub(1));
        if room.get() == 0 {
            return Self::Opaque;
        }
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => {
                i32::try_from(*value).map_or(Self::Opaque, |n| Self::Number(n.into()))
            }
            Value::Uint(value) => {
                u32::try_from(*value).map_or(Self::Opaque, |n| Self::Number(n.into()))
            }
            Value::Double(value) if value.is_finite() => Self::Number(*value),
            Value::String(text) => Self::Text((*text).to_string()),
            Value::List(list) => {
                Self::List(list.iter().map(|item| Self::from(&item, room)).collect())
            }
            _ => Self::Opaque,
        }
    }

    /// Returns the outcomes of the constant as a condition.
    pub(super) fn outcomes(&self) -> Outcomes {
        match self {
            Self::Bool(value) => Outcomes::known(*value),
            _ => Outcomes { other: true, ..Outcomes::default() },
        }
    }
}

/// Values of the largest list that is looked into.
const MAX_VALUES: u32 = 1_000;
