//! Why a request could not be read.

use std::error::Error;
use std::fmt;

use wardgate_engine::limits::{MAX_REQUEST_BYTES, MAX_REQUEST_VALUES, MAX_VALUE_DEPTH};

/// Why a request could not be read. Who gets one has no permission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The bytes are no JSON.
    Malformed {
        /// Where, in bytes from the start.
        offset: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// There is more than a request may hold.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
    /// It holds more values than a request may.
    TooManyValues,
    /// Values nest deeper than a request may.
    TooDeep,
    /// A member has the name of an earlier one in its object: readers do not agree which of them counts.
    Doubled {
        /// Its name.
        name: String,
        /// Where, in bytes from the start.
        offset: usize,
    },
    /// A field is not there.
    Missing {
        /// Its path, such as `principal.id`.
        field: &'static str,
    },
    /// A field holds something else than it must.
    Wrong {
        /// Its path.
        field: &'static str,
        /// What it must hold.
        expected: &'static str,
        /// What it holds.
        found: &'static str,
    },
    /// There is no such field: a misspelt `attr` that passed unseen would change the decision.
    Unknown {
        /// Where it stands, such as `principal`.
        position: &'static str,
        /// Its name.
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
                write!(f, "member `{name}` stands here twice, at byte {offset}")
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
