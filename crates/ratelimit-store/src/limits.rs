//! The bounds of stores.

/// The most bytes of the name of a limit.
pub const MAX_NAME_BYTES: usize = 128;

/// The most limits of one check.
pub const MAX_DEMANDS: usize = 16;

/// The most checks that wait for a store on a network.
#[cfg(feature = "redis")]
pub(crate) const MAX_WAITING: usize = 1 << 18;

/// The most checks of one call.
#[cfg(feature = "redis")]
pub(crate) const MAX_BATCH: usize = 128;

/// The failures in a row that open the breaker.
#[cfg(feature = "redis")]
pub(crate) const FAILURES: u32 = 5;

/// The microseconds from one try to the next while the breaker is open.
#[cfg(feature = "redis")]
pub(crate) const TRY_MICROS: u64 = 1_000_000;
