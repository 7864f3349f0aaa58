//! Keys that sign with code of another project.

use std::sync::OnceLock;

use ml_dsa::{Keypair, MlDsa44, MlDsa65, MlDsa87, SigningKey};
use wardgate_bundle::{KeyId, Level, Quorum, TrustSet, TrustedKey, attach, signing_input};

/// A signer with a key.
pub(crate) struct Signer {
    pub(crate) id: KeyId,
    pub(crate) level: Level,
    pub(crate) public_key: Vec<u8>,
    sign: Sign,
}

/// Signs a message with a context.
type Sign = Box<dyn Fn(&[u8], &[u8]) -> Vec<u8> + Send + Sync>;

/// Returns four signers: two with ML-DSA-87, and one each with -65 and -44.
pub(crate) fn signers() -> &'static [Signer; 4] {
    static SIGNERS: OnceLock<[Signer; 4]> = OnceLock::new();
    SIGNERS.get_or_init(|| {
        [
            signer!(MlDsa87, Level::MlDsa87, "ann", 1),
            signer!(MlDsa87, Level::MlDsa87, "bob", 2),
            signer!(MlDsa65, Level::MlDsa65, "cyd", 3),
            signer!(MlDsa44, Level::MlDsa44, "dan", 4),
        ]
    })
}

macro_rules! signer {
    ($set:ty, $level:expr, $id:expr, $seed:expr) => {{
        let key = SigningKey::<$set>::from_seed(&[$seed; 32].into());
        let public_key = key.verifying_key().encode().to_vec();
        let sign = move |message: &[u8], context: &[u8]| {
            let signature = key.expanded_key().sign_deterministic(message, context);
            signature.unwrap().encode().to_vec()
        };
        Signer { id: key_id($id), level: $level, public_key, sign: Box::new(sign) }
    }};
}
use signer;

impl Signer {
    /// Signs a message with a context.
    pub(crate) fn sign(&self, message: &[u8], context: &[u8]) -> Vec<u8> {
        (self.sign)(message, context)
    }

    /// Adds a signature to a bundle.
    pub(crate) fn signed(&self, bundle: &[u8]) -> Vec<u8> {
        let message = signing_input(bundle, &self.id, self.level).unwrap();
        attach(bundle, &self.id, self.level, &self.sign(&message, b"")).unwrap()
    }

    /// Returns the key as a host trusts it.
    pub(crate) fn trusted(&self) -> TrustedKey {
        TrustedKey::new(self.id, self.level, &self.public_key).unwrap()
    }
}

/// Returns a trust set of the signers at these positions.
pub(crate) fn set(positions: &[usize], at_least: usize, required: &[&str]) -> TrustSet {
    let keys = positions.iter().map(|at| signers()[*at].trusted()).collect();
    let required = required.iter().map(|id| key_id(id)).collect();
    TrustSet::new(keys, Quorum { at_least, required }).unwrap()
}

/// Returns the id with this text.
pub(crate) fn key_id(text: &str) -> KeyId {
    KeyId::new(text.as_bytes()).unwrap()
}
