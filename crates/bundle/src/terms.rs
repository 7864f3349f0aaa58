//! Terms: the trust set and conditions of a host, as bytes that cross a border.
//!
//! ```text
//! u32  the largest accepted bundle, in bytes
//! u16  the length of the required name, and the name; length 0 accepts any name
//! u8   how many keys must have signed; 0 with no keys: unsigned bundles are accepted
//! u8   how many keys there are
//! u8   how many keys are required signers
//! then for each key: u8 level (44, 65 or 87), u8 length of its id, u16 length of the key, id, key
//! then for each required signer: u8 length of its id, id
//! then the end, or a u8: the sum of 1, decisions go on after the bundle has expired, and 2, the host
//! enforces rate limits
//! ```
//!
//! Numbers are little-endian. A key without an id gets the id derived from it. The hosts that write
//! terms are in other languages; those in Rust make a [`TrustSet`] and [`Conditions`] themselves.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use wardgate_crypto::ml_dsa::Level;

use crate::conditions::{AfterExpiry, Conditions};
use crate::key_id::KeyId;
use crate::trust::{Quorum, Trust, TrustError, TrustSet, TrustedKey};

/// The trust set and conditions of a host, except the time.
#[derive(Debug)]
pub struct Terms {
    spec: Box<[u8]>,
    /// `None` if unsigned bundles are accepted.
    trusted: Option<TrustSet>,
    name: Option<String>,
    max_bytes: usize,
    after_expiry: AfterExpiry,
    enforces_limits: bool,
}

/// The reason why bytes are no terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermsError {
    /// The bytes are cut off, too long, or name an unknown level.
    Malformed,
    /// The keys are no trust set.
    Trust(TrustError),
}

impl Terms {
    /// Reads terms.
    ///
    /// # Errors
    /// The bytes are no terms.
    #[inline(never)]
    pub fn read(spec: &[u8]) -> Result<Self, TermsError> {
        let mut reader = Reader { rest: spec };
        let terms = reader.terms().ok_or(TermsError::Malformed)?;
        let flags = match reader.rest {
            [] => 0,
            [flags @ 1..=3] => *flags,
            _ => return Err(TermsError::Malformed),
        };
        let (max_bytes, name, trusted) = terms;
        let trusted = trusted.map_err(TermsError::Trust)?;
        let after_expiry = if flags & 1 == 0 { AfterExpiry::Deny } else { AfterExpiry::Decide };
        let enforces_limits = flags & 2 != 0;
        Ok(Self { spec: spec.into(), trusted, name, max_bytes, after_expiry, enforces_limits })
    }

    /// Returns true if `spec` encodes these terms.
    #[must_use]
    pub fn are(&self, spec: &[u8]) -> bool {
        *self.spec == *spec
    }

    /// Returns the trust of the host.
    #[must_use]
    pub fn trust(&self) -> Trust<'_> {
        self.trusted.as_ref().map_or(Trust::Unsigned, Trust::Signed)
    }

    /// Returns true if the host enforces rate limits, and may open bundles that have some.
    #[must_use]
    pub const fn enforces_limits(&self) -> bool {
        self.enforces_limits
    }

    /// Returns the conditions for every bundle. The host adds the time and the lowest revision.
    #[must_use]
    pub fn conditions(&self) -> Conditions<'_> {
        Conditions {
            name: self.name.as_deref(),
            max_bytes: self.max_bytes,
            after_expiry: self.after_expiry,
            ..Conditions::default()
        }
    }
}

impl fmt::Display for TermsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the terms are malformed"),
            Self::Trust(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TermsError {}

type Trusted = Result<Option<TrustSet>, TrustError>;

struct Reader<'s> {
    rest: &'s [u8],
}

impl<'s> Reader<'s> {
    fn terms(&mut self) -> Option<(usize, Option<String>, Trusted)> {
        let max_bytes = usize::try_from(u32::from_le_bytes(self.array()?)).ok()?;
        let name = self.wide()?;
        let name = core::str::from_utf8(self.take(name)?).ok()?;
        let name = Some(name).filter(|name| !name.is_empty()).map(String::from);
        Some((max_bytes, name, self.trusted()?))
    }

    fn trusted(&mut self) -> Option<Trusted> {
        let [at_least, count, required] = self.array()?.map(usize::from);
        if at_least == 0 && count == 0 {
            return Some(Ok(None));
        }
        let keys: Option<Result<Vec<TrustedKey>, TrustError>> =
            (0..count).map(|_| self.key()).collect::<Option<_>>().map(all);
        let required = (0..required).map(|_| self.id()).collect::<Option<_>>()?;
        let quorum = Quorum { at_least, required };
        Some(keys?.and_then(|keys| TrustSet::new(keys, quorum)).map(Some))
    }

    fn key(&mut self) -> Option<Result<TrustedKey, TrustError>> {
        let [level, id] = self.array()?;
        let length = self.wide()?;
        let level = level_of(level.into())?;
        let id = self.take(id.into())?;
        let key = self.take(length)?;
        let id = KeyId::new(id).unwrap_or_else(|| KeyId::of(level, key));
        Some(TrustedKey::new(id, level, key))
    }

    fn id(&mut self) -> Option<KeyId> {
        let [length] = self.array()?;
        KeyId::new(self.take(length.into())?)
    }

    fn wide(&mut self) -> Option<usize> {
        self.array().map(u16::from_le_bytes).map(usize::from)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn take(&mut self, length: usize) -> Option<&'s [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

/// Returns the level with this number in terms: 44, 65 or 87.
#[must_use]
pub const fn level_of(number: u32) -> Option<Level> {
    match number {
        44 => Some(Level::MlDsa44),
        65 => Some(Level::MlDsa65),
        87 => Some(Level::MlDsa87),
        _ => None,
    }
}

fn all(keys: Vec<Result<TrustedKey, TrustError>>) -> Result<Vec<TrustedKey>, TrustError> {
    keys.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;

    /// Writes terms with the name `n`, this quorum, a key for each id, and required signers.
    fn written(at_least: u8, ids: &[&str], required: &[&str]) -> Vec<u8> {
        let mut spec = vec![0, 0, 1, 0, 1, 0, b'n'];
        let counts = [ids.len(), required.len()].map(|count| u8::try_from(count).unwrap());
        spec.extend([at_least, counts[0], counts[1]]);
        for (number, id) in (1_u8..).zip(ids) {
            let length = u8::try_from(id.len()).unwrap();
            spec.extend([44, length]);
            spec.extend(1312_u16.to_le_bytes());
            spec.extend(id.as_bytes());
            spec.extend([number; 1312]);
        }
        for id in required {
            spec.push(u8::try_from(id.len()).unwrap());
            spec.extend(id.as_bytes());
        }
        spec
    }

    fn check(spec: &[u8], expected: &str) {
        let outcome = match Terms::read(spec) {
            Ok(terms) => {
                assert!(terms.are(spec));
                let name = terms.name.unwrap_or_default();
                format!("{}, {name}, {}", terms.max_bytes, terms.trusted.is_some())
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(outcome, expected);
    }

    #[test]
    fn terms_are_read_as_they_are_written() {
        check(&written(0, &[], &[]), "65536, n, false");
        check(&written(1, &["a"], &[]), "65536, n, true");
        check(&written(2, &["a", "b", ""], &["b"]), "65536, n, true");
    }

    #[test]
    fn malformed_terms_trust_no_key() {
        check(&written(0, &["a"], &[]), "expected a number of signers from 1 to 1, found 0");
        check(&written(1, &[], &[]), "expected 1 to 64 trusted keys, found 0");
        check(&written(2, &["a"], &[]), "expected a number of signers from 1 to 1, found 2");
        check(&written(1, &["a"], &["b"]), "the required key `b` is not among the trusted keys");
        check(&written(1, &["a", "a"], &[]), "two trusted keys have the id `a`");
    }

    #[test]
    fn cut_off_bytes_are_no_terms() {
        let whole = written(1, &["a"], &["a"]);
        for length in 0..whole.len() {
            check(&whole[..length], "the terms are malformed");
        }
        let longer = [whole.as_slice(), &[0]].concat();
        check(&longer, "the terms are malformed");
    }

    #[test]
    fn decisions_continue_after_expiry_only_if_the_terms_allow_it() {
        let after = |spec: &[u8]| Terms::read(spec).unwrap().conditions().after_expiry;
        let whole = written(1, &["a"], &[]);
        assert_eq!(after(&whole), AfterExpiry::Deny);
        assert_eq!(after(&[whole.as_slice(), &[1]].concat()), AfterExpiry::Decide);
        assert_eq!(after(&[whole.as_slice(), &[2]].concat()), AfterExpiry::Deny);
        assert_eq!(after(&[whole.as_slice(), &[3]].concat()), AfterExpiry::Decide);
        check(&[whole.as_slice(), &[0]].concat(), "the terms are malformed");
        check(&[whole.as_slice(), &[4]].concat(), "the terms are malformed");
        check(&[whole.as_slice(), &[1, 1]].concat(), "the terms are malformed");
    }

    #[test]
    fn limits_are_enforced_only_if_the_terms_say_so() {
        let enforces = |flags: &[u8]| {
            Terms::read(&[&written(1, &["a"], &[]), flags].concat()).unwrap().enforces_limits()
        };
        assert_eq!([&[][..], &[1], &[2], &[3]].map(enforces), [false, false, true, true]);
    }
}
