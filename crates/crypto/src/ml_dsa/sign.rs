//! Keys and signatures, for the tools that make them (FIPS 204, Algorithms 1 and 2).
//!
//! The `ml-dsa` crate computes with secrets. Randomness is an argument: without it a signature is
//! deterministic, which suits tools that run once on a machine without other users.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;

use ml_dsa::signature::rand_core::{TryCryptoRng, TryRng};
use ml_dsa::{ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, MlDsaParams};

use super::Level;

/// A secret key. Its memory is wiped when it is dropped, and `Debug` does not print it.
///
/// ```
/// use wardgate_crypto::ml_dsa::{Level, PreparedKey, SigningKey};
///
/// // The seed comes from a source of randomness, and stays secret.
/// let seed = [1; 32];
/// let secret = SigningKey::from_seed(Level::MlDsa87, &seed);
/// let signature = secret.sign(b"message", b"context", None)?;
///
/// let key = PreparedKey::new(Level::MlDsa87, &secret.public_key())?;
/// assert!(key.verify(b"message", b"context", &signature));
/// assert!(!key.verify(b"another", b"context", &signature));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SigningKey {
    secret: Secret,
    public_key: Vec<u8>,
}

enum Secret {
    Small(Box<ExpandedSigningKey<MlDsa44>>),
    Middle(Box<ExpandedSigningKey<MlDsa65>>),
    Large(Box<ExpandedSigningKey<MlDsa87>>),
}

/// Evaluates an expression with the key of any level.
macro_rules! with_each {
    ($secret:expr, $key:ident => $work:expr) => {
        match $secret {
            Secret::Small($key) => $work,
            Secret::Middle($key) => $work,
            Secret::Large($key) => $work,
        }
    };
}

impl SigningKey {
    /// Derives the key of `level` from a seed, which must be random and as secret as the key.
    #[must_use]
    pub fn from_seed(level: Level, seed: &[u8; 32]) -> Self {
        let seed = (*seed).into();
        Self::new(match level {
            Level::MlDsa44 => Secret::Small(Box::new(ExpandedSigningKey::from_seed(&seed))),
            Level::MlDsa65 => Secret::Middle(Box::new(ExpandedSigningKey::from_seed(&seed))),
            Level::MlDsa87 => Secret::Large(Box::new(ExpandedSigningKey::from_seed(&seed))),
        })
    }

    fn new(secret: Secret) -> Self {
        let public_key = with_each!(&secret, key => key.verifying_key().encode().to_vec());
        Self { secret, public_key }
    }

    /// Returns the level of the key.
    #[must_use]
    pub fn level(&self) -> Level {
        match self.secret {
            Secret::Small(_) => Level::MlDsa44,
            Secret::Middle(_) => Level::MlDsa65,
            Secret::Large(_) => Level::MlDsa87,
        }
    }

    /// Returns the public key in the encoding of FIPS 204.
    #[must_use]
    pub fn public_key(&self) -> Vec<u8> {
        self.public_key.clone()
    }

    /// Signs `message` in `context`, hedged with `randomness` or deterministically without.
    ///
    /// # Errors
    ///
    /// The context is longer than 255 bytes, or the library found no signature within its bound,
    /// which is not known to happen.
    pub fn sign(
        &self,
        message: &[u8],
        context: &[u8],
        randomness: Option<&[u8; 32]>,
    ) -> Result<Vec<u8>, SignError> {
        if context.len() > 255 {
            return Err(SignError::LongContext { found: context.len() });
        }
        let mut random = Given(randomness.copied().unwrap_or_default());
        with_each!(&self.secret, key => {
            let signature = key.sign_randomized(message, context, &mut random);
            signature.map(|signature| signature.encode().to_vec()).map_err(|_| SignError::NotFound)
        })
    }
}

/// The interface for test vectors.
#[doc(hidden)]
impl SigningKey {
    /// Reads the expanded form of FIPS 204, Algorithm 25; returns `None` if its length is not that
    /// of the level.
    #[must_use]
    pub fn from_expanded(level: Level, bytes: &[u8]) -> Option<Self> {
        Some(Self::new(match level {
            Level::MlDsa44 => Secret::Small(expanded(bytes)?),
            Level::MlDsa65 => Secret::Middle(expanded(bytes)?),
            Level::MlDsa87 => Secret::Large(expanded(bytes)?),
        }))
    }

    /// Returns the expanded form of FIPS 204, Algorithm 24.
    #[must_use]
    #[expect(deprecated, reason = "the vectors of key generation compare this form")]
    pub fn to_expanded(&self) -> Vec<u8> {
        with_each!(&self.secret, key => key.to_expanded().to_vec())
    }

    /// FIPS 204, Algorithm 7, over M'.
    #[must_use]
    pub fn sign_internal(&self, message: &[u8], randomness: &[u8; 32]) -> Vec<u8> {
        let randomness = (*randomness).into();
        with_each!(&self.secret, key => key.sign_internal(&[message], &randomness).encode().to_vec())
    }

    /// FIPS 204, Algorithm 7, from mu on.
    ///
    /// # Errors
    ///
    /// The library found no signature within its bound.
    pub fn sign_mu(&self, mu: &[u8; 64], randomness: &[u8; 32]) -> Result<Vec<u8>, SignError> {
        let (mu, mut random) = ((*mu).into(), Given(*randomness));
        with_each!(&self.secret, key => {
            let signature = key.sign_mu_randomized(&mu, &mut random);
            signature.map(|signature| signature.encode().to_vec()).map_err(|_| SignError::NotFound)
        })
    }
}

#[expect(deprecated, reason = "the vectors of signing come with this form")]
fn expanded<P: MlDsaParams>(bytes: &[u8]) -> Option<Box<ExpandedSigningKey<P>>> {
    Some(Box::new(ExpandedSigningKey::from_expanded(bytes.try_into().ok()?)))
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SigningKey").field("level", &self.level()).finish_non_exhaustive()
    }
}

/// The reason why there is no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignError {
    /// The context has more bytes than FIPS 204 allows.
    LongContext {
        /// The length found, in bytes.
        found: usize,
    },
    /// The library reached its bound.
    NotFound,
}

impl fmt::Display for SignError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongContext { found } => {
                write!(out, "a context has at most 255 bytes, found {found}")
            }
            Self::NotFound => out.write_str("no signature was found"),
        }
    }
}

impl core::error::Error for SignError {}

/// A source of randomness that returns fixed bytes.
struct Given([u8; 32]);

impl TryRng for Given {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.iter_mut().zip(self.0).for_each(|(position, byte)| *position = byte);
        Ok(())
    }
}

impl TryCryptoRng for Given {}

#[cfg(test)]
mod tests {
    use super::super::PreparedKey;
    use super::*;

    #[test]
    fn signatures_are_accepted() {
        for level in [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87] {
            check(level, None);
            check(level, Some(&[9; 32]));
        }
    }

    #[test]
    fn only_randomness_changes_the_signature() {
        let key = SigningKey::from_seed(Level::MlDsa44, &[1; 32]);
        let signed = |randomness| key.sign(b"text", b"", randomness).unwrap();
        assert_eq!(signed(None), signed(Some(&[0; 32])));
        assert_ne!(signed(None), signed(Some(&[1; 32])));
    }

    #[test]
    fn a_long_context_is_refused() {
        let key = SigningKey::from_seed(Level::MlDsa44, &[1; 32]);
        assert_eq!(key.sign(b"", &[0; 256], None), Err(SignError::LongContext { found: 256 }));
    }

    #[test]
    fn debug_prints_no_secret() {
        let key = SigningKey::from_seed(Level::MlDsa44, &[1; 32]);
        assert_eq!(std::format!("{key:?}"), "SigningKey { level: MlDsa44, .. }");
    }

    fn check(level: Level, randomness: Option<&[u8; 32]>) {
        let key = SigningKey::from_seed(level, &[5; 32]);
        let signature = key.sign(b"text", b"here", randomness).unwrap();
        let prepared = PreparedKey::new(level, &key.public_key()).unwrap();
        assert!(prepared.verify(b"text", b"here", &signature));
        assert!(!prepared.verify(b"text", b"there", &signature));
        assert_eq!(
            SigningKey::from_expanded(level, &key.to_expanded()).unwrap().public_key,
            key.public_key
        );
    }
}
