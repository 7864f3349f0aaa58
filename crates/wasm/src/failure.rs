//! The failures at the border, and their form in JavaScript.
//!
//! A failure crosses as an array `[kind, what, code]`, never as an `Error`: so every other
//! exception that leaves the module is a trap, and only `npm/src` decides which class of error its
//! caller sees.

use alloc::string::{String, ToString};

use wardgate_bundle::{OpenError, TermsError};
use wasm_bindgen::JsValue;

use crate::js;

/// A value, or the reason why the call is refused.
pub(crate) type Result<T, E = Failure> = core::result::Result<T, E>;

/// The reason why a call was refused.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A value of the wrong kind.
    Type(String),
    /// A value of the right kind that is not valid.
    Range(String),
    /// Another reason, under a stable code.
    Refused {
        /// The stable code.
        code: &'static str,
        /// The message.
        message: String,
    },
    /// The exception that code of the caller, such as a getter, threw while it was read.
    Thrown(JsValue),
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::Refused { code: error.code(), message: error.to_string() }
    }
}

impl From<TermsError> for Failure {
    fn from(error: TermsError) -> Self {
        Self::Range(error.to_string())
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let (kind, what, code) = match failure {
            Failure::Type(message) => ("type", message.into(), ""),
            Failure::Range(message) => ("range", message.into(), ""),
            Failure::Refused { code, message } => ("refused", message.into(), code),
            Failure::Thrown(thrown) => ("thrown", thrown, ""),
        };
        js::array_of(kind, &what, code)
    }
}
