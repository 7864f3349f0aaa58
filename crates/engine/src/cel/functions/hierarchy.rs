//! Cerbos's hierarchies: dotted paths and their relations.

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::Value;

pub(super) fn call<'a>(
    _function: Function,
    _args: &[Value<'a>],
    _context: &Context<'a, '_>,
) -> Answer<'a> {
    Err(Error::NoSuchOverload)
}
