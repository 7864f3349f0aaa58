//! `format`: texts with clauses such as `%s` and `%.2f`.
//!
//! A clause is `%`, an optional `.precision`, and a letter; `%%` is a percent sign. The text of a
//! clause depends on the value alone: maps are sorted by their printed keys.

mod number;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::cel::context::{Context, spend};
use crate::cel::error::{Answer, Error};
use crate::cel::value::{List, Map, Value};
use crate::limits::{MAX_STRING_BYTES, MAX_VALUE_DEPTH};
use crate::number::decimal;
use crate::number::parse_uint;
use crate::order;
use crate::text;

/// Replaces the clauses of `text` by the elements of `args`.
pub(super) fn format<'a>(text: &str, args: &List<'a>, context: &Context<'a, '_>) -> Answer<'a> {
    let mut out = Output { text: String::new(), context };
    let mut rest = text;
    let mut used = 0_usize;
    while let Some((literal, clause)) = rest.split_once('%') {
        out.push(literal)?;
        if let Some(after) = clause.strip_prefix('%') {
            out.push("%")?;
            rest = after;
            continue;
        }
        let arg =
            args.get(used).ok_or_else(|| Error::text(format_args!("index {used} out of range")))?;
        if clause.is_empty() {
            return Err(Error::Fixed("unexpected end of string"));
        }
        let (clause, after) = Clause::parse(clause)?;
        clause.print(&arg, &mut out)?;
        rest = after;
        used = used.saturating_add(1);
    }
    out.push(rest)?;
    Ok(Value::string(out.text))
}

/// Returns the text of `%s` for `value`.
pub(in crate::cel::functions) fn text_of<'a>(
    value: &Value<'a>,
    context: &Context<'a, '_>,
) -> Result<String, Error<'a>> {
    let mut out = Output { text: String::new(), context };
    out.print(value, MAX_VALUE_DEPTH)?;
    Ok(out.text)
}

/// The text under construction; pays for its additions and stays below the length limit.
struct Output<'a, 'c, 'x> {
    text: String,
    context: &'x Context<'a, 'c>,
}

impl<'a> Output<'a, '_, '_> {
    fn push(&mut self, part: &str) -> Result<(), Error<'a>> {
        if self.text.len().saturating_add(part.len()) > MAX_STRING_BYTES {
            return Err(Error::Limit);
        }
        self.context.charge_bytes(part.len())?;
        self.text.push_str(part);
        Ok(())
    }

    /// Prints `value` as `%s` does, with at most `depth` levels in it.
    fn print(&mut self, value: &Value<'a>, depth: usize) -> Result<(), Error<'a>> {
        self.context.charge(1)?;
        match value {
            Value::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Value::Int(value) => self.push(&value.to_string()),
            Value::Uint(value) => self.push(&value.to_string()),
            Value::Double(value) => {
                spend(self.context.steps, decimal::steps(*value))?;
                self.push(&number::shortest(*value))
            }
            Value::String(text) => self.push(text),
            Value::Bytes(bytes) => self.push(&text::lossy(bytes)),
            Value::Duration(nanoseconds) => self.push(&number::seconds(*nanoseconds)),
            Value::Timestamp(moment) => self.push(&moment.at_offset(0).to_string()),
            Value::Null => self.push("null"),
            Value::Type(name) => self.push(name),
            Value::List(list) => self.print_list(list, deeper(depth)?),
            Value::Map(map) => self.print_map(map, deeper(depth)?),
            other => Err(wrong_type(
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, \
                 types, durations, and timestamps",
                other,
            )),
        }
    }

    fn print_list(&mut self, list: &List<'a>, depth: usize) -> Result<(), Error<'a>> {
        self.push("[")?;
        for (at, element) in list.iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " })?;
            self.print(&element, depth)?;
        }
        self.push("]")
    }

    fn print_map(&mut self, map: &Map<'a>, depth: usize) -> Result<(), Error<'a>> {
        let mut entries = Vec::new();
        for (key, value) in map.iter() {
            entries.push((self.aside(&key, depth)?, self.aside(&value, depth)?));
        }
        order::sort_by(&mut entries, |(a, _), (b, _)| a.cmp(b));
        self.push("{")?;
        for (at, (key, value)) in entries.iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " })?;
            self.push(key)?;
            self.push(": ")?;
            self.push(value)?;
        }
        self.push("}")
    }

    /// Prints `value` into a text of its own.
    fn aside(&self, value: &Value<'a>, depth: usize) -> Result<String, Error<'a>> {
        let mut out = Output { text: String::new(), context: self.context };
        out.print(value, depth)?;
        Ok(out.text)
    }
}

fn deeper<'a>(depth: usize) -> Result<usize, Error<'a>> {
    depth.checked_sub(1).ok_or(Error::Limit)
}

/// One clause, without its `%`.
struct Clause {
    letter: char,
    precision: usize,
}

impl Clause {
    /// Reads a clause; returns the text behind it.
    fn parse<'a>(text: &str) -> Result<(Self, &str), Error<'a>> {
        let (precision, rest) = match text.strip_prefix('.') {
            Some(digits) => parse_precision(digits).map_err(|fault| {
                Error::text(format_args!(
                    "could not parse formatting clause: error while parsing precision: {fault}"
                ))
            })?,
            None => (DEFAULT_PRECISION, text),
        };
        let mut chars = rest.chars();
        match chars.next() {
            Some(letter @ ('s' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o')) => {
                Ok((Self { letter, precision }, chars.as_str()))
            }
            _ => {
                // cel-go reads bytes, and so does its message.
                let letter = rest.bytes().next().map(char::from).unwrap_or_default();
                Err(Error::text(format_args!(
                    "could not parse formatting clause: unrecognized formatting clause \"{letter}\""
                )))
            }
        }
    }

    fn print<'a>(&self, arg: &Value<'a>, out: &mut Output<'a, '_, '_>) -> Result<(), Error<'a>> {
        if self.letter == 's' {
            return out.print(arg, MAX_VALUE_DEPTH);
        }
        if let Value::Double(value) = arg {
            // All digits of the exact decimal form are computed, for any precision.
            spend(out.context.steps, decimal::steps(*value).max(64))?;
        }
        let printed = match self.letter {
            'd' => number::integer(arg),
            'f' => number::fixed(arg, self.precision),
            'e' => number::scientific(arg, self.precision),
            'b' => number::binary(arg),
            'o' => number::octal(arg),
            letter => number::hexadecimal(arg, letter == 'X'),
        };
        match printed {
            Some(text) => out.push(&text),
            None => Err(wrong_type(self.accepts(), arg)),
        }
    }

    /// Returns the kinds of values that the clause prints.
    const fn accepts(&self) -> &'static str {
        match self.letter {
            'd' => "decimal clause can only be used on ints, uints, and doubles",
            'f' => "fixed-point clause can only be used on ints, uints, and doubles",
            'e' => "scientific clause can only be used on ints, uints, and doubles",
            'b' => "only ints, uints, and bools can be formatted as binary",
            'o' => "octal clause can only be used on ints and uints",
            _ => "only ints, uints, bytes, and strings can be formatted as hex",
        }
    }
}

/// Reads digits; returns their value and the text behind them.
fn parse_precision(text: &str) -> Result<(usize, &str), String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .ok_or("could not find end of precision specifier")?;
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let value = parse_uint(digits);
    let precision = value.and_then(|value| usize::try_from(value).ok());
    match (value, precision.filter(|precision| *precision <= MAX_PRECISION)) {
        (_, Some(precision)) => Ok((precision, rest)),
        (Some(precision), None) => {
            Err(format!("precision {precision} exceeds maximum allowed precision {MAX_PRECISION}"))
        }
        (None, None) => {
            let fault = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
            let digits = super::quoted(digits);
            Err(format!(
                "error while converting precision to integer: strconv.Atoi: parsing {digits}: {fault}"
            ))
        }
    }
}

fn wrong_type<'a>(rule: &str, given: &Value<'a>) -> Error<'a> {
    Error::text(format_args!("error during formatting: {rule}, was given {}", given.type_name()))
}

const DEFAULT_PRECISION: usize = 6;

/// The largest precision, as in cel-go.
const MAX_PRECISION: usize = 100;
