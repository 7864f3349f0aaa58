//! Trust: the keys that a host believes, and how many of them must have signed.
//!
//! A trust set is made once and shared; each key is prepared when a signature names it for the
//! first time, and from then on a reload costs one prepared verification. A signature that names a
//! trusted key must be valid: an invalid one refuses the bundle, even where the others meet the
//! quorum.

use alloc::boxed::Box;
use alloc::vec::Vec;
#[cfg(target_arch = "wasm32")]
use core::cell::OnceCell as Once;
use core::fmt;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::OnceLock as Once;

use wardgate_crypto::ml_dsa::{Level, PreparedKey};

use crate::envelope::{Envelope, Signature, to_be_signed};
use crate::error::OpenError;
use crate::key_id::{KeyId, algorithm};
use crate::limits::MAX_TRUSTED_KEYS;

/// The signers that a host believes.
#[derive(Clone, Copy, Debug)]
pub enum Trust<'a> {
    /// Accepts any bundle, signed or not, and reads no signature. For development, and for bytes
    /// that the host already trusts because of their origin.
    Unsigned,
    /// Accepts bundles signed by the keys of this set.
    Signed(&'a TrustSet),
}

/// The trusted keys, and how many of them must have signed.
///
/// # Examples
/// ```
/// use wardgate_bundle::{KeyId, Quorum, TrustSet, TrustedKey};
/// use wardgate_crypto::ml_dsa::Level;
///
/// let key = |id: &str, byte| {
///     let public_key = vec![byte; Level::MlDsa44.public_key_bytes()];
///     TrustedKey::new(KeyId::new(id.as_bytes()).unwrap(), Level::MlDsa44, &public_key)
/// };
/// let keys = vec![key("ann", 1)?, key("bob", 2)?];
/// let quorum = Quorum { at_least: 2, required: vec![KeyId::new(b"ann").unwrap()] };
/// assert!(TrustSet::new(keys, quorum).is_ok());
/// # Ok::<(), wardgate_bundle::TrustError>(())
/// ```
#[derive(Debug)]
pub struct TrustSet {
    // INVARIANT: ids and public keys are distinct, so that no key counts twice.
    keys: Vec<TrustedKey>,
    quorum: Quorum,
}

/// A public key under an id.
pub struct TrustedKey {
    id: KeyId,
    level: Level,
    public_key: Box<[u8]>,
    prepared: Once<Option<Box<PreparedKey>>>,
}

/// The keys that must have signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quorum {
    /// The least number of keys of the set.
    pub at_least: usize,
    /// Keys of the set that must be among them.
    pub required: Vec<KeyId>,
}

/// The reason why keys and a quorum make no trust set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustError {
    /// A public key has another length than those of its level.
    KeyLength {
        /// The length of a key of this level, in bytes.
        expected: usize,
        /// The length found, in bytes.
        found: usize,
    },
    /// The set is empty, or has more keys than a trust set may have.
    KeyCount {
        /// The number of keys found.
        found: usize,
    },
    /// Two keys have the same id.
    DuplicateId {
        /// The id.
        key: KeyId,
    },
    /// One key occurs under two ids, and would count twice.
    DuplicateKey {
        /// The second id.
        key: KeyId,
    },
    /// A required key is not in the set.
    UnknownRequired {
        /// The id of the key.
        key: KeyId,
    },
    /// The number of keys that must sign is 0, or larger than the number of keys.
    Quorum {
        /// The number.
        at_least: usize,
        /// The number of keys.
        keys: usize,
    },
}

impl Default for Quorum {
    /// Requires any one key of the set.
    fn default() -> Self {
        Self { at_least: 1, required: Vec::new() }
    }
}

impl TrustedKey {
    /// Takes a public key as FIPS 204 encodes it.
    ///
    /// # Errors
    /// The key is not as long as those of its level.
    pub fn new(id: KeyId, level: Level, public_key: &[u8]) -> Result<Self, TrustError> {
        let (expected, found) = (level.public_key_bytes(), public_key.len());
        if expected != found {
            return Err(TrustError::KeyLength { expected, found });
        }
        Ok(Self { id, level, public_key: Box::from(public_key), prepared: Once::new() })
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    fn verify(&self, signature: &Signature<'_>, payload: &[u8]) -> Result<(), OpenError> {
        let key = self.id;
        if signature.algorithm != algorithm(self.level) {
            return Err(OpenError::WrongAlgorithm { key });
        }
        let message = to_be_signed(payload, signature.algorithm, &key);
        let prepared = self
            .prepared
            .get_or_init(|| PreparedKey::new(self.level, &self.public_key).ok().map(Box::new));
        match prepared {
            Some(prepared) if prepared.verify(&message, NO_CONTEXT, signature.bytes) => Ok(()),
            _ => Err(OpenError::WrongSignature { key }),
        }
    }
}

impl TrustSet {
    /// Trusts `keys` together, as `quorum` requires.
    ///
    /// # Errors
    /// There are no keys, too many or equal ones, or the quorum cannot be met.
    pub fn new(keys: Vec<TrustedKey>, quorum: Quorum) -> Result<Self, TrustError> {
        let (count, at_least) = (keys.len(), quorum.at_least);
        if count == 0 || count > MAX_TRUSTED_KEYS {
            return Err(TrustError::KeyCount { found: count });
        }
        for (at, key) in keys.iter().enumerate() {
            distinct(key, keys.iter().take(at))?;
        }
        let known = |id: &KeyId| keys.iter().any(|key| key.id == *id);
        if let Some(key) = quorum.required.iter().copied().find(|id| !known(id)) {
            return Err(TrustError::UnknownRequired { key });
        }
        if at_least == 0 || at_least > count {
            return Err(TrustError::Quorum { at_least, keys: count });
        }
        Ok(Self { keys, quorum })
    }

    /// Returns the trusted keys that signed, each once, if they meet the quorum.
    fn verify(&self, envelope: &Envelope<'_>) -> Result<Vec<KeyId>, OpenError> {
        if envelope.signatures.is_empty() {
            return Err(OpenError::NotSigned);
        }
        let mut signers = Vec::new();
        for signature in &envelope.signatures {
            let Some(key) = self.keys.iter().find(|key| key.id == signature.key) else { continue };
            key.verify(signature, envelope.payload)?;
            if !signers.contains(&key.id) {
                signers.push(key.id);
            }
        }
        self.enough(&signers)?;
        Ok(signers)
    }

    fn enough(&self, signers: &[KeyId]) -> Result<(), OpenError> {
        if signers.is_empty() {
            return Err(OpenError::UnknownSigner);
        }
        if let Some(key) = self.quorum.required.iter().copied().find(|id| !signers.contains(id)) {
            return Err(OpenError::MissingSigner { key });
        }
        let (expected, found) = (self.quorum.at_least, signers.len());
        if found < expected { Err(OpenError::TooFewSigners { expected, found }) } else { Ok(()) }
    }
}

impl Trust<'_> {
    /// Refuses a bundle of revision `found` as the successor of one of revision `expected`, if it
    /// is older. Where unsigned bundles are trusted, revisions have no meaning.
    ///
    /// # Errors
    /// [`OpenError::OldRevision`].
    pub const fn must_follow(&self, expected: u64, found: u64) -> Result<(), OpenError> {
        match self {
            Self::Signed(_) if found < expected => Err(OpenError::OldRevision { expected, found }),
            _ => Ok(()),
        }
    }

    /// Returns the trusted keys that signed, if they satisfy this trust.
    pub(crate) fn verify(&self, envelope: &Envelope<'_>) -> Result<Vec<KeyId>, OpenError> {
        match self {
            Self::Unsigned => Ok(Vec::new()),
            Self::Signed(set) => set.verify(envelope),
        }
    }
}

impl fmt::Debug for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrustedKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLength { expected, found } => {
                write!(f, "expected a public key of {expected} bytes, found {found}")
            }
            Self::KeyCount { found } => {
                write!(f, "expected 1 to {MAX_TRUSTED_KEYS} trusted keys, found {found}")
            }
            Self::DuplicateId { key } => write!(f, "two trusted keys have the id `{key}`"),
            Self::DuplicateKey { key } => {
                write!(f, "the key `{key}` is trusted under another id already")
            }
            Self::UnknownRequired { key } => {
                write!(f, "the required key `{key}` is not among the trusted keys")
            }
            Self::Quorum { at_least, keys } => {
                write!(f, "expected a number of signers from 1 to {keys}, found {at_least}")
            }
        }
    }
}

impl core::error::Error for TrustError {}

fn distinct<'k>(
    key: &TrustedKey,
    mut others: impl Iterator<Item = &'k TrustedKey> + Clone,
) -> Result<(), TrustError> {
    if others.clone().any(|other| other.id == key.id) {
        return Err(TrustError::DuplicateId { key: key.id });
    }
    if others.any(|other| other.public_key == key.public_key) {
        return Err(TrustError::DuplicateKey { key: key.id });
    }
    Ok(())
}

/// Every level.
pub(crate) const LEVELS: [Level; 3] = [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87];

/// RFC 9964, section 5: the context of ML-DSA is empty in COSE.
pub(crate) const NO_CONTEXT: &[u8] = &[];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_key_is_prepared_when_it_is_first_named() {
        let id = |name: &str| KeyId::new(name.as_bytes()).unwrap();
        let key = |name: &str, byte: u8| {
            TrustedKey::new(id(name), Level::MlDsa44, &[byte; 1312]).unwrap()
        };
        let set = TrustSet::new(vec![key("ann", 1), key("bob", 2)], Quorum::default()).unwrap();
        let prepared = |at: usize| set.keys.get(at).and_then(|key| key.prepared.get()).is_some();
        assert!(!prepared(0) && !prepared(1));
        let signature = Signature { algorithm: -48, key: id("ann"), bytes: &[0; 2420] };
        let envelope = Envelope { payload: b"", signatures: vec![signature] };
        let refused = Trust::Signed(&set).verify(&envelope);
        assert_eq!(refused, Err(OpenError::WrongSignature { key: id("ann") }));
        assert!(prepared(0) && !prepared(1));
    }

    #[test]
    fn threads_share_a_trust_set() {
        const fn shared<T: Send + Sync>() {}
        shared::<TrustSet>();
    }
}
