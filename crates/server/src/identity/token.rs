//! Tokens of callers, stored as digests.
//!
//! The memory of the server holds no token. Digests are compared in constant time, all of them and
//! each to its end, so that the time reveals no partial match.

use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq;

use crate::limits::MIN_TOKEN_BYTES;

/// The SHA-256 of a token, or of a certificate.
#[derive(Clone, Debug)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    /// Takes the digest of bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut out = [0; 32];
        out.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Self(out)
    }

    /// Returns the hexadecimal digits.
    pub(crate) fn hex(&self) -> String {
        use std::fmt::Write as _;
        self.0.iter().fold(String::new(), |mut text, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Wraps a digest.
    pub(crate) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the digest of a token; `None` if it is so short that it can be guessed.
    pub(crate) fn of_token(token: &[u8]) -> Option<Self> {
        (token.len() >= MIN_TOKEN_BYTES).then(|| Self::of(token))
    }
}

/// Returns the last owner of the given digest that fits `is_meant`. Compares all of them, each to
/// its end.
pub(crate) fn find<'d, K>(
    known: impl Iterator<Item = (K, &'d Digest)>,
    given: &Digest,
    is_meant: impl Fn(&K) -> bool,
) -> Option<K> {
    let same = known.filter(|(_, digest)| bool::from(digest.0.ct_eq(&given.0)));
    same.map(|(owner, _)| owner).filter(is_meant).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_token_is_found() {
        let known = [(1, Digest::of(b"one")), (2, Digest::of(b"two"))];
        let check = |token: &[u8], expected: Option<i32>| {
            let known = known.iter().map(|(owner, digest)| (*owner, digest));
            assert_eq!(find(known, &Digest::of(token), |_| true), expected);
        };
        check(b"one", Some(1));
        check(b"two", Some(2));
        check(b"", None);
        check(b"tw", None);
        check(b"two ", None);
        let same = [(1, Digest::of(b"one")), (2, Digest::of(b"one"))];
        for meant in [1, 2] {
            let same = same.iter().map(|(owner, digest)| (*owner, digest));
            assert_eq!(find(same, &Digest::of(b"one"), |owner| *owner == meant), Some(meant));
        }
    }

    #[test]
    fn short_tokens_are_refused() {
        assert!(Digest::of_token(&[b'a'; MIN_TOKEN_BYTES]).is_some());
        assert!(Digest::of_token(&[b'a'; MIN_TOKEN_BYTES - 1]).is_none());
    }
}
