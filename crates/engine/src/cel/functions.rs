//! The functions that a program calls by number.
//!
//! The rows of [`Function`] name the module of each. A function gets arguments without errors, pays
//! for its loops through the [`Context`], and returns a value or an error.

pub(super) mod cerbos;
pub(super) mod convert;
pub(super) mod core;
pub(crate) mod encoders;
pub(super) mod hierarchy;
pub(super) mod lists;
pub(super) mod math;
pub(crate) mod network;
pub(super) mod optional;
pub(super) mod paths;
mod pattern;
pub(super) mod regex;
pub(super) mod sets;
pub(super) mod spiffe;
pub(super) mod strings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub(super) mod time;

use super::context::Context;
use super::function::Function;
use super::value::Value;

/// Calls `function`. If arguments are errors, the first of them is the result.
#[must_use]
pub fn call<'a>(function: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Value<'a> {
    match args.iter().find_map(Value::error) {
        Some(error) => Value::Error(error.clone()),
        None => function.dispatch(args, context).into(),
    }
}
