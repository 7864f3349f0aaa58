//! Every bound on the bytes of a bundle.

/// Bytes of the largest bundle that is opened.
pub const MAX_BUNDLE_BYTES: usize = 256 << 20;

/// Bytes of the longest envelope: header and signatures. Sixteen signatures need 75 KB.
pub const MAX_ENVELOPE_BYTES: usize = 96 << 10;

/// Signatures of one bundle. Each of them can cost a verification.
pub const MAX_SIGNATURES: usize = 16;

/// Keys of one trust set.
pub const MAX_TRUSTED_KEYS: usize = 64;

/// Bytes of the longest key id.
pub const MAX_KEY_ID_BYTES: usize = 64;

/// Bytes of the longest name of a bundle.
pub const MAX_NAME_BYTES: usize = 256;

/// The largest revision and the latest date: what every host can write as a number without loss.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Chunks that the content of one bundle is cut into: twice as many as we make of the largest.
pub const MAX_CHUNKS: usize = 1 << 18;

/// Bytes that sealing adds at most: the prefix, the headers of COSE and the tag.
pub const MAX_SEAL_BYTES: usize = 256;
