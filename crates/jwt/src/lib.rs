//! JSON Web Tokens: their signatures and their times.
//!
//! Only the algorithm of a key verifies with it: the algorithm in a token chooses among keys, and
//! nothing else. `none` is no algorithm. Nothing here reads a clock, a file or the network.
#![forbid(unsafe_code)]

mod claims;
mod keys;
pub mod limits;

use std::fmt;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_native::protocol::documents;

pub use claims::{Recipient, as_conditions_see, roles, text};
pub use keys::{KeySet, Lenience};

use crate::limits::MAX_TOKEN_BYTES;

/// The reason for a refused token, in words that may go to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// The text is no signed token, or needs an extension.
    Malformed,
    /// The text has more than [`MAX_TOKEN_BYTES`] bytes.
    TooLong,
    /// The set has no key of its id and algorithm.
    NoKey,
    /// No key is available at the moment.
    NoKeys,
    /// No fitting key has made the signature.
    WrongSignature,
    /// `exp` has passed.
    Expired,
    /// `nbf` has not come yet.
    NotYetValid,
    /// `iat` has not come yet.
    IssuedLater,
}

/// The time at which a token must be valid.
#[derive(Clone, Copy, Debug)]
pub struct TokenTime {
    /// The time.
    pub now: Timestamp,
    /// The difference of clocks that is tolerated.
    pub skew: Duration,
}

/// A token cut into its parts.
struct Token<'t> {
    /// The signed text.
    signed: &'t str,
    header: AttrMap,
    claims: AttrMap,
    signature: Vec<u8>,
}

/// Returns the claims of a token that one of `keys` has signed and that is valid at a time.
///
/// # Errors
/// The reason to refuse it.
pub fn verified(token: &str, keys: &KeySet, time: TokenTime) -> Result<AttrMap, TokenError> {
    let token = Token::read(token)?;
    keys.verify(&token.header, token.signed.as_bytes(), &token.signature)?;
    timely(&token.claims, time)?;
    Ok(token.claims)
}

/// Returns the claims of a token without verifying its signature.
///
/// # Errors
/// The text is no token, or the token is not valid at the time.
pub fn unverified(token: &str, time: TokenTime) -> Result<AttrMap, TokenError> {
    let token = Token::read(token)?;
    timely(&token.claims, time)?;
    Ok(token.claims)
}

impl<'t> Token<'t> {
    fn read(token: &'t str) -> Result<Self, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(TokenError::Malformed)?;
        let header = object(header)?;
        // No extension that `crit` names is supported.
        if header.get("crit").is_some() {
            return Err(TokenError::Malformed);
        }
        let signature = decoded(signature)?;
        Ok(Self { signed, header, claims: object(claims)?, signature })
    }
}

fn decoded(part: &str) -> Result<Vec<u8>, TokenError> {
    Base64UrlUnpadded::decode_vec(part).map_err(|_| TokenError::Malformed)
}

fn object(part: &str) -> Result<AttrMap, TokenError> {
    let json = decoded(part)?;
    match documents::attribute(&json) {
        Ok(Attr::Map(map)) => Ok(map),
        _ => Err(TokenError::Malformed),
    }
}

/// Checks that a token is valid at a time. A claim that is no number is an error.
///
/// # Errors
/// The token is not valid at the time.
pub fn timely(claims: &AttrMap, TokenTime { now, skew }: TokenTime) -> Result<(), TokenError> {
    let (now, skew) = (seconds(now), skew.as_secs_f64());
    let time = |name: &str| match claims.get(name) {
        None => Ok(None),
        Some(Attr::Number(seconds)) => Ok(Some(*seconds)),
        Some(_) => Err(TokenError::Malformed),
    };
    if time("exp")?.is_some_and(|end| now >= end + skew) {
        return Err(TokenError::Expired);
    }
    if time("nbf")?.is_some_and(|begin| now < begin - skew) {
        return Err(TokenError::NotYetValid);
    }
    if time("iat")?.is_some_and(|issued| now < issued - skew) {
        return Err(TokenError::IssuedLater);
    }
    Ok(())
}

#[expect(clippy::as_conversions, reason = "seconds up to the year 9999 are exact")]
fn seconds(time: Timestamp) -> f64 {
    time.seconds() as f64
}

impl std::error::Error for TokenError {}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "it is not a signed token",
            Self::TooLong => "it is too long",
            Self::NoKey => "there is no key for it",
            Self::NoKeys => "the keys to verify it are not available at the moment",
            Self::WrongSignature => "its signature is wrong",
            Self::Expired => "it has expired",
            Self::NotYetValid => "it is not valid yet",
            Self::IssuedLater => "it was issued in the future",
        })
    }
}

#[cfg(test)]
mod tests;
