//! Sealing: a bundle that only hosts with the key can read.
//!
//! ```text
//! bytes  0..32   the prefix of the container, kind 3; the length of the envelope counts all that
//! follows
//! then           COSE_Encrypt0 (RFC 9052, section 5.2) around the bytes of a bundle or a delta
//! ```
//!
//! The algorithm is ChaCha20-Poly1305 under a key that is derived for this one bundle, from the key
//! of the host and 32 random bytes beside the nonce. So no two bundles share key and nonce, however
//! many there are. Sealing hides a bundle and proves no origin: the signatures inside do that.

use alloc::vec::Vec;

use minicbor::data::Tag;
use minicbor::{Decoder, decode};
use wardgate_crypto::aead::{self, Key, NONCE_BYTES, Nonce, TAG_BYTES, TooLong};

use crate::cbor::{wide, written};
use crate::conditions::Conditions;
use crate::container::{Kind, PREFIX_BYTES, Prefix};
use crate::envelope::{expect, integer};
use crate::error::OpenError;
use crate::limits::{MAX_BUNDLE_BYTES, MAX_SEAL_BYTES};

/// The length of the key that seals and unseals, in bytes.
pub const KEY_BYTES: usize = aead::KEY_BYTES;

/// The length of the randomness that sealing takes, in bytes. It must be new for every bundle, from
/// the source of the operating system.
pub const RANDOM_BYTES: usize = SALT_BYTES + NONCE_BYTES;

/// Returns the bundle or delta sealed with `key`.
///
/// # Errors
/// The bytes are neither a bundle nor a delta, are sealed already, or are more than are opened.
///
/// # Examples
/// ```
/// use wardgate_bundle::{Conditions, pack, sealed};
/// use wardgate_engine::table::Parts;
///
/// let bundle = pack(&Parts { words: vec![], text: "".into(), blob: [].into(), explanations: "".into() });
/// let (key, randomness) = ([7; sealed::KEY_BYTES], [9; sealed::RANDOM_BYTES]);
/// let sealed = sealed::seal(&bundle, &key, &randomness)?;
/// let conditions = Conditions::default();
/// assert_eq!(sealed::unseal(&sealed, &key, &conditions)?, bundle);
/// let forged = sealed::unseal(&sealed, &[8; sealed::KEY_BYTES], &conditions);
/// assert_eq!(forged.unwrap_err().code(), "forged");
/// # Ok::<(), wardgate_bundle::OpenError>(())
/// ```
pub fn seal(
    bytes: &[u8],
    key: &[u8; KEY_BYTES],
    randomness: &[u8; RANDOM_BYTES],
) -> Result<Vec<u8>, OpenError> {
    if Kind::of(bytes)? == Kind::Sealed {
        return Err(OpenError::Sealed);
    }
    Conditions::default().size(bytes)?;
    let headers = Headers::of(randomness);
    let sealed = aead::seal(&headers.key(key), &headers.nonce, &headers.associated(), bytes)
        .map_err(|TooLong { bytes }| OpenError::TooLarge { bytes, most: MAX_BUNDLE_BYTES })?;
    let mut head = headers.head(sealed.len());
    head.extend_from_slice(&sealed);
    let mut container = Vec::with_capacity(PREFIX_BYTES + head.len());
    let prefix = Prefix {
        kind: Kind::Sealed,
        envelope: head.len(),
        index: 0,
        content: 0,
        is_stripped: false,
    };
    prefix.write(&mut container);
    container.extend_from_slice(&head);
    Ok(container)
}

/// Returns the sealed bundle or delta. It must then be opened or applied like any other.
///
/// # Errors
/// The bytes are not sealed, too many, or sealed with another key.
pub fn unseal(
    bytes: &[u8],
    key: &[u8; KEY_BYTES],
    conditions: &Conditions<'_>,
) -> Result<Vec<u8>, OpenError> {
    conditions.length(bytes.len().saturating_sub(MAX_SEAL_BYTES))?;
    let prefix = Prefix::read(bytes)?;
    if prefix.kind != Kind::Sealed {
        return Err(OpenError::NotSealed);
    }
    let envelope = bytes.get(PREFIX_BYTES..).unwrap_or(&[]);
    if prefix.envelope != envelope.len() || prefix.index != 0 || prefix.content != 0 {
        let (expected, found) = (wide(prefix.envelope), wide(envelope.len()));
        return Err(OpenError::WrongLength { expected, found });
    }
    let (headers, sealed) = Headers::read(envelope)?;
    aead::open(&headers.key(key), &headers.nonce, &headers.associated(), sealed)
        .map_err(|_| OpenError::Forged)
}

/// The fields beside the sealed text; all of them are authenticated.
struct Headers {
    salt: [u8; SALT_BYTES],
    nonce: Nonce,
}

impl Headers {
    fn of(randomness: &[u8; RANDOM_BYTES]) -> Self {
        let mut headers = Self { salt: [0; SALT_BYTES], nonce: [0; NONCE_BYTES] };
        let positions = headers.salt.iter_mut().chain(&mut headers.nonce);
        positions.zip(randomness).for_each(|(position, byte)| *position = *byte);
        headers
    }

    /// Reads a COSE_Encrypt0, and returns its headers and the sealed text.
    fn read(envelope: &[u8]) -> Result<(Self, &[u8]), OpenError> {
        let (protected, sealed) = structure(envelope).map_err(|_| OpenError::MalformedSeal)?;
        let headers = Self::decoded(protected).map_err(|_| OpenError::MalformedSeal)?;
        let head = headers.head(sealed.len());
        // There is one encoding: the bytes before the sealed text must be those that `head` writes.
        let same = envelope.strip_suffix(sealed) == Some(head.as_slice());
        if !same || sealed.len() < TAG_BYTES {
            return Err(OpenError::MalformedSeal);
        }
        Ok((headers, sealed))
    }

    fn decoded(protected: &[u8]) -> Result<Self, decode::Error> {
        let mut cbor = Decoder::new(protected);
        expect(cbor.map()? == Some(3) && integer(&mut cbor)? == ALGORITHM.into())?;
        expect(integer(&mut cbor)? == CHACHA20_POLY1305 && integer(&mut cbor)? == IV.into())?;
        let nonce = cbor.bytes()?.try_into().map_err(|_| decode::Error::message(""))?;
        expect(integer(&mut cbor)? == SALT)?;
        let salt = cbor.bytes()?.try_into().map_err(|_| decode::Error::message(""))?;
        Ok(Self { salt, nonce })
    }

    /// Returns the bytes before a sealed text of `sealed` bytes.
    fn head(&self, sealed: usize) -> Vec<u8> {
        written(|cbor| {
            cbor.tag(COSE_ENCRYPT0)?.array(3)?.bytes(&self.protected())?.map(0)?;
            cbor.bytes_len(wide(sealed))
        })
    }

    fn protected(&self) -> Vec<u8> {
        written(|cbor| {
            cbor.map(3)?.u8(ALGORITHM)?.i64(CHACHA20_POLY1305)?.u8(IV)?.bytes(&self.nonce)?;
            cbor.i64(SALT)?.bytes(&self.salt)
        })
    }

    /// Returns the Enc_structure of RFC 9052, section 5.3.
    fn associated(&self) -> Vec<u8> {
        written(|cbor| cbor.array(3)?.str("Encrypt0")?.bytes(&self.protected())?.bytes(PURPOSE))
    }

    fn key(&self, key: &Key) -> Key {
        aead::sealing_key(key, &self.salt)
    }
}

fn structure(envelope: &[u8]) -> Result<(&[u8], &[u8]), decode::Error> {
    let mut cbor = Decoder::new(envelope);
    expect(cbor.tag()? == COSE_ENCRYPT0 && cbor.array()? == Some(3))?;
    let protected = cbor.bytes()?;
    expect(cbor.map()? == Some(0))?;
    Ok((protected, cbor.bytes()?))
}

/// The purpose of a seal: the external data of COSE, authenticated with the text.
const PURPOSE: &[u8] = b"wardgate sealed v2";

const COSE_ENCRYPT0: Tag = Tag::new(16);
const CHACHA20_POLY1305: i64 = 24;
const ALGORITHM: u8 = 1;
const IV: u8 = 5;
/// A label for private use: COSE registers a salt for key agreement only.
const SALT: i64 = -65537;
const SALT_BYTES: usize = 32;
