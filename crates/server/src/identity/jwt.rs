//! JSON Web Tokens: their signatures and their times.
//!
//! Only the algorithm of a key verifies with it: the algorithm in a token chooses among keys, and
//! nothing else. `none` is no algorithm.

mod jwks;
mod keys;
mod static_keys;

use std::fmt;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_native::protocol::documents;

pub(crate) use jwks::RemoteKeySet;
use keys::KeySet;
pub(crate) use keys::{Lenience, text};
pub(crate) use static_keys::Keys;

/// The reason for a refused token, in words that may go to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenError {
    Malformed,
    TooLong,
    NoKey,
    /// No key is available at the moment.
    NoKeys,
    WrongSignature,
    Expired,
    NotYetValid,
    IssuedLater,
}

/// The time at which a token must be valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenTime {
    pub(crate) now: Timestamp,
    /// The difference of clocks that is tolerated.
    pub(crate) skew: Duration,
}

/// A token cut into its parts.
struct Token<'t> {
    /// The signed text.
    signed: &'t str,
    header: AttrMap,
    claims: AttrMap,
    signature: Vec<u8>,
}

/// The claims of a token that one of `keys` has signed, at the time `now`.
fn verified(token: &str, keys: &KeySet, time: TokenTime) -> Result<AttrMap, TokenError> {
    let token = Token::read(token)?;
    keys.verify(&token.header, token.signed.as_bytes(), &token.signature)?;
    timely(&token.claims, time)?;
    Ok(token.claims)
}

/// Returns the claims of a token without verifying its signature.
pub(crate) fn unverified(token: &str, time: TokenTime) -> Result<AttrMap, TokenError> {
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
pub(crate) fn timely(
    claims: &AttrMap,
    TokenTime { now, skew }: TokenTime,
) -> Result<(), TokenError> {
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

/// Bytes of the longest token.
const MAX_TOKEN_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests;
