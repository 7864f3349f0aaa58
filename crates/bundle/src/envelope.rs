//! The envelope: COSE_Sign (RFC 9052, section 4.1) around the header.
//!
//! There is one encoding. All unprotected headers of COSE are empty; each signature has its
//! algorithm and the id of its key in its protected header, so both are signed. ML-DSA is used as
//! RFC 9964 registers it, with an empty context; COSE's own external data separates these
//! signatures from signatures for other purposes.

use alloc::vec::Vec;

use minicbor::data::Tag;
use minicbor::{Decoder, decode};

use crate::cbor::{wide, written};
use crate::error::OpenError;
use crate::key_id::KeyId;
use crate::limits::MAX_SIGNATURES;

/// The header and its signatures.
pub(crate) struct Envelope<'b> {
    /// The header as bytes.
    pub(crate) payload: &'b [u8],
    /// The signatures in their order.
    pub(crate) signatures: Vec<Signature<'b>>,
}

/// One signature.
#[derive(Clone, Copy)]
pub(crate) struct Signature<'b> {
    /// The algorithm's number in the registry of COSE algorithms.
    pub(crate) algorithm: i64,
    /// The id of the key that the signature claims to be by.
    pub(crate) key: KeyId,
    /// The bytes of the signature.
    pub(crate) bytes: &'b [u8],
}

impl<'b> Envelope<'b> {
    pub(crate) fn read(bytes: &'b [u8]) -> Result<Self, OpenError> {
        let mut cbor = Decoder::new(bytes);
        let (payload, count) = body(&mut cbor).map_err(|_| OpenError::MalformedEnvelope)?;
        if count > wide(MAX_SIGNATURES) {
            return Err(OpenError::TooManySignatures { found: count });
        }
        let signatures = (0..count).map(|_| Signature::read(&mut cbor)).collect::<Result<_, _>>();
        let envelope =
            Self { payload, signatures: signatures.map_err(|_| OpenError::MalformedEnvelope)? };
        if envelope.bytes() != bytes {
            return Err(OpenError::MalformedEnvelope);
        }
        Ok(envelope)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        written(|cbor| {
            cbor.tag(COSE_SIGN)?.array(4)?.bytes(NO_HEADER)?.map(0)?;
            cbor.bytes(self.payload)?.array(wide(self.signatures.len()))?;
            for signature in &self.signatures {
                let protected = protected(signature.algorithm, &signature.key);
                cbor.array(3)?.bytes(&protected)?.map(0)?.bytes(signature.bytes)?;
            }
            Ok(cbor)
        })
    }
}

impl<'b> Signature<'b> {
    fn read(cbor: &mut Decoder<'b>) -> Result<Self, decode::Error> {
        expect(cbor.array()? == Some(3))?;
        let (algorithm, key) = named(cbor.bytes()?)?;
        expect(cbor.map()? == Some(0))?;
        Ok(Self { algorithm, key, bytes: cbor.bytes()? })
    }
}

/// Returns the bytes that a key signs: the Sig_structure of RFC 9052, section 4.4.
pub(crate) fn to_be_signed(payload: &[u8], algorithm: i64, key: &KeyId) -> Vec<u8> {
    written(|cbor| {
        cbor.array(5)?.str("Signature")?.bytes(NO_HEADER)?.bytes(&protected(algorithm, key))?;
        cbor.bytes(PURPOSE)?.bytes(payload)
    })
}

/// Reads up to the signatures, and returns the payload and the number of signatures that follow.
fn body<'b>(cbor: &mut Decoder<'b>) -> Result<(&'b [u8], u64), decode::Error> {
    expect(cbor.tag()? == COSE_SIGN && cbor.array()? == Some(4))?;
    expect(cbor.bytes()? == NO_HEADER && cbor.map()? == Some(0))?;
    let payload = cbor.bytes()?;
    let count = cbor.array()?.ok_or_else(wrong)?;
    Ok((payload, count))
}

/// Reads the protected header of a signature: its algorithm and the id of its key.
fn named(protected: &[u8]) -> Result<(i64, KeyId), decode::Error> {
    let mut cbor = Decoder::new(protected);
    expect(cbor.map()? == Some(2) && integer(&mut cbor)? == ALGORITHM.into())?;
    let algorithm = integer(&mut cbor)?;
    expect(integer(&mut cbor)? == KEY_ID.into())?;
    Ok((algorithm, KeyId::new(cbor.bytes()?).ok_or_else(wrong)?))
}

fn protected(algorithm: i64, key: &KeyId) -> Vec<u8> {
    written(|cbor| cbor.map(2)?.u8(ALGORITHM)?.i64(algorithm)?.u8(KEY_ID)?.bytes(key.as_bytes()))
}

/// Reads an integer of any size: one reader for all of them is a smaller module.
pub(crate) fn integer(cbor: &mut Decoder<'_>) -> Result<i64, decode::Error> {
    i64::try_from(cbor.int()?).map_err(|_| wrong())
}

pub(crate) fn expect(holds: bool) -> Result<(), decode::Error> {
    if holds { Ok(()) } else { Err(wrong()) }
}

fn wrong() -> decode::Error {
    decode::Error::message("")
}

/// The purpose of a signature. It is signed with the header, so that a signature made for another
/// purpose with the same key is invalid for a bundle, and the other way round.
const PURPOSE: &[u8] = b"wardgate bundle v2";

/// The encoding of an empty protected header: zero bytes (RFC 9052, section 3).
const NO_HEADER: &[u8] = &[];

const COSE_SIGN: Tag = Tag::new(98);
const ALGORITHM: u8 = 1;
const KEY_ID: u8 = 4;

#[cfg(test)]
mod tests;
