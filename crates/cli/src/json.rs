//! JSON, read strictly: no member twice, a bounded depth, a bounded number of values.
//!
//! Numbers are doubles, as in the Cerbos API. Of two members with one name readers keep different
//! ones, so that a policy could see another value than the program that asked; neither is taken.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use wardgate_engine::attr::Attr;
use wardgate_engine::limits::MAX_REQUEST_VALUES;

use crate::limits::MAX_REQUEST_DEPTH;

/// One whole JSON value.
pub(crate) struct Document(pub(crate) Attr);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let left = Cell::new(MAX_REQUEST_VALUES);
        Nested { depth: 0, left: &left }.deserialize(deserializer).map(Document)
    }
}

/// A value at some depth.
#[derive(Clone, Copy)]
struct Nested<'c> {
    depth: usize,
    left: &'c Cell<usize>,
}

impl Nested<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_REQUEST_DEPTH {
            return Err(E::custom(format!("nested more than {MAX_REQUEST_DEPTH} levels deep")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Nested<'_> {
    type Value = Attr;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Attr, D::Error> {
        let left = self.left.get().checked_sub(1);
        let too_many = || D::Error::custom(format!("more than {MAX_REQUEST_VALUES} values"));
        self.left.set(left.ok_or_else(too_many)?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested<'_> {
    type Value = Attr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Attr, E> {
        Ok(Attr::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Attr, E> {
        Ok(Attr::Bool(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Attr, E> {
        Ok(Attr::Number(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Attr, E> {
        Ok(Attr::Number(nearest(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Attr, E> {
        let magnitude = nearest(value.unsigned_abs());
        Ok(Attr::Number(if value < 0 { -magnitude } else { magnitude }))
    }

    fn visit_str<E>(self, value: &str) -> Result<Attr, E> {
        Ok(Attr::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Attr, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Attr::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Attr, A::Error> {
        let inner = self.deeper()?;
        let mut map = BTreeMap::new();
        while let Some(name) = members.next_key::<Box<str>>()? {
            if map.contains_key(&name) {
                return Err(A::Error::custom(format!("duplicate member `{name}`")));
            }
            map.insert(name, members.next_value_seed(inner)?);
        }
        Ok(Attr::Map(map.into_iter().collect()))
    }
}

#[expect(clippy::as_conversions, reason = "rounds to the nearest double, which is what is wanted")]
fn nearest(value: u64) -> f64 {
    value as f64
}

/// Returns the reader's message without the place that it appends: the caller knows a better one.
pub(crate) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&position).unwrap_or(&text) {
        "expected value" | "expected ident" => {
            "expected `{`, `[`, text between double quotes, a number, `true`, `false` or `null`"
                .to_owned()
        }
        "key must be a string" => "expected the name of a member, between double quotes".to_owned(),
        "trailing characters" => "expected the end of the input".to_owned(),
        other => other.replace("EOF while parsing", "the input ends in"),
    }
}
