//! Conversions between types.
//!
//! A conversion that would lose the value's magnitude is an error; one that loses a fraction is
//! not.

use alloc::string::{String, ToString};

use super::network::address_text;
use crate::cel::context::{Context, spend};
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::time::{Timestamp, format_duration, parse_duration, parse_timestamp};
use crate::cel::value::{Bytes, Str, Value};
use crate::number;
use crate::number::decimal;
use crate::text::joined;

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    let [value] = args else { return Err(Error::NoSuchOverload) };
    if let Value::String(text) = value {
        context.charge_bytes(text.len())?;
    }
    match function {
        Function::Bool => to_bool(value),
        Function::Bytes => to_bytes(value),
        Function::Double => to_double(value),
        Function::Duration => to_duration(value),
        Function::Int => to_int(value),
        Function::String => to_string(value, context),
        Function::Timestamp => to_timestamp(value),
        Function::Uint => to_uint(value),
        _ => Err(Error::NoSuchOverload),
    }
}

fn to_bool<'a>(value: &Value<'a>) -> Answer<'a> {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(no_conversion(value, "bool")),
        },
        _ => Err(Error::NoSuchOverload),
    }
}

fn to_bytes<'a>(value: &Value<'a>) -> Answer<'a> {
    match value {
        Value::Bytes(_) => Ok(value.clone()),
        Value::String(Str::Borrowed(text)) => Ok(Value::Bytes(Bytes::Borrowed(text.as_bytes()))),
        Value::String(text) => Ok(Value::Bytes(Bytes::from(text.as_bytes().to_vec()))),
        _ => Err(Error::NoSuchOverload),
    }
}

fn to_double<'a>(value: &Value<'a>) -> Answer<'a> {
    match value {
        Value::Double(_) => Ok(value.clone()),
        Value::Int(value) => Ok(Value::Double(number::int_to_double(*value))),
        Value::Uint(value) => Ok(Value::Double(number::uint_to_double(*value))),
        Value::String(text) => number::parse_double(text)
            .map(Value::Double)
            .ok_or_else(|| no_conversion(value, "double")),
        _ => Err(Error::NoSuchOverload),
    }
}

fn to_duration<'a>(value: &Value<'a>) -> Answer<'a> {
    match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::String(text) => parse_duration(text)
            .map(Value::Duration)
            .ok_or_else(|| no_conversion(value, "google.protobuf.Duration")),
        _ => Err(Error::NoSuchOverload),
    }
}

fn to_int<'a>(value: &Value<'a>) -> Answer<'a> {
    let int = match value {
        Value::Int(_) => return Ok(value.clone()),
        Value::Uint(value) => i64::try_from(*value).ok(),
        Value::Double(value) => number::truncate_int(*value),
        Value::Timestamp(moment) => Some(moment.seconds()),
        Value::Duration(nanos) => Some(*nanos),
        Value::String(text) => {
            let parsed = number::parse_int(text);
            return parsed.map(Value::Int).ok_or_else(|| no_conversion(value, "int"));
        }
        _ => return Err(Error::NoSuchOverload),
    };
    int.map(Value::Int).ok_or(Error::INT_OVERFLOW)
}

fn to_uint<'a>(value: &Value<'a>) -> Answer<'a> {
    let uint = match value {
        Value::Uint(_) => return Ok(value.clone()),
        Value::Int(value) => u64::try_from(*value).ok(),
        Value::Double(value) => number::truncate_uint(*value),
        Value::String(text) => {
            let parsed = number::parse_uint(text);
            return parsed.map(Value::Uint).ok_or_else(|| no_conversion(value, "uint"));
        }
        _ => return Err(Error::NoSuchOverload),
    };
    uint.map(Value::Uint).ok_or(Error::UINT_OVERFLOW)
}

fn to_string<'a>(value: &Value<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    let text = match value {
        Value::String(text) | Value::SpiffeId(text) | Value::SpiffeTrustDomain(text) => {
            return Ok(Value::String(text.clone()));
        }
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => {
            spend(context.steps, decimal::steps(*value))?;
            number::double_text(*value)
        }
        Value::Bytes(bytes) => {
            context.charge_string(bytes.len())?;
            return text_of(bytes);
        }
        Value::Timestamp(moment) => moment.to_string(),
        Value::Duration(nanos) => format_duration(*nanos),
        Value::Ip(address) => address_text(*address),
        Value::Cidr(address, bits) => alloc::format!("{}/{bits}", address_text(*address)),
        Value::Hierarchy(segments) => {
            context.charge_string(segments.iter().map(|segment| segment.len() | 16).sum())?;
            joined(&mut segments.iter().map(|segment| &**segment), ".")
        }
        _ => return Err(Error::NoSuchOverload),
    };
    Ok(Value::string(text))
}

fn to_timestamp<'a>(value: &Value<'a>) -> Answer<'a> {
    match value {
        Value::Timestamp(_) => Ok(value.clone()),
        Value::Int(seconds) => {
            Timestamp::new(*seconds, 0).map(Value::Timestamp).ok_or(Error::TIMESTAMP_OVERFLOW)
        }
        Value::String(text) => parse_timestamp(text).map(Value::Timestamp),
        _ => Err(Error::NoSuchOverload),
    }
}

fn text_of<'a>(bytes: &Bytes<'a>) -> Answer<'a> {
    let invalid = || Error::Fixed("invalid UTF-8 in bytes, cannot convert to string");
    match bytes {
        Bytes::Borrowed(bytes) => {
            core::str::from_utf8(bytes).map(Value::string).map_err(|_| invalid())
        }
        Bytes::Owned(bytes) => {
            String::from_utf8(bytes.to_vec()).map(Value::string).map_err(|_| invalid())
        }
    }
}

fn no_conversion<'a>(value: &Value<'a>, to: &str) -> Error<'a> {
    Error::conversion(value.type_name(), to)
}
