//! BLAKE3: digests of one message and of many, with and without a key.
//!
//! Every path gives the digest of the specification; which one runs depends on the length only.

/// The length of a digest.
pub const DIGEST_BYTES: usize = 32;

/// What stands for a message.
pub type Digest = [u8; DIGEST_BYTES];

/// Returns the digest of `message`.
#[must_use]
pub fn hash(message: &[u8]) -> Digest {
    *::blake3::hash(message).as_bytes()
}

/// Returns what only the holders of `key` can compute of `message`.
#[must_use]
pub fn keyed(key: &[u8; 32], message: &[u8]) -> Digest {
    *::blake3::keyed_hash(key, message).as_bytes()
}

/// Fills `out` with the extended digest of `message`, of which the plain one is the beginning.
pub fn xof(message: &[u8], out: &mut [u8]) {
    ::blake3::Hasher::new().update(message).finalize_xof().fill(out);
}

/// Derives a key from `material` for the one purpose that `context` names.
///
/// The context is a constant of the program, never something that came from outside.
#[must_use]
pub fn derive_key(context: &str, material: &[u8]) -> Digest {
    ::blake3::derive_key(context, material)
}

/// Puts the digest of each message in its place.
///
/// # Errors
/// If there are not as many places as messages; then none is written.
pub fn hash_many(messages: &[&[u8]], digests: &mut [Digest]) -> Result<(), LengthMismatch> {
    if messages.len() != digests.len() {
        return Err(LengthMismatch { messages: messages.len(), digests: digests.len() });
    }
    for (message, digest) in messages.iter().zip(digests) {
        *digest = hash(message);
    }
    Ok(())
}

/// There are not as many places for digests as there are messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// How many messages there are.
    pub messages: usize,
    /// How many places there are.
    pub digests: usize,
}

impl core::fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { messages, digests } = self;
        write!(f, "expected one place for each of {messages} digests, found {digests}")
    }
}

impl core::error::Error for LengthMismatch {}
