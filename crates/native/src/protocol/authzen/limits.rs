//! Every bound on requests of AuthZEN.

/// How deep the values of a request may nest.
pub(super) const MAX_DEPTH: usize = 32;

/// Values of a request about one thing, each element and each member counted.
pub(super) const MAX_VALUES: usize = 10_000;

/// Values of a request about many.
pub(super) const MAX_VALUES_OF_MANY: usize = 100_000;

/// Bytes of a type, an id or the name of an action. They are written down for each question, whoever shares them.
pub(super) const MAX_NAME_BYTES: usize = 16 << 10;

/// The most questions of one request.
pub(super) const MAX_EVALUATIONS: usize = 1000;

/// The most candidates of one search.
pub(super) const MAX_CANDIDATES: usize = 10_000;

/// The largest number such that all whole numbers up to it are doubles.
pub(super) const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;
