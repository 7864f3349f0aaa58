//! The trust and the conditions of a host for bundles.

use wardgate_native::{AfterExpiry, Clock, Level};

/// The conditions for a bundle that do not depend on the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The signers that the host believes.
    pub trust: Trust,
    /// The name that a bundle must have; `None` accepts any.
    pub name: Option<String>,
    /// The largest bundle in bytes.
    pub max_bytes: u32,
    /// The decisions of the PDP once the bundle has expired.
    pub after_expiry: AfterExpiry,
}

/// The signers that the host believes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Accepts any bundle, and reads no signature. For development, and for bytes that are trusted
    /// because of their origin.
    Unsigned,
    /// Accepts bundles signed by the keys of this set.
    Signed(TrustSet),
}

/// The trusted keys, and how many of them must have signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustSet {
    /// The keys.
    pub keys: Vec<Key>,
    /// The number of keys that must have signed: from 1 to the number of keys.
    pub at_least: u8,
    /// Ids of keys that must be among them.
    pub required: Vec<Vec<u8>>,
}

/// A public key that is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The id by which signatures name it; `None` for the id derived from the key.
    pub id: Option<Vec<u8>>,
    /// The parameter set of the key.
    pub level: Level,
    /// The key in the encoding of FIPS 204.
    pub public_key: Vec<u8>,
}

/// The conditions for a bundle that depend on the time of opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The time, in seconds since 1970. Without it bundles with dates are refused.
    pub now: Option<u64>,
    /// The lowest revision that is accepted: the highest that the host has seen.
    pub min_revision: u64,
}

impl Terms {
    /// Returns terms that require a bounded size only.
    #[must_use]
    pub const fn unsigned() -> Self {
        Self {
            trust: Trust::Unsigned,
            name: None,
            max_bytes: MAX_BUNDLE_BYTES,
            after_expiry: AfterExpiry::Deny,
        }
    }

    /// Returns terms under which this key must have signed. The length of the key determines its
    /// level.
    ///
    /// Keys of other lengths are refused when a bundle is opened.
    #[must_use]
    pub fn signed_by(public_key: &[u8]) -> Self {
        let level = LEVELS.into_iter().find(|level| level.public_key_bytes() == public_key.len());
        let level = level.unwrap_or(Level::MlDsa44);
        let key = Key { id: None, level, public_key: public_key.to_vec() };
        let set = TrustSet { keys: vec![key], at_least: 1, required: Vec::new() };
        Self { trust: Trust::Signed(set), ..Self::unsigned() }
    }

    /// Encodes the terms as in `docs/ABI.md`; returns `None` if they do not fit.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let name = self.name.as_deref().unwrap_or("");
        let mut bytes = self.max_bytes.to_le_bytes().to_vec();
        bytes.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
        bytes.extend(name.as_bytes());
        match &self.trust {
            Trust::Unsigned => bytes.extend([0; 3]),
            Trust::Signed(set) => set.write(&mut bytes)?,
        }
        match self.after_expiry {
            AfterExpiry::Deny => {}
            AfterExpiry::Decide => bytes.push(1),
        }
        Some(bytes)
    }
}

impl TrustSet {
    fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        let [keys, required] = [self.keys.len(), self.required.len()].map(|n| u8::try_from(n).ok());
        bytes.extend([self.at_least, keys?, required?]);
        for key in &self.keys {
            key.write(bytes)?;
        }
        for id in &self.required {
            bytes.push(u8::try_from(id.len()).ok()?);
            bytes.extend(id);
        }
        // An empty set without a quorum encodes unsigned trust, which must be chosen explicitly.
        (self.at_least > 0 || !self.keys.is_empty()).then_some(())
    }
}

impl Key {
    fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        let id = self.id.as_deref().unwrap_or(&[]);
        let level = match self.level {
            Level::MlDsa44 => 44,
            Level::MlDsa65 => 65,
            Level::MlDsa87 => 87,
        };
        bytes.extend([level, u8::try_from(id.len()).ok()?]);
        bytes.extend(u16::try_from(self.public_key.len()).ok()?.to_le_bytes());
        bytes.extend(id);
        bytes.extend(&self.public_key);
        Some(())
    }
}

impl Moment {
    /// Returns the moment of a clock. With a clock before 1970, expired bundles would be valid, so
    /// such a moment has no time.
    #[must_use]
    pub fn at(clock: &impl Clock) -> Self {
        Self { now: u64::try_from(clock.now().seconds()).ok(), min_revision: 0 }
    }
}

const LEVELS: [Level; 3] = [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87];

/// 64 MiB: the memory of an instance is four times that, unless the host grants more.
const MAX_BUNDLE_BYTES: u32 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_have_the_encoding_of_the_page() {
        assert_eq!(Terms::unsigned().bytes().unwrap(), [0, 0, 0, 4, 0, 0, 0, 0, 0]);
        let key = Key { id: Some(b"a".to_vec()), level: Level::MlDsa65, public_key: vec![7; 3] };
        let set = TrustSet { keys: vec![key], at_least: 1, required: vec![b"a".to_vec()] };
        let terms = Terms {
            trust: Trust::Signed(set.clone()),
            name: Some("n".to_owned()),
            max_bytes: 1,
            after_expiry: AfterExpiry::Deny,
        };
        let expected = [1, 0, 0, 0, 1, 0, b'n', 1, 1, 1, 65, 1, 3, 0, b'a', 7, 7, 7, 1, b'a'];
        assert_eq!(terms.bytes().unwrap(), expected);
        let terms = Terms { after_expiry: AfterExpiry::Decide, ..terms };
        assert_eq!(terms.bytes().unwrap(), [expected.as_slice(), &[1]].concat());
    }

    #[test]
    fn an_empty_trust_set_is_not_encoded() {
        let set = TrustSet { keys: Vec::new(), at_least: 0, required: Vec::new() };
        let terms = Terms { trust: Trust::Signed(set), ..Terms::unsigned() };
        assert_eq!(terms.bytes(), None);
    }

    #[test]
    fn oversized_terms_are_not_encoded() {
        let terms = Terms { name: Some("n".repeat(70_000)), ..Terms::unsigned() };
        assert_eq!(terms.bytes(), None);
    }
}
