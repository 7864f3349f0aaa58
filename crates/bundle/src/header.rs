//! The header of a bundle: the part that is signed.
//!
//! It names the content by its root, so a signature over the header covers the whole content.

mod json;

use alloc::string::String;
use alloc::vec::Vec;

use minicbor::{Decoder, Encoder, decode};
use wardgate_crypto::blake3::Digest;
use wardgate_engine::table::Evaluation;

use crate::cbor::{Written, written};
use crate::error::OpenError;
use crate::format::VERSION;
use crate::limits::{MAX_NAME_BYTES, MAX_NUMBER};
pub use json::hexadecimal;

/// The part of a header that its writer chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The name of the bundle; may be empty.
    pub name: String,
    /// The revision, which grows with every bundle of this name.
    pub revision: u64,
    /// The time at which the bundle was made, in seconds since 1970. It informs people; no check
    /// reads it.
    pub created: u64,
    /// The time from which the bundle may be opened, in seconds since 1970.
    pub not_before: Option<u64>,
    /// The time from which the bundle is no longer opened, and from which an opened table denies,
    /// in seconds since 1970.
    pub expires: Option<u64>,
}

/// The header of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The part that the writer chose.
    pub label: Label,
    /// The meaning of an error in a condition.
    pub evaluation: Evaluation,
    /// The root of the content: the digest of the list of the digests of its chunks.
    pub content: Digest,
}

impl Label {
    /// Returns true if this can be the label of a bundle.
    pub(crate) fn is_sound(&self) -> bool {
        let numbers = [Some(self.revision), Some(self.created), self.not_before, self.expires];
        let begins = self.not_before.unwrap_or(0);
        self.name.len() <= MAX_NAME_BYTES
            && !self.name.chars().any(char::is_control)
            && numbers.into_iter().flatten().all(|number| number <= MAX_NUMBER)
            && self.expires.is_none_or(|expires| begins < expires)
    }
}

impl Header {
    /// Reads the payload of an envelope.
    pub(crate) fn read(payload: &[u8]) -> Result<Self, OpenError> {
        let header = Self::decoded(payload).map_err(|_| OpenError::MalformedHeader)?;
        if !header.label.is_sound() || header.payload() != payload {
            return Err(OpenError::MalformedHeader);
        }
        Ok(header)
    }

    /// Returns the header as the payload of an envelope.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let Label { name, revision, created, not_before, expires } = &self.label;
        let members = 6 + u64::from(not_before.is_some()) + u64::from(expires.is_some());
        let evaluation = evaluation_code(self.evaluation);
        let numbers = [
            (key::REVISION, Some(*revision)),
            (key::CREATED, Some(*created)),
            (key::NOT_BEFORE, *not_before),
            (key::EXPIRES, *expires),
            (key::EVALUATION, Some(evaluation)),
        ];
        written(|cbor| {
            member(cbor.map(members)?, key::FORMAT, Some(u64::from(VERSION)))?;
            cbor.u64(key::NAME)?.str(name)?;
            for (key, number) in numbers {
                member(cbor, key, number)?;
            }
            cbor.u64(key::CONTENT)?.bytes(&self.content)
        })
    }

    /// Reads members in any order; [`Self::read`] refuses every order but one.
    fn decoded(payload: &[u8]) -> Result<Self, decode::Error> {
        let mut cbor = Decoder::new(payload);
        let members = cbor.map()?.filter(|members| *members <= key::ALL).ok_or_else(wrong)?;
        let mut label = Label::default();
        let (mut evaluation, mut content) = (None, None);
        for _ in 0..members {
            match number(&mut cbor)? {
                key::NAME => label.name = String::from(cbor.str()?),
                key::CONTENT => content = cbor.bytes()?.try_into().ok(),
                key => match (key, number(&mut cbor)?) {
                    (key::FORMAT, format) if format == u64::from(VERSION) => {}
                    (key::REVISION, revision) => label.revision = revision,
                    (key::CREATED, created) => label.created = created,
                    (key::NOT_BEFORE, not_before) => label.not_before = Some(not_before),
                    (key::EXPIRES, expires) => label.expires = Some(expires),
                    (key::EVALUATION, code) => evaluation = evaluation_of(code),
                    _ => return Err(wrong()),
                },
            }
        }
        let (evaluation, content) = evaluation.zip(content).ok_or_else(wrong)?;
        Ok(Self { label, evaluation, content })
    }
}

/// Writes a member that is a number, if it is there.
#[inline(never)]
fn member(cbor: &mut Encoder<Vec<u8>>, key: u64, number: Option<u64>) -> Written<'_> {
    match number {
        Some(number) => cbor.u64(key)?.u64(number),
        None => Ok(cbor),
    }
}

/// Reads a number. In one place: inlined for each member, it made the module 1 KB larger.
#[inline(never)]
fn number(cbor: &mut Decoder<'_>) -> Result<u64, decode::Error> {
    cbor.u64()
}

fn wrong() -> decode::Error {
    decode::Error::message("")
}

const fn evaluation_code(evaluation: Evaluation) -> u64 {
    match evaluation {
        Evaluation::Strict => 0,
        Evaluation::Lenient => 1,
    }
}

const fn evaluation_of(code: u64) -> Option<Evaluation> {
    match code {
        0 => Some(Evaluation::Strict),
        1 => Some(Evaluation::Lenient),
        _ => None,
    }
}

/// The keys of the members, in their order.
mod key {
    pub(super) const FORMAT: u64 = 1;
    pub(super) const NAME: u64 = 2;
    pub(super) const REVISION: u64 = 3;
    pub(super) const CREATED: u64 = 4;
    pub(super) const NOT_BEFORE: u64 = 5;
    pub(super) const EXPIRES: u64 = 6;
    pub(super) const EVALUATION: u64 = 7;
    pub(super) const CONTENT: u64 = 8;
    /// The number of keys.
    pub(super) const ALL: u64 = 8;
}

#[cfg(test)]
mod tests;
