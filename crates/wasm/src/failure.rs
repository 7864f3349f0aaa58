//! The failures at the border, and their form in JavaScript.
//!
//! A failure crosses as an array `[kind, what, code]`, never as an `Error`: so every other
//! exception that leaves the module is a trap, and only `npm/src` decides which class of error its
//! caller sees.

use alloc::string::{String, ToString};
use core::cell::RefCell;

use wardgate_bundle::{OpenError, TermsError};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::js;
use crate::shared::shared;

/// A value, or the reason why the call is refused.
pub(crate) type Result<T, E = Failure> = core::result::Result<T, E>;

/// The reason why a call was refused.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A value that is not valid.
    Range(String),
    /// Another reason, under a stable code.
    Refused {
        /// The stable code.
        code: &'static str,
        /// The message.
        message: String,
    },
}

shared!(static LAST: RefCell<Option<Failure>> = RefCell::new(None));

impl Failure {
    /// Stores the failure of a call that returns a number, for [`last_failure`].
    pub(crate) fn store(self) {
        LAST.with(|last| last.replace(Some(self)));
    }
}

/// Throws the failure of the last call that returned the number for it.
///
/// # Errors
/// There is one.
#[wasm_bindgen(js_name = lastFailure)]
pub fn last_failure() -> Result<(), JsValue> {
    LAST.with(|last| last.take()).map_or(Ok(()), |failure| Err(failure.into()))
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
            Failure::Range(message) => ("range", message, ""),
            Failure::Refused { code, message } => ("refused", message, code),
        };
        js::array_of(kind, &what, code)
    }
}
