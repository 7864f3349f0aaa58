//! Whom the host believes, and what it asks of a bundle.

use wardgate_native::{AfterExpiry, Clock, Level};

/// What a bundle must be, whenever it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whom the host believes.
    pub trust: Trust,
    /// The name that a bundle must have. None: any.
    pub name: Option<String>,
    /// Bytes of a bundle at most.
    pub max_bytes: u32,
    /// What is answered once the bundle has expired.
    pub after_expiry: AfterExpiry,
}

/// Whom the host believes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Anyone: signatures are not looked at. For development, and for bytes that are trusted because of
    /// where they come from.
    Unsigned,
    /// Whoever holds the keys of this set.
    Signed(TrustSet),
}

/// Keys that are trusted, and how many of them must have signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustSet {
    /// The keys.
    pub keys: Vec<Key>,
    /// How many must have signed: from 1 to the number of keys.
    pub at_least: u8,
    /// Ids of keys that must be among them.
    pub required: Vec<Vec<u8>>,
}

/// A public key that is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What signatures name it by. Without one it has the id that follows from the key.
    pub id: Option<Vec<u8>>,
    /// Its parameter set.
    pub level: Level,
    /// The key as FIPS 204 encodes it.
    pub public_key: Vec<u8>,
}

/// What a bundle must be at the time when it is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The time, in seconds since 1970. Without one no bundle with dates is opened.
    pub now: Option<u64>,
    /// The lowest revision that is accepted: the highest that the host has seen.
    pub min_revision: u64,
}

impl Terms {
    /// Terms that ask for nothing but a bounded size.
    #[must_use]
    pub const fn unsigned() -> Self {
        Self {
            trust: Trust::Unsigned,
            name: None,
            max_bytes: MAX_BUNDLE_BYTES,
            after_expiry: AfterExpiry::Deny,
        }
    }

    /// Terms under which one of these keys must have signed. The level of a key is told by its length.
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

    /// Writes the terms as `docs/ABI.md` describes them. Nothing if they do not fit.
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
        // What nobody need have signed looks like that; a set that is empty by mistake must not.
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
    /// The moment that a clock tells. A clock that stands before 1970 would keep what has expired valid, so
    /// it tells none.
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
    fn terms_are_bytes_as_the_page_says() {
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
    fn an_empty_set_is_not_nobody() {
        let set = TrustSet { keys: Vec::new(), at_least: 0, required: Vec::new() };
        let terms = Terms { trust: Trust::Signed(set), ..Terms::unsigned() };
        assert_eq!(terms.bytes(), None);
    }

    #[test]
    fn what_does_not_fit_is_no_terms() {
        let terms = Terms { name: Some("n".repeat(70_000)), ..Terms::unsigned() };
        assert_eq!(terms.bytes(), None);
    }
}
