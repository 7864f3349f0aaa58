//! BLAKE3: digests of one message and of many, with and without a key.
//!
//! Every path gives the digest of the specification; the lengths alone choose the path. A chunk or
//! less is compressed here, block by block, because the vectors of the `blake3` crate cost more
//! there than they save. Longer messages go to the crate, and batches fill the lanes of the
//! machine.

mod batch;
mod blocks;
mod chunk;
mod compress;
mod long;
mod many;
mod short;
mod start;
mod tree;

use start::Start;

/// The length of a digest in bytes.
pub const DIGEST_BYTES: usize = 32;

/// The digest of a message.
pub type Digest = [u8; DIGEST_BYTES];

/// Returns the digest of `message`.
///
/// # Examples
/// ```
/// use wardgate_crypto::blake3;
///
/// // The digest of the empty message, from the specification.
/// assert_eq!(blake3::hash(b"")[..4], [0xaf, 0x13, 0x49, 0xb9]);
/// ```
#[must_use]
pub fn hash(message: &[u8]) -> Digest {
    digest(&Start::PLAIN, message)
}

/// Returns the keyed digest of `message`, which only the holders of `key` can compute.
///
/// # Examples
/// ```
/// use wardgate_crypto::blake3;
///
/// assert_ne!(blake3::keyed(&[1; 32], b"text"), blake3::keyed(&[2; 32], b"text"));
/// ```
#[must_use]
pub fn keyed(key: &[u8; 32], message: &[u8]) -> Digest {
    digest(&Start::keyed(key), message)
}

/// Fills `out` with the extended digest of `message`, which begins with the plain one.
pub fn xof(message: &[u8], out: &mut [u8]) {
    extended(&Start::PLAIN, message, out);
}

/// Fills `out` with the extended keyed digest of `message`, which begins with the keyed one.
pub fn keyed_xof(key: &[u8; 32], message: &[u8], out: &mut [u8]) {
    extended(&Start::keyed(key), message, out);
}

/// 64 bytes of an extended digest.
pub type OutputBlock = [u8; 64];

/// The input for one block of an extended keyed digest.
#[derive(Clone, Copy)]
pub struct KeyedBlock<'a> {
    /// The key.
    pub key: &'a [u8; 32],
    /// The message.
    pub message: &'a [u8],
    /// The number of the block: the first one begins with the digest.
    pub number: u64,
}

/// Writes each block of an extended digest into the slot with its index. Messages of 64 bytes at most share the lanes of the
/// machine.
///
/// # Errors
/// The slices have different lengths; then nothing is written.
///
/// # Examples
/// ```
/// use wardgate_crypto::blake3::{KeyedBlock, keyed, keyed_blocks};
///
/// let input = KeyedBlock { key: &[1; 32], message: b"text", number: 0 };
/// let mut blocks = [[0; 64]];
/// keyed_blocks(&[input], &mut blocks)?;
/// assert!(blocks[0].starts_with(&keyed(&[1; 32], b"text")));
/// # Ok::<(), wardgate_crypto::blake3::LengthMismatch>(())
/// ```
pub fn keyed_blocks(
    inputs: &[KeyedBlock<'_>],
    blocks: &mut [OutputBlock],
) -> Result<(), LengthMismatch> {
    if inputs.len() != blocks.len() {
        return Err(LengthMismatch { messages: inputs.len(), digests: blocks.len() });
    }
    blocks::fill(inputs, blocks);
    Ok(())
}

/// Derives a key from `material` for the one purpose that `context` names.
///
/// The context must be a constant of the program, never outside input.
#[must_use]
pub fn derive_key(context: &str, material: &[u8]) -> Digest {
    let context = digest(&Start::CONTEXT, context.as_bytes());
    digest(&Start::derived(&context), material)
}

/// Writes the digest of each message into the slot with its index.
///
/// # Errors
/// The slices have different lengths; then no digest is written.
///
/// # Examples
/// ```
/// use wardgate_crypto::blake3::{hash, hash_many};
///
/// let mut digests = [[0; 32]; 2];
/// hash_many(&[b"one", b"two"], &mut digests)?;
/// assert_eq!(digests, [hash(b"one"), hash(b"two")]);
/// # Ok::<(), wardgate_crypto::blake3::LengthMismatch>(())
/// ```
pub fn hash_many(messages: &[&[u8]], digests: &mut [Digest]) -> Result<(), LengthMismatch> {
    if messages.len() != digests.len() {
        return Err(LengthMismatch { messages: messages.len(), digests: digests.len() });
    }
    many::hash(messages, digests);
    Ok(())
}

/// The number of slots for digests differs from the number of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// The number of messages.
    pub messages: usize,
    /// The number of slots.
    pub digests: usize,
}

impl core::fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { messages, digests } = self;
        write!(f, "expected one place for each of {messages} digests, found {digests}")
    }
}

impl core::error::Error for LengthMismatch {}

fn extended(start: &Start, message: &[u8], out: &mut [u8]) {
    match message.len() {
        0..=CHUNK_BYTES => chunk::root(start, message).fill(out),
        _ => long::fill(start, message, out),
    }
}

fn digest(start: &Start, message: &[u8]) -> Digest {
    match message.len() {
        0..=CHUNK_BYTES => chunk::root(start, message).digest(),
        _ => long::digest(start, message),
    }
}

/// The length of a leaf of the tree in bytes.
const CHUNK_BYTES: usize = 1024;

/// The length from which several cores are faster than one: below it, waking them takes as long as
/// the work.
#[cfg(feature = "threads")]
const THREADS_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;
