//! Terms: what a caller accepts, written down by `npm/src/terms.ts` and read here once.
//!
//! ```text
//! u32  the most bytes of a bundle
//! u16  the length of the name that it must have, and the name; none is any name
//! u8   how many keys must have signed; 0 with no keys: nobody
//! u8   how many keys there are
//! u8   how many keys must be among those that signed
//! then for each key: u8 level (44, 65 or 87), u8 length of its id, u16 length of the key, id, key
//! then for each key that must sign: u8 length of its id, id
//! ```
//!
//! Numbers are little-endian. A key without an id has the one that follows from it.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use wardgate_bundle::{
    Conditions, KeyId, Level, Opened, Quorum, Trust, TrustError, TrustSet, TrustedKey, delta, open,
};

use crate::clock;
use crate::failure::Failure;

/// What a caller accepts.
#[derive(Debug)]
pub(crate) struct Terms {
    spec: Box<[u8]>,
    /// Nothing where nobody need have signed.
    trusted: Option<TrustSet>,
    name: Option<String>,
    max_bytes: usize,
}

/// What is asked of a bundle at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    now: u64,
    min_revision: u64,
}

impl Moment {
    /// Takes the time in milliseconds since 1970. A clock that stands before that would keep what has expired
    /// valid, so it opens nothing.
    #[expect(clippy::as_conversions, reason = "the package hands in whole numbers below 2^53")]
    pub(crate) fn new(now: f64, min_revision: f64) -> Result<Self, Failure> {
        let seconds = clock::timestamp(now)?.seconds();
        let now = u64::try_from(seconds)
            .map_err(|_| Failure::Range("the clock must not stand before 1970".into()))?;
        Ok(Self { now, min_revision: min_revision as u64 })
    }
}

impl Terms {
    pub(crate) fn read(spec: &[u8]) -> Result<Self, Failure> {
        let mut reader = Reader { rest: spec };
        let terms = reader.terms().filter(|_| reader.rest.is_empty());
        let (max_bytes, name, trusted) =
            terms.ok_or_else(|| Failure::Range("the terms are malformed".into()))?;
        let trusted = trusted.map_err(|error| Failure::Range(error.to_string()))?;
        Ok(Self { spec: spec.into(), trusted, name, max_bytes })
    }

    /// Whether these are the terms that `spec` writes down.
    pub(crate) fn are(&self, spec: &[u8]) -> bool {
        *self.spec == *spec
    }

    pub(crate) fn open(&self, bundle: &[u8], moment: Moment) -> Result<Opened, Failure> {
        let conditions = Conditions {
            now: Some(moment.now),
            min_revision: moment.min_revision,
            name: self.name.as_deref(),
            max_bytes: self.max_bytes,
        };
        Ok(open(bundle, self.trust(), &conditions)?)
    }

    /// Puts together what a delta makes of its base, which must then be opened.
    pub(crate) fn apply(&self, base: &[u8], delta: &[u8]) -> Result<Vec<u8>, Failure> {
        let conditions = Conditions { max_bytes: self.max_bytes, ..Conditions::default() };
        Ok(delta::apply(base, delta, self.trust(), &conditions)?)
    }

    fn trust(&self) -> Trust<'_> {
        self.trusted.as_ref().map_or(Trust::Unsigned, Trust::Signed)
    }
}

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

/// Returns the level that the package calls by this number.
pub(crate) fn level_of(number: u32) -> Option<Level> {
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
    use alloc::vec;

    /// Terms with the name `n`, this quorum, as many keys as there are ids, and keys that must sign.
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
        let said = match Terms::read(spec) {
            Ok(terms) => {
                assert!(terms.are(spec));
                let name = terms.name.unwrap_or_default();
                format!("{}, {name}, {}", terms.max_bytes, terms.trusted.is_some())
            }
            Err(Failure::Range(message)) => message,
            Err(other) => format!("{other:?}"),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn terms_are_read_as_they_are_written() {
        check(&written(0, &[], &[]), "65536, n, false");
        check(&written(1, &["a"], &[]), "65536, n, true");
        check(&written(2, &["a", "b", ""], &["b"]), "65536, n, true");
    }

    #[test]
    fn nobody_is_trusted_by_mistake() {
        check(&written(0, &["a"], &[]), "expected a number of signers from 1 to 1, found 0");
        check(&written(1, &[], &[]), "expected 1 to 64 trusted keys, found 0");
        check(&written(2, &["a"], &[]), "expected a number of signers from 1 to 1, found 2");
        check(&written(1, &["a"], &["b"]), "`b` must sign and is not among the trusted keys");
        check(&written(1, &["a", "a"], &[]), "two trusted keys have the id `a`");
    }

    #[test]
    fn what_is_cut_off_is_no_terms() {
        let whole = written(1, &["a"], &["a"]);
        for length in 0..whole.len() {
            check(&whole[..length], "the terms are malformed");
        }
        let longer = [whole.as_slice(), &[0]].concat();
        check(&longer, "the terms are malformed");
    }
}
