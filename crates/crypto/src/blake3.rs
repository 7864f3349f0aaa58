//! BLAKE3: digests of one message and of many, with and without a key.
//!
//! Every path gives the digest of the specification; which one runs depends on lengths only. A chunk or
//! less is compressed here, block by block, because the vectors of the `blake3` crate cost more there than
//! they bring. Longer messages go to the crate, and batches fill the lanes of the machine.

mod batch;
mod chunk;
mod compress;
mod long;
mod many;
mod short;
mod start;
mod tree;

use start::Start;

/// The length of a digest.
pub const DIGEST_BYTES: usize = 32;

/// What stands for a message.
pub type Digest = [u8; DIGEST_BYTES];

/// Returns the digest of `message`.
#[must_use]
pub fn hash(message: &[u8]) -> Digest {
    digest(&Start::PLAIN, message)
}

/// Returns what only the holders of `key` can compute of `message`.
#[must_use]
pub fn keyed(key: &[u8; 32], message: &[u8]) -> Digest {
    digest(&Start::keyed(key), message)
}

/// Fills `out` with the extended digest of `message`, of which the plain one is the beginning.
pub fn xof(message: &[u8], out: &mut [u8]) {
    match message.len() {
        0..=CHUNK_BYTES => chunk::root(&Start::PLAIN, message).fill(out),
        _ => long::fill(&Start::PLAIN, message, out),
    }
}

/// Derives a key from `material` for the one purpose that `context` names.
///
/// The context is a constant of the program, never something that came from outside.
#[must_use]
pub fn derive_key(context: &str, material: &[u8]) -> Digest {
    let context = digest(&Start::CONTEXT, context.as_bytes());
    digest(&Start::derived(&context), material)
}

/// Puts the digest of each message in its place.
///
/// # Errors
/// If there are not as many places as messages; then none is written.
pub fn hash_many(messages: &[&[u8]], digests: &mut [Digest]) -> Result<(), LengthMismatch> {
    if messages.len() != digests.len() {
        return Err(LengthMismatch { messages: messages.len(), digests: digests.len() });
    }
    many::hash(messages, digests);
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

fn digest(start: &Start, message: &[u8]) -> Digest {
    match message.len() {
        0..=CHUNK_BYTES => chunk::root(start, message).digest(),
        _ => long::digest(start, message),
    }
}

/// The bytes of a leaf of the tree.
const CHUNK_BYTES: usize = 1024;

/// From here on several cores are faster than one: below, waking them takes as long as the work.
#[cfg(feature = "threads")]
const THREADS_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;
