//! The errors of requests that cannot be read.

use std::error::Error;
use std::fmt;

use wardgate_engine::limits::{MAX_REQUEST_BYTES, MAX_REQUEST_VALUES, MAX_VALUE_DEPTH};

/// The reason why a request could not be read. A principal whose request fails has no permission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The bytes are not JSON.
    Malformed {
        /// The offset of the fault, in bytes from the start.
        offset: usize,
        /// The token that JSON requires at the offset.
        expected: &'static str,
    },
    /// The request has more bytes than allowed.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The request holds more values than allowed.
    TooManyValues,
    /// Values nest deeper than allowed.
    TooDeep,
    /// A member has the name of an earlier one in its object: readers do not agree which of them
    /// counts.
    Doubled {
        /// The name of the member.
        name: String,
        /// The offset of the second member, in bytes from the start.
        offset: usize,
    },
    /// A required field is missing.
    Missing {
        /// Its path, such as `principal.id`.
        field: &'static str,
    },
    /// A field holds a value of the wrong kind.
    Wrong {
        /// Its path.
        field: &'static str,
        /// The kind that the field must hold.
        expected: &'static str,
        /// The kind that the field holds.
        found: &'static str,
    },
    /// A field has an unknown name: a misspelt `attr` that passed unseen would change the decision.
    Unknown {
        /// The object with the field, such as `principal`.
        position: &'static str,
        /// The name of the field.
        name: String,
    },
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { offset, expected } => {
                write!(f, "malformed JSON at byte {offset}: expected {expected}")
            }
            Self::TooLarge { bytes } => {
                write!(f, "the request has {bytes} bytes, at most {MAX_REQUEST_BYTES} are read")
            }
            Self::TooManyValues => {
                write!(f, "the request holds more than {MAX_REQUEST_VALUES} values")
            }
            Self::TooDeep => write!(f, "attributes nest deeper than {MAX_VALUE_DEPTH} levels"),
            Self::Doubled { name, offset } => {
                write!(f, "duplicate member `{name}`, at byte {offset}")
            }
            Self::Missing { field } => write!(f, "`{field}` is missing"),
            Self::Wrong { field, expected, found } => {
                write!(f, "`{field}`: expected {expected}, found {found}")
            }
            Self::Unknown { position, name } => write!(f, "unknown field `{name}` in `{position}`"),
        }
    }
}

impl Error for RequestError {}
