//! The encoders extension: base64 and JSON.

mod base64;
mod json;

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{Bytes, Value};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    match (function, args) {
        (Function::Base64Decode, [Value::String(text)]) => {
            context.charge_bytes(text.len())?;
            let bytes = base64::decode(text).map_err(|at| {
                Error::text(format_args!("illegal base64 data at input byte {at}"))
            })?;
            Ok(Value::Bytes(Bytes::from(bytes)))
        }
        (Function::Base64Encode, [Value::Bytes(bytes)]) => {
            context.charge_string(bytes.len().div_ceil(3).saturating_mul(4))?;
            Ok(Value::string(base64::encode(bytes)))
        }
        (Function::JsonEncode, [value]) => json::encode(value, context),
        _ => Err(Error::NoSuchOverload),
    }
}

/// Returns true if `text` is base64 with its padding.
pub(crate) fn is_base64(text: &str) -> bool {
    let symbols = text.bytes().filter(|b| !matches!(b, b'\r' | b'\n')).count();
    symbols.is_multiple_of(4) && base64::decode(text).is_ok()
}

#[cfg(test)]
mod tests;
