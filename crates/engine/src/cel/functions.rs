//! The functions that a program calls by number.
//!
//! Each module below owns a range of numbers. A function gets its arguments without errors among
//! them, pays for its loops through the [`Context`], and answers a value or an error.

mod cerbos;
mod convert;
mod core;
pub(crate) mod encoders;
mod hierarchy;
mod lists;
mod math;
pub(crate) mod network;
mod optional;
mod paths;
mod pattern;
mod regex;
mod sets;
pub(super) mod spiffe;
mod strings;
#[cfg(test)]
mod testing;
mod time;

use super::context::Context;
use super::error::{Answer, Error};
use super::function::Function;
use super::value::Value;

/// Calls `function`. An argument that is an error is the answer, the first one if several are.
#[must_use]
pub fn call<'a>(function: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Value<'a> {
    match args.iter().find_map(Value::error) {
        Some(error) => Value::Error(error.clone()),
        None => dispatch(function, args, context).into(),
    }
}

fn dispatch<'a>(function: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    use Function as F;
    match function {
        F::Size | F::Contains | F::StartsWith | F::EndsWith | F::Matches | F::Dyn | F::Type => {
            core::call(function, args, context)
        }
        F::Bool
        | F::Bytes
        | F::Double
        | F::Duration
        | F::Int
        | F::String
        | F::Timestamp
        | F::Uint => convert::call(function, args, context),
        _ => match function.id() {
            16..=25 => time::call(function, args, context),
            30..=37 => optional::call(function, args, context),
            50..=62 => strings::call(function, args, context),
            70..=77 => lists::call(function, args, context),
            90..=107 => math::call(function, args, context),
            120..=122 => sets::call(function, args, context),
            125..=127 => encoders::call(function, args, context),
            130..=132 => regex::call(function, args, context),
            140..=156 => network::call(function, args, context),
            170..=177 => cerbos::call(function, args, context),
            180..=188 => paths::call(function, args, context),
            200..=207 => hierarchy::call(function, args, context),
            220..=231 => spiffe::call(function, args, context),
            _ => Err(Error::NoSuchOverload),
        },
    }
}
