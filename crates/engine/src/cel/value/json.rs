//! A value as JSON data, for outputs.
//!
//! Follows the mapping of `google.protobuf.Value` that cel-go uses: whole numbers that a double
//! cannot hold become strings, bytes become base64, moments and durations become their text.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Error, Key, Message, Value};
use crate::attr::{Attr, AttrMap};
use crate::cel::number::{int_to_double, uint_to_double};
use crate::cel::time;
use crate::limits::MAX_VALUE_DEPTH;

/// The largest whole number that JSON readers keep exact: 2^53 - 1.
const MAX_SAFE: u64 = (1 << 53) - 1;

impl<'a> Value<'a> {
    /// Returns the value as JSON data.
    ///
    /// # Errors
    ///
    /// The value is an error, or has no JSON form.
    pub fn to_attr(&self) -> Result<Attr, Error<'a>> {
        to_attr(self, MAX_VALUE_DEPTH)
    }
}

fn to_attr<'a>(value: &Value<'a>, depth: usize) -> Result<Attr, Error<'a>> {
    let deeper = depth.checked_sub(1).ok_or(Error::Limit)?;
    Ok(match value {
        Value::Null => Attr::Null,
        Value::Bool(value) => Attr::Bool(*value),
        Value::Int(value) => whole(value.unsigned_abs(), int_to_double(*value), value),
        Value::Uint(value) => whole(*value, uint_to_double(*value), value),
        Value::Double(value) => Attr::Number(*value),
        Value::String(text) | Value::SpiffeId(text) | Value::SpiffeTrustDomain(text) => {
            Attr::String(Box::from(&**text))
        }
        Value::Bytes(bytes) => string(base64(bytes)),
        Value::Timestamp(moment) => string(moment.to_string()),
        Value::Duration(nanos) => string(time::format_duration(*nanos)),
        Value::List(list) => {
            Attr::List(list.iter().map(|item| to_attr(&item, deeper)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(key, item)| entry(&key, &item, deeper));
            Attr::Map(entries.collect::<Result<Vec<_>, _>>()?.into_iter().collect())
        }
        Value::Message(message) => Attr::Map(fields(message, deeper)?),
        Value::Optional(Some(inner)) => to_attr(inner, deeper)?,
        Value::Optional(None) => return Err(Error::EMPTY_OPTIONAL),
        Value::Error(error) => return Err(error.clone()),
        _ => return Err(unsupported(value, "*structpb.Value")),
    })
}

fn entry<'a>(
    key: &Value<'a>,
    value: &Value<'a>,
    depth: usize,
) -> Result<(Box<str>, Attr), Error<'a>> {
    match Key::of(key) {
        Some(Key::String(name)) => Ok((Box::from(&*name), to_attr(value, depth)?)),
        _ => Err(unsupported(key, "string")),
    }
}

fn fields<'a>(message: &Message<'a>, depth: usize) -> Result<AttrMap, Error<'a>> {
    let entries =
        message.fields().map(|(name, value)| Ok((Box::from(name), to_attr(&value, depth)?)));
    Ok(entries.collect::<Result<Vec<_>, _>>()?.into_iter().collect())
}

fn unsupported<'a>(value: &Value<'a>, target: &str) -> Error<'a> {
    let from = value.type_name();
    Error::text(format_args!("unsupported type conversion from '{from}' to {target}"))
}

fn whole(magnitude: u64, number: f64, text: &dyn ToString) -> Attr {
    if magnitude <= MAX_SAFE { Attr::Number(number) } else { string(text.to_string()) }
}

fn string(text: String) -> Attr {
    Attr::String(text.into_boxed_str())
}

/// RFC 4648, section 4, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4_usize {
            let shift = [18, 12, 6, 0].get(digit).copied().unwrap_or(0);
            let place = usize::try_from(group >> shift & 63).unwrap_or(0);
            let symbol = DIGITS.get(place).copied().map_or('=', char::from);
            text.push(if digit <= chunk.len() { symbol } else { '=' });
        }
    }
    text
}
