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

/// The keys from which on a call takes no further check; a check has at most 16, and the server reads at most 4,000.
#[cfg(feature = "redis")]
pub(crate) const MAX_CALL_KEYS: usize = 2048;

/// The most items of a list in a reply: more than the slots of a cluster.
#[cfg(feature = "redis")]
pub(crate) const MAX_REPLY_ITEMS: usize = 1 << 15;

/// The most bytes of a text in a reply.
#[cfg(feature = "redis")]
pub(crate) const MAX_REPLY_TEXT: usize = 1 << 16;

/// The most lists in lists of a reply.
#[cfg(feature = "redis")]
pub(crate) const MAX_REPLY_DEPTH: usize = 8;

/// The most bytes of replies that are waited for at once.
#[cfg(feature = "redis")]
pub(crate) const MAX_REPLIES_BYTES: usize = 1 << 22;

/// The failures in a row that open the breaker.
#[cfg(feature = "redis")]
pub(crate) const FAILURES: u32 = 5;

/// The microseconds from one try to the next while the breaker is open.
#[cfg(feature = "redis")]
pub(crate) const TRY_MICROS: u64 = 1_000_000;

/// The number of times that a check is sent to the node that has its slot.
#[cfg(feature = "redis")]
pub(crate) const ROUTE_ATTEMPTS: usize = 3;

/// The microseconds in which a refund reaches its store: twice the usual deadline.
pub(crate) const REFUND_MICROS: u64 = 100_000;

/// The longest time in microseconds for which tokens may be spent after they were paid.
pub(crate) const LEASE_MICROS: u64 = 1_000_000;

/// The part of a full key that a lease is at most.
pub(crate) const LEASES_OF_A_KEY: u64 = 10;

/// The part of what remains that a lease is at most.
pub(crate) const LEASES_OF_THE_REST: u64 = 16;

/// The fewest checks for which there is a lease.
pub(crate) const CHECKS_OF_A_LEASE: u64 = 16;

/// The parts of the book of leases, each with a lock.
pub(crate) const LEASE_SHARDS: usize = 16;

/// The longest key that is built without an allocation: its parts, and eight bytes for the length of each.
pub const MAX_SHORT_KEY_BYTES: usize = 256;
