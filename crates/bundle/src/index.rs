//! The index: the chunks of the content, with the digest of each.
//!
//! It is the middle of a tree. Its own digest is the root, which the signed header names; its
//! entries name the chunks. An entry is `part | plain length << 3` and the length of the chunk, 4
//! bytes each, and 32 bytes of digest of the chunk. A chunk that is shorter than its plain bytes is
//! a block of LZ4. The writer may cut anywhere: a reader checks only that the chunks cover the
//! content.

use alloc::vec::Vec;

use wardgate_crypto::blake3::{DIGEST_BYTES, Digest, hash};

use crate::cbor::wide;
use crate::error::OpenError;
use crate::format::{number, size};
use crate::limits::MAX_BUNDLE_BYTES;

/// The index of a container.
#[derive(Clone, Copy)]
pub(crate) struct Index<'b> {
    // INVARIANT: whole entries; parts are known and in order; lengths are not 0 and not above the
    // plain ones, whose sum is below the bound of a bundle.
    entries: &'b [[u8; Index::ENTRY_BYTES]],
}

/// One chunk.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'b> {
    pub(crate) part: u32,
    /// The number of bytes that the chunk stands for, and of the chunk itself.
    pub(crate) plain: usize,
    pub(crate) length: usize,
    pub(crate) digest: &'b Digest,
}

impl<'b> Index<'b> {
    /// The length of one entry in bytes.
    pub(crate) const ENTRY_BYTES: usize = 8 + DIGEST_BYTES;

    pub(crate) fn read(bytes: &'b [u8]) -> Result<Self, OpenError> {
        let (entries, rest) = bytes.as_chunks();
        let index = Self { entries };
        let ordered = index.entries().is_sorted_by_key(|entry| entry.part);
        let sound = |entry: Entry<'_>| {
            let is_plain = entry.length == entry.plain;
            let fits = entry.length > 0 && entry.length <= entry.plain;
            fits && (entry.part < RULES || entry.part == RULES && is_plain)
        };
        let total: u64 = index.entries().map(|entry| wide(entry.plain)).sum();
        let fits = rest.is_empty() && total <= wide(MAX_BUNDLE_BYTES);
        if fits && ordered && index.entries().all(sound) {
            return Ok(index);
        }
        Err(OpenError::MalformedIndex)
    }

    /// Wraps an index that this crate has just written, without checking it.
    pub(crate) fn unread(bytes: &'b [u8]) -> Self {
        Self { entries: bytes.as_chunks().0 }
    }

    /// Writes the entry of a chunk that stands for `plain` bytes.
    pub(crate) fn write(bytes: &mut Vec<u8>, part: u32, plain: usize, chunk: &[u8]) {
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX >> PART_BITS);
        bytes.extend_from_slice(&(part | number(plain) << PART_BITS).to_le_bytes());
        bytes.extend_from_slice(&number(chunk.len()).to_le_bytes());
        bytes.extend_from_slice(&hash(chunk));
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'b>> + use<'b> {
        self.entries.iter().filter_map(|entry| {
            let (first, digest) = (number(entry, 0), entry.last_chunk()?);
            let (part, plain) = (first & ((1 << PART_BITS) - 1), size(first >> PART_BITS));
            Some(Entry { part, plain, length: size(number(entry, 4)), digest })
        })
    }

    pub(crate) fn bytes(&self) -> &'b [u8] {
        self.entries.as_flattened()
    }

    /// Returns the number of bytes that all chunks stand for.
    pub(crate) fn plain(&self) -> usize {
        self.entries().map(|entry| entry.plain).sum()
    }
}

/// The parts of a content, in their order: words, text, blob and explanations of the table, and the
/// rules of SPOCP. The rules are never compressed, so that a host reads them where they are.
pub(crate) const WORDS: u32 = 0;
pub(crate) const TEXT: u32 = 1;
pub(crate) const BLOB: u32 = 2;
pub(crate) const EXPLANATIONS: u32 = 3;
pub(crate) const RULES: u32 = 4;

/// The bits of an entry's first word that hold the part; the others are the plain length.
const PART_BITS: u32 = 3;
