//! Container version 1.
//!
//! ```text
//! bytes  0..8    magic "WARDGATE"
//! bytes  8..12   container version, 1
//! bytes 12..16   flags, 0
//! bytes 16..20   length of the signatures in bytes, 0 while there are none
//! bytes 20..24   length of the words in bytes, a multiple of 4
//! bytes 24..28   length of the text in bytes
//! bytes 28..32   length of the blob in bytes
//! bytes 32..64   BLAKE3 digest of the first 32 bytes and everything after the signatures
//! then           signatures, words, text, blob, and nothing else
//! ```
//!
//! All numbers are little-endian. The digest leaves out only itself and the signatures, which will be
//! made over it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use wardgate_engine::table::{Flaw, Parts, PolicyTable};

use crate::limits::MAX_BUNDLE_BYTES;

const MAGIC: &[u8; 8] = b"WARDGATE";
const VERSION: u32 = 1;
const PREFIX_BYTES: usize = 32;
const DIGEST_BYTES: usize = 32;
const HEADER_BYTES: usize = PREFIX_BYTES + DIGEST_BYTES;

/// Whom a host believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Anyone: the bundle need not be signed. For development, and for bytes that the host already
    /// trusts because of where they come from.
    Unsigned,
}

/// Why a bundle was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The bytes are no bundle.
    NotABundle,
    /// A version of the container that this program does not know.
    UnsupportedVersion {
        /// The version found.
        found: u32,
    },
    /// A flag that this program does not know.
    UnsupportedFlags {
        /// The flags found.
        found: u32,
    },
    /// The bundle is larger than is opened.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The lengths in the header are not those of the bytes that follow.
    WrongLength {
        /// How many bytes the header announces.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The digest does not fit the content.
    WrongDigest,
    /// The bundle carries signatures, which this program cannot check.
    UnsupportedSignature,
    /// The text is not UTF-8.
    NotText,
    /// The table inside is malformed.
    Malformed(Flaw),
}

impl OpenError {
    /// Returns a stable name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotABundle => "not-a-bundle",
            Self::UnsupportedVersion { .. } => "unsupported-version",
            Self::UnsupportedFlags { .. } => "unsupported-flags",
            Self::TooLarge { .. } => "too-large",
            Self::WrongLength { .. } => "wrong-length",
            Self::WrongDigest => "wrong-digest",
            Self::UnsupportedSignature => "unsupported-signature",
            Self::NotText => "not-text",
            Self::Malformed(_) => "malformed",
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotABundle => f.write_str("these bytes are not a bundle"),
            Self::UnsupportedVersion { found } => {
                write!(f, "bundle version {found} is not supported, expected {VERSION}")
            }
            Self::UnsupportedFlags { found } => write!(f, "unknown bundle flags {found:#x}"),
            Self::TooLarge { bytes } => {
                write!(f, "the bundle has {bytes} bytes, at most {MAX_BUNDLE_BYTES} are opened")
            }
            Self::WrongLength { expected, found } => {
                write!(f, "the bundle announces {expected} bytes, found {found}")
            }
            Self::WrongDigest => f.write_str("the digest does not fit the content"),
            Self::UnsupportedSignature => f.write_str("signed bundles cannot be opened yet"),
            Self::NotText => f.write_str("the text of the bundle is not UTF-8"),
            Self::Malformed(flaw) => write!(f, "the policy table is malformed: {flaw}"),
        }
    }
}

impl core::error::Error for OpenError {}

/// Writes a table as an unsigned bundle. The same parts give the same bytes.
#[must_use]
pub fn seal(parts: &Parts) -> Vec<u8> {
    let words: Vec<u8> = parts.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let lengths = [0, words.len(), parts.text.len(), parts.blob.len()];
    let mut bytes = Vec::with_capacity(HEADER_BYTES + lengths.iter().sum::<usize>());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    for length in lengths {
        // A longer section could not be opened either: see MAX_BUNDLE_BYTES.
        bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes);
    hasher.update(&words).update(parts.text.as_bytes()).update(&parts.blob);
    bytes.extend_from_slice(hasher.finalize().as_bytes());
    bytes.extend_from_slice(&words);
    bytes.extend_from_slice(parts.text.as_bytes());
    bytes.extend_from_slice(&parts.blob);
    bytes
}

/// Opens a bundle: the only way from bytes to a policy table.
///
/// # Errors
/// The first reason found to refuse it.
pub fn open(bytes: &[u8], trust: Trust) -> Result<PolicyTable, OpenError> {
    let Trust::Unsigned = trust;
    let header = Header::read(bytes)?;
    let content = header.verified_content(bytes)?;
    let (words, rest) = content.split_at_checked(header.words).ok_or(OpenError::NotABundle)?;
    let (text, blob) = rest.split_at_checked(header.text).ok_or(OpenError::NotABundle)?;
    let text = core::str::from_utf8(text).map_err(|_| OpenError::NotText)?;
    let (words, _) = words.as_chunks::<4>();
    let parts = Parts {
        words: words.iter().map(|word| u32::from_le_bytes(*word)).collect(),
        text: Box::from(text),
        blob: Box::from(blob),
    };
    PolicyTable::from_parts(parts).map_err(OpenError::Malformed)
}

/// Returns the digest that the bytes of a bundle state. Only [`open`] tells whether it fits.
#[must_use]
pub fn digest(bytes: &[u8]) -> Option<[u8; DIGEST_BYTES]> {
    bytes.get(PREFIX_BYTES..)?.first_chunk().copied()
}

struct Header {
    signatures: usize,
    words: usize,
    text: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(OpenError::NotABundle);
        }
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(OpenError::TooLarge { bytes: bytes.len() });
        }
        let found = number(bytes, 8)?;
        if found != VERSION {
            return Err(OpenError::UnsupportedVersion { found });
        }
        let flags = number(bytes, 12)?;
        if flags != 0 {
            return Err(OpenError::UnsupportedFlags { found: flags });
        }
        let [signatures, words, text, blob] =
            [number(bytes, 16)?, number(bytes, 20)?, number(bytes, 24)?, number(bytes, 28)?];
        let header = u64::try_from(HEADER_BYTES).unwrap_or(0);
        let expected = [signatures, words, text, blob]
            .into_iter()
            .fold(header, |sum, length| sum + u64::from(length));
        let found = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if expected != found || words % 4 != 0 {
            return Err(OpenError::WrongLength { expected, found });
        }
        let size = |length: u32| usize::try_from(length).unwrap_or(usize::MAX);
        Ok(Self { signatures: size(signatures), words: size(words), text: size(text) })
    }

    /// Returns what follows the signatures, if the digest fits.
    fn verified_content<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], OpenError> {
        let prefix = bytes.get(..PREFIX_BYTES).ok_or(OpenError::NotABundle)?;
        let digest = bytes.get(PREFIX_BYTES..HEADER_BYTES).ok_or(OpenError::NotABundle)?;
        let start = HEADER_BYTES.saturating_add(self.signatures);
        let content = bytes.get(start..).ok_or(OpenError::NotABundle)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(prefix).update(content);
        // The digest is no secret, so an early exit tells nothing.
        if hasher.finalize().as_bytes().as_slice() != digest {
            return Err(OpenError::WrongDigest);
        }
        if self.signatures != 0 {
            return Err(OpenError::UnsupportedSignature);
        }
        Ok(content)
    }
}

fn number(bytes: &[u8], at: usize) -> Result<u32, OpenError> {
    let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
    word.map(u32::from_le_bytes).ok_or(OpenError::NotABundle)
}

#[cfg(test)]
mod tests;
