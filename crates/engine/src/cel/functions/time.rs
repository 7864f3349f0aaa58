//! The parts of moments and durations.
//!
//! A moment's parts are those of the named zone, or else of UTC, for any offset in the moment's
//! text. A zone that a literal names is in the policy table; a computed name is searched among
//! those.

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::time::{Civil, NANOS_PER_SECOND, Timestamp, Zone, ZoneError};
use crate::cel::value::{Value, zone_constant};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    match args {
        [Value::Duration(nanos)] => duration_part(function, *nanos),
        [Value::Timestamp(moment)] => timestamp_part(function, moment.at_offset(0)),
        [Value::Timestamp(moment), zone] => {
            let offset = zone_of(zone, context)?.offset_at(moment.seconds());
            timestamp_part(function, moment.at_offset(offset))
        }
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns the whole of a duration in one unit.
fn duration_part<'a>(function: Function, nanos: i64) -> Answer<'a> {
    let unit = match function {
        Function::GetHours => 3600 * NANOS_PER_SECOND,
        Function::GetMinutes => 60 * NANOS_PER_SECOND,
        Function::GetSeconds => NANOS_PER_SECOND,
        Function::GetMilliseconds => NANOS_PER_SECOND / 1000,
        _ => return Err(Error::NoSuchOverload),
    };
    Ok(Value::Int(nanos / unit))
}

fn timestamp_part<'a>(function: Function, moment: Timestamp) -> Answer<'a> {
    let civil: Civil = moment.civil();
    Ok(Value::Int(match function {
        Function::GetDate => civil.day,
        Function::GetDayOfMonth => civil.day - 1,
        Function::GetDayOfWeek => civil.weekday(),
        Function::GetDayOfYear => civil.day_of_year(),
        Function::GetFullYear => civil.year,
        Function::GetHours => civil.hour,
        Function::GetMilliseconds => i64::from(moment.nanos() / 1_000_000),
        Function::GetMinutes => civil.minute,
        Function::GetMonth => civil.month - 1,
        Function::GetSeconds => civil.second,
        _ => return Err(Error::NoSuchOverload),
    }))
}

fn zone_of<'a>(zone: &Value<'a>, context: &Context<'a, '_>) -> Result<Zone<'a>, Error<'a>> {
    match zone {
        Value::Zone(position) => position.words().map(Zone::Place).ok_or(Error::Malformed),
        Value::String(text) => match Zone::parse(text) {
            Ok(zone) => Ok(zone),
            Err(ZoneError::Range) => {
                Err(Error::text(format_args!("invalid time zone offset {text}")))
            }
            Err(ZoneError::Name) => zone_constant(context.pool, text, context.steps)?
                .and_then(|position| position.words().map(Zone::Place))
                .ok_or_else(|| Error::text(format_args!("unknown time zone {text}"))),
        },
        _ => Err(Error::NoSuchOverload),
    }
}
