//! Why a witness has not cosigned.

use std::fmt;
use std::time::Duration;

use hyper::StatusCode;

use crate::net::client::connect::late;

/// The reason for which a witness has not cosigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It cannot be reached, or ends the connection.
    Unreachable(String),
    /// It did not answer in this time.
    Late(Duration),
    /// It does not know the log or its key, or does not understand the request.
    Refused(StatusCode),
    /// It saw more frames than the log has.
    Ahead { seen: u64, size: u64 },
    /// The log does not go on from the frames that it saw.
    Inconsistent { seen: u64 },
    /// It fails, or answers in a way that is not in the protocol.
    Failing(StatusCode),
    /// Its answer has no right cosignature of the checkpoint.
    Signature(String),
    /// The files of the log do not give a proof.
    Files,
}

/// The number of reasons.
pub(super) const REASONS: usize = 8;

impl Problem {
    /// Returns the number and the name of the reason.
    pub(super) const fn reason(&self) -> (usize, &'static str) {
        match self {
            Self::Unreachable(_) => (0, NAMES[0]),
            Self::Late(_) => (1, NAMES[1]),
            Self::Refused(_) => (2, NAMES[2]),
            Self::Ahead { .. } => (3, NAMES[3]),
            Self::Inconsistent { .. } => (4, NAMES[4]),
            Self::Failing(_) => (5, NAMES[5]),
            Self::Signature(_) => (6, NAMES[6]),
            Self::Files => (7, NAMES[7]),
        }
    }

    /// Returns true if the log may have another past than the witness saw: an operator must look.
    pub(super) const fn is_alarming(&self) -> bool {
        matches!(self, Self::Ahead { .. } | Self::Inconsistent { .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(error) => f.write_str(error),
            Self::Late(after) => f.write_str(&late(*after)),
            Self::Refused(status) => {
                write!(f, "it answers {status}: does it know the log and its key?")
            }
            Self::Ahead { seen, size } => write!(
                f,
                "it saw {seen} frames of the log, which has {size} now: its end was lost, or another server writes a log with its key"
            ),
            Self::Inconsistent { seen } => write!(
                f,
                "the log does not go on from the {seen} frames that it saw: they were changed, or another server writes a log with its key"
            ),
            Self::Failing(status) => write!(f, "it answers {status}"),
            Self::Signature(what) => write!(f, "its cosignature is refused: {what}"),
            Self::Files => {
                f.write_str("a tile of the log is missing: the next start makes it again")
            }
        }
    }
}

/// The names of the reasons, as metrics have them.
pub(super) const NAMES: [&str; REASONS] =
    ["unreachable", "late", "refused", "ahead", "inconsistent", "failing", "signature", "files"];
