//! The container: the layout of the bytes of a bundle. Version 4.
//!
//! ```text
//! bytes  0..8    magic "WARDGATE"
//! bytes  8..12   container version, 4
//! bytes 12..16   kind: 1 bundle, 2 delta, 3 sealed
//! bytes 16..20   length of the envelope
//! bytes 20..24   length of the index, 40 for each chunk
//! bytes 24..28   length of the content; in a delta, of the chunks that it carries
//! bytes 28..32   1 if the explanations are left out, else 0
//! bytes 32..64   root: the BLAKE3 digest of the index
//! a delta only   root and revision of its base: 32 and 8 bytes
//! then           the envelope, and zeros up to a multiple of 8
//! then           the BLAKE3 digest of everything so far
//! then           index, content, end of the bytes
//! ```
//!
//! All numbers are little-endian. Lengths are added up before any part is read, and digests are
//! compared before any part is interpreted. See `sealed` for the third kind.

use alloc::vec;
use alloc::vec::Vec;

use wardgate_crypto::blake3::{DIGEST_BYTES, Digest, hash, hash_many};

use crate::cbor::wide;
use crate::compress::decompress;
use crate::envelope::Envelope;
use crate::error::OpenError;
use crate::format::{MAGIC, VERSION, number, size};
use crate::header::Header;
use crate::index::{EXPLANATIONS, Entry, Index};
use crate::limits::{MAX_CHUNKS, MAX_ENVELOPE_BYTES};

/// The kind of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bundle that can be opened.
    Bundle,
    /// The difference between two bundles: see [`crate::delta`].
    Delta,
    /// A bundle or a delta that must be unsealed: see [`crate::sealed`].
    Sealed,
}

/// The bundle that a delta is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The root of the content of the base.
    pub content: Digest,
    /// The revision of the base.
    pub revision: u64,
}

/// A bundle or delta, split into its parts.
pub(crate) struct Container<'b> {
    pub(crate) base: Option<Base>,
    pub(crate) root: Digest,
    pub(crate) envelope: &'b [u8],
    pub(crate) index: Index<'b>,
    /// True if the content lacks the explanations.
    pub(crate) is_stripped: bool,
    pub(crate) content: &'b [u8],
}

/// The fields that every kind begins with.
pub(crate) struct Prefix {
    pub(crate) kind: Kind,
    pub(crate) envelope: usize,
    pub(crate) index: usize,
    pub(crate) content: usize,
    pub(crate) is_stripped: bool,
}

impl Kind {
    /// Returns the kind that the prefix of `bytes` states. Only opening them verifies the rest.
    ///
    /// # Errors
    /// The bytes are no bundle, or have a version or kind that this program does not know.
    pub fn of(bytes: &[u8]) -> Result<Self, OpenError> {
        Prefix::read(bytes).map(|prefix| prefix.kind)
    }

    const fn code(self) -> u32 {
        match self {
            Self::Bundle => 1,
            Self::Delta => 2,
            Self::Sealed => 3,
        }
    }

    /// Returns all flags of this kind.
    const fn flags(self) -> u32 {
        if matches!(self, Self::Sealed) { 0 } else { STRIPPED }
    }

    /// Returns the length of the base field of this kind, in bytes.
    const fn base_bytes(self) -> usize {
        if matches!(self, Self::Delta) { BASE_BYTES } else { 0 }
    }
}

/// Returns true if `bytes` begin as a bundle or a delta does, sealed or not.
#[must_use]
pub fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl Prefix {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        if !is_container(bytes) || bytes.len() < PREFIX_BYTES {
            return Err(OpenError::NotABundle);
        }
        let [version, kind, envelope, index, content, flags] =
            [8, 12, 16, 20, 24, 28].map(|at| number(bytes, at));
        if version != VERSION {
            return Err(OpenError::UnsupportedVersion { found: version });
        }
        let kind = [Kind::Bundle, Kind::Delta, Kind::Sealed]
            .into_iter()
            .find(|known| known.code() == kind && flags & !known.flags() == 0)
            .ok_or(OpenError::UnsupportedKind { found: kind })?;
        let [envelope, index, content] = [envelope, index, content].map(size);
        Ok(Self { kind, envelope, index, content, is_stripped: flags == STRIPPED })
    }

    /// Writes the prefix. A length beyond 32 bits becomes the largest number; such a bundle exceeds
    /// `limits` and could not be opened.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(MAGIC);
        let lengths = [self.envelope, self.index, self.content]
            .map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        let [envelope, index, content] = lengths;
        let flags = if self.is_stripped { STRIPPED } else { 0 };
        for number in [VERSION, self.kind.code(), envelope, index, content, flags] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Compares the lengths with that of all bytes, and returns the length of the part before the
    /// digest.
    fn head(&self, bytes: &[u8]) -> Result<usize, OpenError> {
        let parts = [ROOT_END, self.kind.base_bytes(), self.envelope, padding(self.envelope)];
        let head: u64 = parts.into_iter().map(wide).sum();
        let rest: u64 = [DIGEST_BYTES, self.index, self.content].into_iter().map(wide).sum();
        let (expected, found) = (head.saturating_add(rest), wide(bytes.len()));
        if expected != found {
            return Err(OpenError::WrongLength { expected, found });
        }
        if self.envelope > MAX_ENVELOPE_BYTES {
            return Err(OpenError::MalformedEnvelope);
        }
        if self.index > MAX_CHUNKS.saturating_mul(Index::ENTRY_BYTES) {
            return Err(OpenError::MalformedIndex);
        }
        usize::try_from(head).map_err(|_| OpenError::NotABundle)
    }
}

impl<'b> Container<'b> {
    /// Splits `bytes`, if lengths and digests fit. The chunks are not verified.
    pub(crate) fn read(bytes: &'b [u8], expected: Kind) -> Result<Self, OpenError> {
        let prefix = Prefix::read(bytes)?;
        match (expected, prefix.kind) {
            (Kind::Delta, found) if found != Kind::Delta => return Err(OpenError::NotADelta),
            (Kind::Bundle, Kind::Delta) => return Err(OpenError::Delta),
            (_, Kind::Sealed) => return Err(OpenError::Sealed),
            _ => {}
        }
        let mut rest = bytes;
        let head = take(&mut rest, prefix.head(bytes)?)?;
        let stated = take(&mut rest, DIGEST_BYTES)?;
        let index = take(&mut rest, prefix.index)?;
        let root = head.get(PREFIX_BYTES..).and_then(<[u8]>::first_chunk);
        let root = *root.ok_or(OpenError::NotABundle)?;
        // Digests are no secrets, so an early exit leaks none.
        if hash(head) != stated || hash(index) != root {
            return Err(OpenError::WrongDigest);
        }
        let mut named = head.get(ROOT_END..).ok_or(OpenError::NotABundle)?;
        let base = base(take(&mut named, prefix.kind.base_bytes())?);
        let envelope = take(&mut named, prefix.envelope)?;
        // Bytes left over after these parts carry no signature.
        if named.iter().any(|byte| *byte != 0) {
            return Err(OpenError::MalformedEnvelope);
        }
        let (index, is_stripped) = (Index::read(index)?, prefix.is_stripped);
        Ok(Self { base, root, envelope, index, is_stripped, content: rest })
    }

    /// Returns the chunks that the content of the bundle has.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'b>> + use<'b> {
        let is_stripped = self.is_stripped;
        self.index.entries().filter(move |entry| !is_stripped || entry.part != EXPLANATIONS)
    }

    /// Splits a bundle, if its lengths and all its digests fit.
    pub(crate) fn verified(bytes: &'b [u8]) -> Result<Self, OpenError> {
        let container = Self::read(bytes, Kind::Bundle)?;
        container.verify()?;
        Ok(container)
    }

    /// Compares each chunk of the content with its digest.
    pub(crate) fn verify(&self) -> Result<(), OpenError> {
        let expected = self.entries().map(|entry| wide(entry.length)).sum();
        let found = wide(self.content.len());
        if expected != found {
            return Err(OpenError::WrongLength { expected, found });
        }
        let chunks: Vec<&[u8]> = self.chunks().map(|(_, chunk)| chunk).collect();
        // All chunks in one call: chunks of several lengths fill the lanes of the machine together.
        let mut digests = vec![[0; DIGEST_BYTES]; chunks.len()];
        hash_many(&chunks, &mut digests).map_err(|_| OpenError::WrongDigest)?;
        let stated = self.entries().map(|entry| entry.digest);
        if stated.eq(&digests) { Ok(()) } else { Err(OpenError::WrongDigest) }
    }

    /// Returns the chunks of the content, as far as there are bytes.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (Entry<'b>, &'b [u8])> + use<'b> {
        let mut rest = self.content;
        self.entries().map_while(move |entry| {
            let (chunk, left) = rest.split_at_checked(entry.length)?;
            rest = left;
            Some((entry, chunk))
        })
    }

    /// Returns a part as its writer cut it, decompressed.
    pub(crate) fn part(&self, part: u32) -> Result<Vec<u8>, OpenError> {
        let of_part = || self.chunks().filter(|(entry, _)| entry.part == part);
        let mut bytes = vec![0; of_part().map(|(entry, _)| entry.plain).sum()];
        let mut rest = bytes.as_mut_slice();
        for (entry, chunk) in of_part() {
            let (plain, left) = rest.split_at_mut_checked(entry.plain).unwrap_or_default();
            if entry.plain == entry.length {
                plain.copy_from_slice(chunk);
            } else {
                decompress(chunk, plain).ok_or(OpenError::MalformedContent)?;
            }
            rest = left;
        }
        Ok(bytes)
    }

    /// Returns the header, which must name the root of this content.
    pub(crate) fn header(&self, envelope: &Envelope<'_>) -> Result<Header, OpenError> {
        let header = Header::read(envelope.payload)?;
        if header.content == self.root { Ok(header) } else { Err(OpenError::WrongDigest) }
    }

    /// Returns the bytes of a container.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let kind = if self.base.is_some() { Kind::Delta } else { Kind::Bundle };
        let index = self.index.bytes();
        let prefix = Prefix {
            kind,
            envelope: self.envelope.len(),
            index: index.len(),
            content: self.content.len(),
            is_stripped: self.is_stripped,
        };
        let lengths = [ROOT_END + BASE_BYTES + 8 + DIGEST_BYTES, self.envelope.len(), index.len()];
        let mut bytes = Vec::with_capacity(lengths.iter().sum::<usize>() + self.content.len());
        prefix.write(&mut bytes);
        bytes.extend_from_slice(&self.root);
        if let Some(base) = &self.base {
            bytes.extend_from_slice(&base.content);
            bytes.extend_from_slice(&base.revision.to_le_bytes());
        }
        bytes.extend_from_slice(self.envelope);
        bytes.resize(bytes.len() + padding(self.envelope.len()), 0);
        let digest = hash(&bytes);
        bytes.extend_from_slice(&digest);
        bytes.extend_from_slice(index);
        bytes.extend_from_slice(self.content);
        bytes
    }
}

/// Splits off the first `length` bytes.
pub(crate) fn take<'b>(rest: &mut &'b [u8], length: usize) -> Result<&'b [u8], OpenError> {
    let (taken, left) = rest.split_at_checked(length).ok_or(OpenError::NotABundle)?;
    *rest = left;
    Ok(taken)
}

fn base(bytes: &[u8]) -> Option<Base> {
    let (content, revision) = bytes.split_first_chunk()?;
    Some(Base { content: *content, revision: u64::from_le_bytes(*revision.first_chunk()?) })
}

/// Returns the number of zeros after an envelope, which align what follows.
const fn padding(envelope: usize) -> usize {
    envelope.wrapping_neg() % 8
}

/// The length of the prefix of every kind, in bytes.
pub(crate) const PREFIX_BYTES: usize = 32;

/// Flag: the explanations are left out.
const STRIPPED: u32 = 1;

const ROOT_END: usize = PREFIX_BYTES + DIGEST_BYTES;
const BASE_BYTES: usize = DIGEST_BYTES + 8;
