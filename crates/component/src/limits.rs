//! Every bound on what a host may ask for.

/// Blocks of memory that a host may have at once.
pub(crate) const MAX_BLOCKS: usize = 1024;

/// Bundles that may be open at once.
pub(crate) const MAX_HANDLES: usize = 1024;
