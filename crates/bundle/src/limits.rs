//! Every bound on the bytes of a bundle.

/// Bytes of the largest bundle that is opened.
pub const MAX_BUNDLE_BYTES: usize = 256 << 20;
