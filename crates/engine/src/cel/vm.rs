//! The register machine.

use core::cell::Cell;

use super::context::Context;
use super::error::Error;
use super::value::Value;
use super::{Activation, Pool};

/// Runs program `program` and returns its result.
#[must_use]
pub fn eval<'a>(
    pool: &'a Pool<'a>,
    program: u32,
    activation: &dyn Activation<'a>,
    steps: &Cell<u32>,
) -> Value<'a> {
    let _ = (program, Context { pool, activation, steps });
    Value::Error(Error::Malformed)
}
