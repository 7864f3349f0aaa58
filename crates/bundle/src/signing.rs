//! Signing: adds a signature to a bundle, made here or by a holder of the key elsewhere.
//!
//! It takes two steps, so that a key need not move: [`signing_input`] returns the message to sign
//! with ML-DSA and an empty context, and [`attach`] puts the signature into the bundle. Earlier
//! signatures remain.

use alloc::vec::Vec;
use core::fmt;

use wardgate_crypto::ml_dsa::Level;
#[cfg(feature = "sign")]
use wardgate_crypto::ml_dsa::SigningKey;

use crate::container::Container;
use crate::envelope::{Envelope, Signature, to_be_signed};
use crate::error::OpenError;
use crate::key_id::{KeyId, algorithm};
use crate::limits::MAX_SIGNATURES;
#[cfg(feature = "sign")]
use crate::trust::NO_CONTEXT;

/// The reason why a bundle was not signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SigningError {
    /// The bundle is refused.
    Refused(OpenError),
    /// The signature has another length than those of its level.
    SignatureLength {
        /// The length of a signature of this level, in bytes.
        expected: usize,
        /// The length found, in bytes.
        found: usize,
    },
    /// The bundle has a signature by this key already.
    SignedAlready {
        /// The key.
        key: KeyId,
    },
    /// The bundle has as many signatures as are verified.
    TooManySignatures,
    /// Signing with the key failed.
    Failed,
}

/// Returns the message that a key of this id and level must sign, with ML-DSA and an empty context.
///
/// # Errors
/// The bundle is refused.
///
/// # Examples
/// ```
/// use wardgate_bundle::{KeyId, attach, pack, signing_input};
/// use wardgate_crypto::ml_dsa::Level;
/// use wardgate_engine::table::Parts;
///
/// let bundle = pack(&Parts { words: vec![], text: "".into(), blob: [].into(), explanations: "".into() });
/// let (key, level) = (KeyId::new(b"release").unwrap(), Level::MlDsa44);
/// let message = signing_input(&bundle, &key, level)?;
/// assert!(!message.is_empty());
/// // The holder of the key signs `message`; these zeros take the part of the signature.
/// let signed = attach(&bundle, &key, level, &vec![0; level.signature_bytes()]).unwrap();
/// assert_eq!(wardgate_bundle::describe(&signed)?.signers[0].key, key);
/// # Ok::<(), wardgate_bundle::OpenError>(())
/// ```
pub fn signing_input(bundle: &[u8], key: &KeyId, level: Level) -> Result<Vec<u8>, OpenError> {
    let container = Container::verified(bundle)?;
    let envelope = Envelope::read(container.envelope)?;
    container.header(&envelope)?;
    Ok(to_be_signed(envelope.payload, algorithm(level), key))
}

/// Returns the bundle with one more signature, which is not verified.
///
/// # Errors
/// The bundle is refused, or cannot take this signature.
pub fn attach(
    bundle: &[u8],
    key: &KeyId,
    level: Level,
    signature: &[u8],
) -> Result<Vec<u8>, SigningError> {
    let (expected, found) = (level.signature_bytes(), signature.len());
    if expected != found {
        return Err(SigningError::SignatureLength { expected, found });
    }
    let container = Container::verified(bundle).map_err(SigningError::Refused)?;
    let mut envelope = Envelope::read(container.envelope).map_err(SigningError::Refused)?;
    if envelope.signatures.iter().any(|signature| signature.key == *key) {
        return Err(SigningError::SignedAlready { key: *key });
    }
    if envelope.signatures.len() >= MAX_SIGNATURES {
        return Err(SigningError::TooManySignatures);
    }
    let signature = Signature { algorithm: algorithm(level), key: *key, bytes: signature };
    envelope.signatures.push(signature);
    Ok(Container { envelope: &envelope.bytes(), ..container }.bytes())
}

/// Returns the bundle signed with `signer` under the id `key`. Without randomness the signature is
/// deterministic; fresh randomness makes side channels of signing harder to exploit.
///
/// # Errors
/// The bundle is refused, or cannot take this signature.
///
/// # Examples
/// ```
/// use wardgate_bundle::{KeyId, pack, sign};
/// use wardgate_crypto::ml_dsa::{Level, SigningKey};
/// use wardgate_engine::table::Parts;
///
/// let bundle = pack(&Parts { words: vec![], text: "".into(), blob: [].into(), explanations: "".into() });
/// let signer = SigningKey::from_seed(Level::MlDsa44, &[7; 32]);
/// let key = KeyId::of(signer.level(), &signer.public_key());
/// let signed = sign(&bundle, &key, &signer, None)?;
/// assert_eq!(wardgate_bundle::describe(&signed).unwrap().signers[0].key, key);
/// # Ok::<(), wardgate_bundle::SigningError>(())
/// ```
#[cfg(feature = "sign")]
pub fn sign(
    bundle: &[u8],
    key: &KeyId,
    signer: &SigningKey,
    randomness: Option<&[u8; 32]>,
) -> Result<Vec<u8>, SigningError> {
    let level = signer.level();
    let message = signing_input(bundle, key, level).map_err(SigningError::Refused)?;
    let signature = signer.sign(&message, NO_CONTEXT, randomness);
    attach(bundle, key, level, &signature.map_err(|_| SigningError::Failed)?)
}

impl fmt::Display for SigningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::SignatureLength { expected, found } => {
                write!(f, "expected a signature of {expected} bytes, found {found}")
            }
            Self::SignedAlready { key } => write!(f, "the bundle is signed by `{key}` already"),
            Self::TooManySignatures => {
                write!(
                    f,
                    "the bundle has {MAX_SIGNATURES} signatures already, and more are not allowed"
                )
            }
            Self::Failed => f.write_str("signing with the key failed"),
        }
    }
}

impl core::error::Error for SigningError {}
