//! The index: the chunks of the content, with the digest of each.
//!
//! It is the middle of a tree. Its own digest is the root, which the signed header names; its
//! entries name the chunks. An entry is part (0 words, 1 text, 2 blob, 3 rules) and length, 4 bytes
//! each, and 32 bytes of digest. The writer may cut anywhere: a reader checks only that the chunks
//! cover the content.

use alloc::vec;
use alloc::vec::Vec;

use wardgate_crypto::blake3::{DIGEST_BYTES, Digest, hash, hash_many};

use crate::cbor::wide;
use crate::error::OpenError;
use crate::format::{number, size};
use crate::limits::MAX_BUNDLE_BYTES;

/// The index of a container.
#[derive(Clone, Copy)]
pub(crate) struct Index<'b> {
    // INVARIANT: whole entries; parts are known and in order; lengths are not 0, and their sum is
    // below the bound of a bundle.
    entries: &'b [[u8; Index::ENTRY_BYTES]],
}

/// One chunk.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'b> {
    pub(crate) part: u32,
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
        let sound = |entry: Entry<'_>| size(entry.part) < PARTS && entry.length > 0;
        let total: u64 = index.entries().map(|entry| wide(entry.length)).sum();
        let [words, ..] = index.lengths();
        let fits = rest.is_empty() && total <= wide(MAX_BUNDLE_BYTES);
        if fits && ordered && index.entries().all(sound) && words.is_multiple_of(4) {
            return Ok(index);
        }
        Err(OpenError::MalformedIndex)
    }

    /// Wraps an index that this crate has just written, without checking it.
    pub(crate) fn unread(bytes: &'b [u8]) -> Self {
        Self { entries: bytes.as_chunks().0 }
    }

    /// Writes the index of `chunks`.
    pub(crate) fn of<'c>(chunks: impl Iterator<Item = (u32, &'c [u8])>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (part, chunk) in chunks {
            let length = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&part.to_le_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(&hash(chunk));
        }
        bytes
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'b>> + use<'b> {
        self.entries.iter().filter_map(|entry| {
            let digest = entry.last_chunk()?;
            Some(Entry { part: number(entry, 0), length: size(number(entry, 4)), digest })
        })
    }

    pub(crate) fn bytes(&self) -> &'b [u8] {
        self.entries.as_flattened()
    }

    /// Returns the length of each part in bytes.
    pub(crate) fn lengths(&self) -> [usize; PARTS] {
        let mut lengths = [0; PARTS];
        for entry in self.entries() {
            if let Some(length) = lengths.get_mut(size(entry.part)) {
                *length = usize::saturating_add(*length, entry.length);
            }
        }
        lengths
    }

    /// Compares each chunk of `content` with its digest.
    pub(crate) fn verify(&self, content: &[u8]) -> Result<(), OpenError> {
        let (expected, found) = (self.lengths().into_iter().map(wide).sum(), wide(content.len()));
        if expected != found {
            return Err(OpenError::WrongLength { expected, found });
        }
        let mut rest = content;
        let chunks: Vec<&[u8]> = self
            .entries()
            .map(|entry| {
                let (chunk, left) = rest.split_at_checked(entry.length).unwrap_or_default();
                rest = left;
                chunk
            })
            .collect();
        // All chunks in one call: chunks of several lengths fill the lanes of the machine together.
        let mut digests = vec![[0; DIGEST_BYTES]; chunks.len()];
        hash_many(&chunks, &mut digests).map_err(|_| OpenError::WrongDigest)?;
        let stated = self.entries().map(|entry| entry.digest);
        if stated.eq(&digests) { Ok(()) } else { Err(OpenError::WrongDigest) }
    }
}

/// The number of parts of a content: words, text and blob of the table, and the rules of SPOCP.
const PARTS: usize = 4;
