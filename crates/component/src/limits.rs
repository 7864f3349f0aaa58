//! Every bound on what a host may ask for.

/// Blocks of memory that a host may have at once.
pub(crate) const MAX_BLOCKS: usize = 1024;

/// Bundles that may be open at once.
pub(crate) const MAX_HANDLES: usize = 1024;

/// How deep the values of an AuthZEN request may nest.
pub(crate) const MAX_AUTHZEN_DEPTH: usize = 32;

/// Values of one AuthZEN request, each element and each member counted.
pub(crate) const MAX_AUTHZEN_VALUES: usize = 10_000;
