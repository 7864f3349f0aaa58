//! Every bound on the bytes of a bundle.

/// The largest bundle that is opened, in bytes.
pub const MAX_BUNDLE_BYTES: usize = 256 << 20;

/// The longest envelope, header and signatures, in bytes. Sixteen signatures need 75 KB.
pub const MAX_ENVELOPE_BYTES: usize = 96 << 10;

/// The largest number of signatures of one bundle. Each of them can cost a verification.
pub const MAX_SIGNATURES: usize = 16;

/// The largest number of keys of one trust set.
pub const MAX_TRUSTED_KEYS: usize = 64;

/// The longest key id, in bytes.
pub const MAX_KEY_ID_BYTES: usize = 64;

/// The longest name of a bundle, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// The largest revision and the latest date: every host can write it as a number without loss.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// The largest number of chunks of one bundle: twice as many as [`crate::pack()`] makes of the
/// largest bundle.
pub const MAX_CHUNKS: usize = 1 << 18;

/// The most bytes that sealing adds: the prefix, the headers of COSE and the tag.
pub const MAX_SEAL_BYTES: usize = 256;
