//! The functions that a program calls by number.
//!
//! The rows of [`Function`] name the module of each. A function gets arguments without errors, pays
//! for its loops through the [`Context`], and returns a value or an error.

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
#[cfg(test)]
mod tests;
mod time;
mod topics;

use super::context::Context;
use super::error::Answer;
use super::function::Function;
use super::value::Value;

/// Calls `function`. If arguments are errors, the first of them is the result.
#[must_use]
pub fn call<'a>(function: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Value<'a> {
    #[cfg(feature = "observe")]
    if function == Function::MatchesTopic
        && let Some(answer) = topics::of_host(args, context)
    {
        return answer.into();
    }
    match args.iter().find_map(Value::error) {
        Some(error) => Value::Error(error.clone().of_operand()),
        None => dispatch(function, args, context).into(),
    }
}

fn dispatch<'a>(function: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    match function.module() {
        Module::cerbos => cerbos::call(function, args, context),
        Module::convert => convert::call(function, args, context),
        Module::core => core::call(function, args, context),
        Module::encoders => encoders::call(function, args, context),
        Module::hierarchy => hierarchy::call(function, args, context),
        Module::lists => lists::call(function, args, context),
        Module::math => math::call(function, args, context),
        Module::network => network::call(function, args, context),
        Module::optional => optional::call(function, args, context),
        Module::paths => paths::call(function, args, context),
        Module::regex => regex::call(function, args, context),
        Module::sets => sets::call(function, args, context),
        Module::spiffe => spiffe::call(function, args, context),
        Module::strings => strings::call(function, args, context),
        Module::time => time::call(function, args, context),
        Module::topics => topics::call(function, args, context),
    }
}

/// The modules above, as the rows of [`Function`] name them.
#[derive(Clone, Copy, Debug)]
#[expect(non_camel_case_types, reason = "a row names its module as `mod` does")]
pub(super) enum Module {
    cerbos,
    convert,
    core,
    encoders,
    hierarchy,
    lists,
    math,
    network,
    optional,
    paths,
    regex,
    sets,
    spiffe,
    strings,
    time,
    topics,
}
