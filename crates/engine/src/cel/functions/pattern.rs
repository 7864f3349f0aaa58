//! Regular expressions as arguments: a constant that the compiler made, or a text.

use crate::cel::context::Context;
use crate::cel::error::Error;
use crate::cel::value::Value;
use crate::regex::{Ascii, OutOfSteps, Program, compile_paying};

/// Runs `search` with the program of `pattern`. The search pays for itself from the steps that it
/// gets; a pattern that has to be compiled first pays for that too.
pub(super) fn with_pattern<'a, T>(
    pattern: &Value<'a>,
    context: &Context<'a, '_>,
    search: impl FnOnce(Program<'_>, &mut u32) -> Result<T, OutOfSteps>,
) -> Result<T, Error<'a>> {
    with_program(pattern, context, |program| metered(context, |steps| search(program, steps)))
}

/// Runs `body` with the program of `pattern`; the body pays for its own steps.
pub(super) fn with_program<'a, T>(
    pattern: &Value<'a>,
    context: &Context<'a, '_>,
    body: impl FnOnce(Program<'_>) -> Result<T, Error<'a>>,
) -> Result<T, Error<'a>> {
    match pattern {
        Value::Regex(constant) => body(Program::view(constant.words().ok_or(Error::Malformed)?)),
        Value::String(text) => {
            let mut steps = context.steps.get();
            let regex = compile_paying(text, &Ascii, &mut steps);
            context.steps.set(steps);
            let regex = regex.map_err(|error| match steps {
                0 => Error::Limit,
                _ => Error::text(format_args!("{}", error.message(text))),
            })?;
            body(regex.program())
        }
        _ => Err(Error::NoSuchOverload),
    }
}

/// Runs a search with the steps of the budget.
pub(super) fn metered<'a, T>(
    context: &Context<'a, '_>,
    search: impl FnOnce(&mut u32) -> Result<T, OutOfSteps>,
) -> Result<T, Error<'a>> {
    let mut steps = context.steps.get();
    let found = search(&mut steps);
    context.steps.set(steps);
    found.map_err(|OutOfSteps| Error::Limit)
}
