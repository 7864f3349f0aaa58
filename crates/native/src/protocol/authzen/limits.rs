//! Every bound on requests of AuthZEN.

/// The largest depth of values in a request.
pub(super) const MAX_DEPTH: usize = 32;

/// The largest number of values in a request about one question, each element and each member
/// counted.
pub(super) const MAX_VALUES: usize = 10_000;

/// The largest number of values in a request for several evaluations or in a search.
pub(super) const MAX_VALUES_OF_MANY: usize = 100_000;

/// The largest number of bytes of a type, an id or the name of an action. They are written for each
/// question, also if questions share them.
pub(super) const MAX_NAME_BYTES: usize = 16 << 10;

/// The largest number of questions in one request.
pub(super) const MAX_EVALUATIONS: usize = 1000;

/// The largest number of candidates in one search.
pub(super) const MAX_CANDIDATES: usize = 10_000;

/// The largest number such that all whole numbers up to it are doubles.
pub(super) const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;
