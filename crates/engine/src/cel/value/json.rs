//! A value as JSON data, for outputs.
//!
//! The mapping is that of `google.protobuf.Value` in cel-go: whole numbers that a double cannot
//! hold become strings, bytes become base64, moments and durations become their text.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;

use super::{Error, Key, Message, Value};
use crate::attr::{Attr, AttrMap};
use crate::cel::context::{Spent, spend};
use crate::cel::time;
use crate::limits::MAX_VALUE_DEPTH;
use crate::number::decimal;
use crate::number::{int_to_double, uint_to_double};

/// The largest whole number that JSON readers preserve exactly: 2^53 - 1.
const MAX_SAFE: u64 = (1 << 53) - 1;

impl<'a> Value<'a> {
    /// Returns the value as JSON data; pays for each part, and a step for 4 bytes of text, because
    /// a small value whose parts share others can be large when they are written out.
    ///
    /// # Errors
    ///
    /// The value is an error, has no JSON form, or the budget is spent.
    pub fn to_attr(&self, steps: &Cell<u32>) -> Result<Attr, Error<'a>> {
        to_attr(self, steps, MAX_VALUE_DEPTH)
    }
}

fn to_attr<'a>(value: &Value<'a>, steps: &Cell<u32>, depth: usize) -> Result<Attr, Error<'a>> {
    let deeper = depth.checked_sub(1).ok_or(Error::Limit)?;
    spend(steps, 2)?;
    Ok(match value {
        Value::Null => Attr::Null,
        Value::Bool(value) => Attr::Bool(*value),
        Value::Int(value) => whole(value.unsigned_abs(), int_to_double(*value), value),
        Value::Uint(value) => whole(*value, uint_to_double(*value), value),
        Value::Double(value) => {
            // The number is written as text.
            spend(steps, decimal::steps(*value))?;
            Attr::Number(*value)
        }
        Value::String(text) | Value::SpiffeId(text) | Value::SpiffeTrustDomain(text) => {
            written(steps, text.len())?;
            Attr::String(Box::from(&**text))
        }
        Value::Bytes(bytes) => {
            written(steps, bytes.len())?;
            string(base64(bytes))
        }
        Value::Timestamp(moment) => string(moment.to_string()),
        Value::Duration(nanos) => string(time::format_duration(*nanos)),
        Value::List(list) => {
            let mut items = Vec::with_capacity(list.len());
            for item in list.iter() {
                items.push(to_attr(&item, steps, deeper)?);
            }
            Attr::List(items)
        }
        Value::Map(map) => {
            spend(steps, STEPS_OF_A_MAP)?;
            let mut entries = Vec::with_capacity(map.len());
            for (key, item) in map.iter() {
                entries.push(entry(&key, &item, steps, deeper)?);
            }
            Attr::Map(entries.into_iter().collect())
        }
        Value::Message(message) => Attr::Map(fields(message, steps, deeper)?),
        Value::Optional(Some(inner)) => to_attr(inner, steps, deeper)?,
        Value::Optional(None) => return Err(Error::EMPTY_OPTIONAL),
        Value::Error(error) => return Err(error.clone()),
        _ => return Err(unsupported(value, "*structpb.Value")),
    })
}

/// Pays for a text: it is copied, and written with up to six bytes for one.
#[inline(never)]
fn written(steps: &Cell<u32>, bytes: usize) -> Result<(), Spent> {
    spend(steps, u32::try_from(bytes / 4).unwrap_or(u32::MAX))
}

fn entry<'a>(
    key: &Value<'a>,
    value: &Value<'a>,
    steps: &Cell<u32>,
    depth: usize,
) -> Result<(Box<str>, Attr), Error<'a>> {
    match Key::of(key) {
        Some(Key::String(name)) => {
            spend(steps, STEPS_OF_AN_ENTRY)?;
            written(steps, name.len())?;
            Ok((Box::from(&*name), to_attr(value, steps, depth)?))
        }
        _ => Err(unsupported(key, "string")),
    }
}

fn fields<'a>(
    message: &Message<'a>,
    steps: &Cell<u32>,
    depth: usize,
) -> Result<AttrMap, Error<'a>> {
    let mut entries = Vec::new();
    for (name, value) in message.fields() {
        entries.push((Box::from(name), to_attr(&value, steps, depth)?));
    }
    Ok(entries.into_iter().collect())
}

/// Steps charged for a map, and for each entry beside its value: each allocates memory.
const STEPS_OF_A_MAP: u32 = 8;
const STEPS_OF_AN_ENTRY: u32 = 4;

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

/// Returns base64 (RFC 4648, section 4) with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4_usize {
            let shift = [18, 12, 6, 0].get(digit).copied().unwrap_or(0);
            let position = usize::try_from(group >> shift & 63).unwrap_or(0);
            let symbol = DIGITS.get(position).copied().map_or('=', char::from);
            text.push(if digit <= chunk.len() { symbol } else { '=' });
        }
    }
    text
}
