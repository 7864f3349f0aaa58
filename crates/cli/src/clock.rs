//! The clock of the system.

use std::time::{SystemTime, UNIX_EPOCH};

use wardgate_engine::cel::Timestamp;

/// Returns the time. A clock outside of the range of times counts as the earliest one.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    Timestamp::new(seconds, since.subsec_nanos()).unwrap_or_default()
}
