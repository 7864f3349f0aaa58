//! Regular expressions as arguments: a constant that the compiler made, or a text.

use crate::cel::context::Context;
use crate::cel::error::Error;
use crate::cel::value::Value;
use crate::regex::{Ascii, OutOfSteps, Program, compile};

/// Runs `search` with the program of `pattern`. The search pays for itself from the steps it is
/// given; a pattern that has to be compiled first pays a step for each of its bytes.
pub(super) fn with_pattern<'a, T>(
    pattern: &Value<'a>,
    context: &Context<'a, '_>,
    search: impl FnOnce(Program<'_>, &mut u32) -> Result<T, OutOfSteps>,
) -> Result<T, Error<'a>> {
    let mut steps = context.steps.get();
    let found = match pattern {
        Value::Regex(constant) => {
            search(Program::view(constant.words().ok_or(Error::Malformed)?), &mut steps)
        }
        Value::String(text) => {
            context.charge(text.len())?;
            let regex = compile(text, &Ascii)
                .map_err(|error| Error::text(format_args!("{}", error.message(text))))?;
            steps = context.steps.get();
            search(regex.program(), &mut steps)
        }
        _ => return Err(Error::NoSuchOverload),
    };
    context.steps.set(steps);
    found.map_err(|OutOfSteps| Error::Limit)
}
