//! Every bound on the resources of a host.

/// The most blocks of memory that a host may have at once.
pub(crate) const MAX_BLOCKS: usize = 1024;

/// The most bundles that may be open at once.
pub(crate) const MAX_HANDLES: usize = 1024;
