//! The reasons why a call has no answer. An error grants no permission.

use std::error::Error;
use std::fmt;

/// A value, or the reason why the call has no answer.
pub(crate) type Result<T, E = HostError> = std::result::Result<T, E>;

/// The reason why a call has no answer. It grants no permission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostError {
    /// The code is no module or component that runs here.
    Code {
        /// The error of wasmtime.
        message: String,
    },
    /// The code has plain calls of another version.
    Version {
        /// The version found.
        found: i32,
        /// The version of this host.
        expected: i32,
    },
    /// The bundle, the terms or the request are refused.
    Refused {
        /// The stable name: see `docs/ABI.md`.
        code: String,
        /// The message.
        message: String,
    },
    /// The call took longer than [`Limits::time`](crate::Limits::time).
    OutOfTime,
    /// The code trapped: it needed more memory than [`Limits::memory`](crate::Limits::memory), or
    /// has a fault.
    Trapped {
        /// The error of wasmtime.
        message: String,
    },
    /// All instances are in use.
    Busy {
        /// The error of wasmtime.
        message: String,
    },
    /// The thread that ends calls cannot be started.
    Thread {
        /// The error of the system.
        message: String,
    },
    /// The code gave an invalid answer. None of its answers are trusted.
    Confused,
}

impl HostError {
    pub(crate) fn code(error: &wasmtime::Error) -> Self {
        Self::Code { message: format!("{error:#}") }
    }

    pub(crate) fn busy(error: &wasmtime::Error) -> Self {
        Self::Busy { message: format!("{error:#}") }
    }

    pub(crate) fn trapped(error: &wasmtime::Error) -> Self {
        match error.downcast_ref::<wasmtime::Trap>() {
            Some(wasmtime::Trap::Interrupt) => Self::OutOfTime,
            Some(trap) => Self::Trapped { message: trap.to_string() },
            None => Self::Trapped { message: format!("{error:#}") },
        }
    }

    /// Returns true if the instance that returned this error may be used again.
    pub(crate) const fn is_sound(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code { message } => write!(f, "the code cannot be run: {message}"),
            Self::Version { found, expected } => {
                write!(f, "the code has plain calls of version {found}, expected {expected}")
            }
            Self::Refused { message, .. } => f.write_str(message),
            Self::OutOfTime => f.write_str("the call exceeded its time limit"),
            Self::Trapped { message } => write!(f, "the code trapped: {message}"),
            Self::Busy { message } => write!(f, "all instances are in use: {message}"),
            Self::Thread { message } => write!(f, "the thread that interrupts calls: {message}"),
            Self::Confused => f.write_str("the code returned an invalid answer"),
        }
    }
}

impl Error for HostError {}
