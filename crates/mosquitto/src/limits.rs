//! Every bound on input and on work.
#![forbid(unsafe_code)]

use std::time::Duration;

/// Options of the plugin.
pub(crate) const MAX_OPTIONS: usize = 256;

/// Bytes of the longest file of keys.
pub(crate) const MAX_KEY_FILE_BYTES: usize = 1 << 20;

/// Bytes of the longest token.
pub(crate) const MAX_TOKEN_BYTES: usize = 8192;

/// Clients whose tokens are remembered.
pub(crate) const MAX_CLIENTS: usize = 65_536;

/// Steps of one decision: about a millisecond, for which the broker waits.
pub(crate) const MAX_STEPS: u32 = 100_000;

/// The least time from one look at the files to the next.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// Bytes of a line for the log of mosquitto, which cuts longer ones.
pub(crate) const MAX_LINE_BYTES: usize = 900;
