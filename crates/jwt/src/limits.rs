//! Every bound on tokens and keys.

/// Bytes of the longest token.
pub const MAX_TOKEN_BYTES: usize = 64 << 10;

/// Keys of one set.
pub const MAX_KEYS: usize = 256;

/// Bytes of the shortest secret for HS256: RFC 7518, section 3.2, requires the length of the
/// digest.
pub const MIN_HS256_BYTES: usize = 32;

/// Bytes of the shortest secret for HS384.
pub const MIN_HS384_BYTES: usize = 48;

/// Bytes of the shortest secret for HS512.
pub const MIN_HS512_BYTES: usize = 64;
