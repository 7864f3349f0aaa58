//! CEL values and types as the corpora write them.
//!
//! Two data are the same only if their CEL types are: `1`, `1u` and `1.0` differ. NaN is the same
//! as NaN, because a test names the value that it expects, not the result of `==`.

use std::fmt;

use serde_json::{Map, Value as Json};
use wardgate_compiler::cel::Type;

use crate::conformance::vectors::unhex;

/// A CEL value, written down.
#[derive(Clone, Debug)]
pub enum Datum {
    /// `null`.
    Null,
    /// `bool`.
    Bool(bool),
    /// `int`.
    Int(i64),
    /// `uint`.
    Uint(u64),
    /// `double`.
    Double(f64),
    /// `string`.
    String(String),
    /// `bytes`.
    Bytes(Vec<u8>),
    /// `list`.
    List(Vec<Datum>),
    /// `map`, its entries in any order.
    Map(Vec<(Datum, Datum)>),
    /// A type value, by name.
    Type(String),
    /// A value that the corpora cannot write down, as text; different from all others.
    Other(String),
}

impl Datum {
    /// Reads a tagged value such as `{"int64": "1"}`.
    ///
    /// # Errors
    /// If the tag is unknown or the payload does not fit it.
    pub fn from_json(json: &Json) -> Result<Self, String> {
        let bad = || format!("not a tagged value: {json}");
        let (tag, payload) = single(json).ok_or_else(bad)?;
        match tag {
            "null" => Ok(Self::Null),
            "bool" => payload.as_bool().map(Self::Bool).ok_or_else(bad),
            "int64" => number(payload).map(Self::Int).ok_or_else(bad),
            "uint64" => number(payload).map(Self::Uint).ok_or_else(bad),
            "double" => number(payload).map(Self::Double).ok_or_else(bad),
            "string" => payload.as_str().map(|text| Self::String(text.to_owned())).ok_or_else(bad),
            "bytes" => payload.as_str().and_then(unhex).map(Self::Bytes).ok_or_else(bad),
            "type" => payload.as_str().map(|text| Self::Type(text.to_owned())).ok_or_else(bad),
            "list" => each(payload, Self::from_json).ok_or_else(bad)?.map(Self::List),
            "map" => each(payload, entry).ok_or_else(bad)?.map(Self::Map),
            _ => Err(bad()),
        }
    }

    /// Returns true if both are the same value of the same type.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Uint(a), Self::Uint(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a == b || a.is_nan() && b.is_nan(),
            (Self::String(a), Self::String(b)) | (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().all(|entry| holds(b, entry))
            }
            _ => false,
        }
    }
}

impl fmt::Display for Datum {
    /// Writes the value so that its type shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}u"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::String(value) => write!(f, "{value:?}"),
            Self::Bytes(value) => write!(f, "b\"{}\"", value.escape_ascii()),
            Self::List(items) => {
                f.write_str("[")?;
                separated(f, items, |f, item| write!(f, "{item}"))?;
                f.write_str("]")
            }
            Self::Map(entries) => {
                f.write_str("{")?;
                separated(f, entries, |f, (key, value)| write!(f, "{key}: {value}"))?;
                f.write_str("}")
            }
            Self::Type(name) => write!(f, "type {name}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// Reads a type such as `{"list_type": {"elem_type": {"primitive": "INT64"}}}`.
///
/// # Errors
/// If there is no such type.
pub fn type_from_json(json: &Json) -> Result<Type, String> {
    let bad = || format!("not a type: {json}");
    let (tag, payload) = single(json).ok_or_else(bad)?;
    let part = |key: &str| type_from_json(payload.get(key).unwrap_or(&Json::Null));
    match tag {
        "dyn" => Ok(Type::Dyn),
        "null" => Ok(Type::Null),
        "primitive" => primitive(payload).ok_or_else(bad),
        "wrapper" => primitive(payload).map(|inner| Type::Wrapper(Box::new(inner))).ok_or_else(bad),
        "well_known" => well_known(payload).ok_or_else(bad),
        "message_type" => {
            payload.as_str().map(|name| Type::Message(name.to_owned())).ok_or_else(bad)
        }
        "type_param" => payload.as_str().map(|name| Type::Param(name.to_owned())).ok_or_else(bad),
        "type" => Ok(Type::Type(type_from_json(payload).ok().map(Box::new))),
        "list_type" => Ok(Type::list(part("elem_type")?)),
        "map_type" => Ok(Type::map(part("key_type")?, part("value_type")?)),
        "abstract_type" => abstract_type(payload).ok_or_else(bad)?,
        _ => Err(bad()),
    }
}

/// Reads one value or a list of them: the corpora write a list of one as its element.
#[must_use]
pub fn one_or_many(json: Option<&Json>) -> Vec<&Json> {
    match json {
        None => Vec::new(),
        Some(Json::Array(items)) => items.iter().collect(),
        Some(one) => vec![one],
    }
}

fn abstract_type(json: &Json) -> Option<Result<Type, String>> {
    let name = json.get("name")?.as_str()?.to_owned();
    let parts = one_or_many(json.get("parameter_types")).into_iter().map(type_from_json);
    Some(parts.collect::<Result<_, _>>().map(|parts| Type::Opaque(name, parts)))
}

fn primitive(json: &Json) -> Option<Type> {
    Some(match json.as_str()? {
        "BOOL" => Type::Bool,
        "INT64" => Type::Int,
        "UINT64" => Type::Uint,
        "DOUBLE" => Type::Double,
        "STRING" => Type::String,
        "BYTES" => Type::Bytes,
        _ => return None,
    })
}

fn well_known(json: &Json) -> Option<Type> {
    Some(match json.as_str()? {
        "ANY" => Type::Dyn,
        "TIMESTAMP" => Type::Timestamp,
        "DURATION" => Type::Duration,
        _ => return None,
    })
}

fn single(json: &Json) -> Option<(&str, &Json)> {
    let object: &Map<String, Json> = json.as_object().filter(|object| object.len() == 1)?;
    object.iter().next().map(|(tag, payload)| (tag.as_str(), payload))
}

fn number<T: std::str::FromStr>(json: &Json) -> Option<T> {
    match json {
        Json::String(text) => text.parse().ok(),
        other => other.to_string().parse().ok(),
    }
}

fn each<T>(
    list: &Json,
    read: impl Fn(&Json) -> Result<T, String>,
) -> Option<Result<Vec<T>, String>> {
    Some(list.as_array()?.iter().map(read).collect())
}

fn entry(json: &Json) -> Result<(Datum, Datum), String> {
    match json.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((Datum::from_json(key)?, Datum::from_json(value)?)),
        _ => Err(format!("not a map entry: {json}")),
    }
}

fn holds(entries: &[(Datum, Datum)], (key, value): &(Datum, Datum)) -> bool {
    entries.iter().any(|(k, v)| k.same(key) && v.same(value))
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write(f, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Datum, type_from_json};

    #[test]
    fn values_show_their_type() {
        let check = |json, expected: &str| {
            assert_eq!(Datum::from_json(&json).unwrap().to_string(), expected);
        };
        check(json!({"int64": "-9223372036854775808"}), "-9223372036854775808");
        check(json!({"uint64": "18446744073709551615"}), "18446744073709551615u");
        check(json!({"double": "1"}), "1.0");
        check(json!({"double": "-inf"}), "-inf");
        check(json!({"bytes": "00ff41"}), "b\"\\x00\\xffA\"");
        check(json!({"list": [{"null": null}, {"string": "a"}]}), "[null, \"a\"]");
        check(json!({"map": [[{"bool": true}, {"type": "list"}]]}), "{true: type list}");
        assert!(Datum::from_json(&json!({"int64": "x"})).is_err());
        assert!(Datum::from_json(&json!({"object": {}})).is_err());
    }

    #[test]
    fn sameness_is_by_type_and_nan_is_itself() {
        let same = |a, b| Datum::from_json(&a).unwrap().same(&Datum::from_json(&b).unwrap());
        assert!(same(json!({"double": "nan"}), json!({"double": "NaN"})));
        assert!(!same(json!({"int64": "1"}), json!({"uint64": "1"})));
        assert!(!same(json!({"int64": "1"}), json!({"double": "1"})));
        let map =
            |a, b| json!({"map": [[{"int64": a}, {"null": null}], [{"int64": b}, {"null": null}]]});
        assert!(same(map("1", "2"), map("2", "1")));
        assert!(!same(map("1", "2"), map("2", "3")));
    }

    #[test]
    fn types_are_written_as_in_cel() {
        let check = |json, expected: &str| {
            assert_eq!(type_from_json(&json).unwrap().to_string(), expected);
        };
        check(json!({"list_type": {"elem_type": {"primitive": "INT64"}}}), "list(int)");
        check(
            json!({"map_type": {"key_type": {"primitive": "STRING"}, "value_type": {"dyn": {}}}}),
            "map(string, dyn)",
        );
        check(
            json!({"abstract_type": {"name": "optional_type", "parameter_types": {"primitive": "INT64"}}}),
            "optional_type(int)",
        );
        check(json!({"null": "NULL_VALUE"}), "null");
    }
}
