//! `json.encode`: a value as compact JSON with sorted keys.
//!
//! Layout, escapes and numbers are those of Go's `encoding/json`, so the text is the same as
//! Cerbos's: `<`, `>` and `&` are escaped, and so are the two line separators of Unicode.

use alloc::format;
use alloc::string::String;

use crate::attr::Attr;
use crate::cel::context::{Context, spend};
use crate::cel::error::{Answer, Error};
use crate::cel::value::Value;
use crate::limits::MAX_STRING_BYTES;
use crate::number::decimal;
use crate::text::push_digits;

/// Writes `value` as JSON, or returns an error if it has no such form.
pub(super) fn encode<'a>(value: &Value<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    let mut text = String::new();
    write(&value.to_attr(context.steps)?, &mut text, context)?;
    Ok(Value::string(text))
}

// The conversion to `attr` bounds its depth.
fn write<'a>(attr: &Attr, out: &mut String, context: &Context<'a, '_>) -> Result<(), Error<'a>> {
    context.charge(1)?;
    match attr {
        Attr::Null => out.push_str("null"),
        Attr::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Attr::Number(number) => out.push_str(&number_text(*number, context)?),
        Attr::String(text) => write_string(text, out, context)?,
        Attr::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(item, out, context)?;
            }
            out.push(']');
        }
        Attr::Map(map) => {
            out.push('{');
            for (at, (key, item)) in map.entries().iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write_string(key, out, context)?;
                out.push(':');
                write(item, out, context)?;
            }
            out.push('}');
        }
    }
    if out.len() > MAX_STRING_BYTES { Err(Error::Limit) } else { Ok(()) }
}

fn number_text<'a>(number: f64, context: &Context<'a, '_>) -> Result<String, Error<'a>> {
    if !number.is_finite() {
        let name = if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "+Inf"
        } else {
            "-Inf"
        };
        return Err(Error::text(format_args!(
            "proto: google.protobuf.Value.number_value: invalid {name} value"
        )));
    }
    spend(context.steps, decimal::steps(number))?;
    let magnitude = number.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return Ok(decimal::text(number));
    }
    let (mantissa, exponent) = decimal::scientific(number);
    // A negative exponent has its sign already.
    let sign = if exponent < 0 { "" } else { "+" };
    Ok(format!("{mantissa}e{sign}{exponent}"))
}

fn write_string<'a>(
    text: &str,
    out: &mut String,
    context: &Context<'a, '_>,
) -> Result<(), Error<'a>> {
    context.charge_string(text.len())?;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str("\\u");
                push_digits(out, u64::from(c), 16, 4);
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    Ok(())
}
