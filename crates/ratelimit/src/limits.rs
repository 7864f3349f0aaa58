//! The bounds on rules and times, chosen so that no sum or product of theirs reaches 2^53.

/// The most tokens of a quota or a burst.
pub const MAX_TOKENS: u64 = 1_000_000_000_000;

/// The longest window in microseconds: 366 days.
pub const MAX_WINDOW: u64 = 366 * 86_400 * 1_000_000;

/// The latest time in microseconds since 1970, in the year 2250. A later one is taken as this one.
pub const MAX_TIME: u64 = (1 << 53) - (1 << 47);

/// The parts of a microsecond in which GCRA counts.
pub(crate) const TICKS: u64 = 128;

/// The most ticks of a burst; a sum of two stays within 2^53.
pub(crate) const MAX_BURST_TICKS: u64 = 1 << 52;

/// The parts of a microsecond in a state.
pub(crate) const PARTS: u64 = 2048;

/// The keys of a set of the table.
pub(crate) const WAYS: usize = 8;

/// The number of times that an operation of the table begins again because others changed its set.
pub(crate) const ATTEMPTS: u32 = 10_000;

/// The number of looks at a lock before an operation of the table begins again.
pub(crate) const SPINS: u32 = 100;
