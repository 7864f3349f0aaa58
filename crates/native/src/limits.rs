//! Bounds on the cost of decisions from JSON text; the bounds on requests are those of the engine.

/// The largest number of bytes of values of one text that may be read again beyond its own length.
/// A value is read again for each question about it with a fast path that has programs or nested
/// paths. Beyond the bound the general path decides, which reads each value once. The number leaves
/// usual calls on the fast path: 50 questions about a list of a kibibyte.
pub(crate) const MAX_SHORT_READ_BYTES: usize = 64 << 10;

/// The most elements of a list that is searched, as in every test of a fast path: the compiler has counted
/// the steps of the general path for so many.
pub(crate) const MAX_SEARCHED: usize = wardgate_fastpath::layout::test::MAX_ELEMENTS;

/// The longest list as JSON text that is searched without a copy, in bytes: a thousand short ids.
pub(crate) const MAX_SEARCHED_BYTES: usize = 16 << 10;

/// The most sets of topics that lists of filters are worked out from. A topic beyond them is not in
/// the lists.
#[cfg(feature = "grants")]
pub(crate) const MAX_GRANT_REGIONS: usize = 1024;

/// The most comparisons of two filters for the lists of one action, at about 50 ns each.
#[cfg(feature = "grants")]
pub(crate) const MAX_GRANT_COMPARISONS: u64 = 16_000_000;

/// The most patterns of topics in the indexes of one set of policies, about 100 bytes each. The fast
/// paths beyond try every rule.
pub(crate) const MAX_INDEXED_PATTERNS: usize = 1 << 18;

/// The most pairs of a kind and an action of which the plain limits are prepared, at 4 bytes each. With
/// more of them the engine finds all limits.
#[cfg(feature = "ratelimit")]
pub(crate) const MAX_LIMIT_PAIRS: usize = 1 << 14;

/// The longest kind or action, in bytes, of which plain limits are charged without the engine, which counts
/// steps for longer ones.
#[cfg(feature = "ratelimit")]
pub(crate) const MAX_PLAIN_NAME_BYTES: usize = 255;

/// The fewest steps that must be left for plain limits to be charged without the engine.
#[cfg(feature = "ratelimit")]
pub(crate) const MIN_PLAIN_STEPS: u32 = 1 << 12;

/// The steps that a plain limit counts for, and as many for finding it.
#[cfg(feature = "ratelimit")]
pub(crate) const PLAIN_LIMIT_STEPS: u32 = 16;
