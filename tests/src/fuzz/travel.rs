//! Input from a network: envelopes, deltas and seals, as an attacker writes them.
//!
//! An attacker can make digests fit, so it is done here: otherwise no mutation would pass them.

use std::sync::OnceLock;

use wardgate_bundle::delta::{apply, delta as delta_of};
use wardgate_bundle::sealed::{seal, unseal};
use wardgate_bundle::{
    Conditions, KeyId, Level, Quorum, Trust, TrustSet, TrustedKey, describe, open, sign, strip,
};
use wardgate_crypto::blake3::hash;
use wardgate_crypto::ml_dsa::SigningKey;

/// The state of a host that receives bundles.
struct Host {
    base: Vec<u8>,
    signed: Vec<u8>,
    /// The signed bundle without its explanations: anybody may leave them out, signatures stay.
    stripped: Vec<u8>,
    delta: Vec<u8>,
    sealed: Vec<u8>,
    trusted: TrustSet,
}

impl Host {
    /// Returns true if `bundle` is the signed one, whole or without its explanations.
    fn has_signed(&self, bundle: &[u8]) -> bool {
        bundle == self.signed || bundle == self.stripped
    }
}

/// Opens a bundle with `input` as its envelope.
///
/// # Panics
/// If a bundle opens that was not signed.
pub fn envelope(input: &[u8]) {
    let host = host();
    let bundle = fitted(&with_envelope(&host.signed, input));
    let _ = describe(&bundle);
    if open(&bundle, Trust::Signed(&host.trusted), &Conditions::default()).is_ok() {
        assert!(bundle == host.signed, "a bundle opened that nobody signed");
    }
}

/// Applies `input` as a delta.
///
/// # Panics
/// If the result is no bundle.
pub fn delta(input: &[u8]) {
    let host = host();
    let conditions = Conditions { max_bytes: 1 << 20, ..Conditions::default() };
    for delta in [input, &fitted(input)] {
        let _ = describe(delta);
        if let Ok(bundle) = apply(&host.base, delta, Trust::Unsigned, &conditions) {
            assert!(bundle.len() <= conditions.max_bytes, "a bundle larger than was asked for");
            if open(&bundle, Trust::Signed(&host.trusted), &conditions).is_ok() {
                assert!(host.has_signed(&bundle), "a delta made a bundle that nobody signed");
            }
        }
        let trust = Trust::Signed(&host.trusted);
        if let Ok(bundle) = apply(&host.base, delta, trust, &conditions) {
            assert!(host.has_signed(&bundle), "a delta that nobody signed was applied");
        }
    }
}

/// Unseals `input`.
///
/// # Panics
/// If the result was not sealed.
pub fn seals(input: &[u8]) {
    if let Ok(bundle) = unseal(input, &KEY, &Conditions::default()) {
        assert!(bundle == host().signed && input == host().sealed, "a seal was forged");
    }
}

pub(super) fn envelopes() -> Vec<Vec<u8>> {
    let signed = &host().signed;
    vec![signed.get(ENVELOPE..ENVELOPE + length(signed, 16)).unwrap_or_default().to_vec()]
}

pub(super) fn deltas() -> Vec<Vec<u8>> {
    vec![host().delta.clone()]
}

pub(super) fn sealed() -> Vec<Vec<u8>> {
    vec![host().sealed.clone()]
}

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| made().unwrap_or_else(|error| unreachable!("{error}")))
}

fn made() -> Result<Host, String> {
    let key = SigningKey::from_seed(Level::MlDsa44, &[1; 32]);
    let id = KeyId::of(Level::MlDsa44, &key.public_key());
    let trusted = TrustedKey::new(id, Level::MlDsa44, &key.public_key());
    let trusted = trusted.map_err(|error| error.to_string())?;
    let trusted = TrustSet::new(vec![trusted], Quorum::default());
    let base = super::packed().to_vec();
    let signed = sign(&base, &id, &key, None).map_err(|error| error.to_string())?;
    Ok(Host {
        delta: delta_of(&base, &signed).map_err(|error| error.to_string())?,
        sealed: seal(&signed, &KEY, &[3; 44]).map_err(|error| error.to_string())?,
        stripped: strip(&signed).map_err(|error| error.to_string())?,
        trusted: trusted.map_err(|error| error.to_string())?,
        base,
        signed,
    })
}

/// Returns `bundle` with another envelope.
fn with_envelope(bundle: &[u8], envelope: &[u8]) -> Vec<u8> {
    let after = ENVELOPE + length(bundle, 16).next_multiple_of(8) + 32;
    let mut bytes = bundle.get(..ENVELOPE).unwrap_or_default().to_vec();
    let length = u32::try_from(envelope.len()).unwrap_or(u32::MAX);
    bytes.splice(16..20, length.to_le_bytes());
    bytes.extend_from_slice(envelope);
    bytes.resize(bytes.len().next_multiple_of(8) + 32, 0);
    bytes.extend_from_slice(bundle.get(after..).unwrap_or_default());
    bytes
}

/// Returns `bytes` with fitting digests of index and head, as far as those exist.
fn fitted(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let base = if length(&bytes, 12) == 2 { 40 } else { 0 };
    let head = (ENVELOPE + base).saturating_add(length(&bytes, 16)).next_multiple_of(8);
    let index = head.saturating_add(32);
    let end = index.saturating_add(length(&bytes, 20));
    if let Some(root) = bytes.get(index..end).map(hash) {
        bytes.splice(32..64, root);
        let digest = hash(bytes.get(..head).unwrap_or_default());
        bytes.splice(head..index, digest);
    }
    bytes
}

fn length(bytes: &[u8], at: usize) -> usize {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
    word.map_or(0, |word| usize::try_from(u32::from_le_bytes(word)).unwrap_or(usize::MAX))
}

/// The offset of the envelope in a bundle.
const ENVELOPE: usize = 64;

const KEY: [u8; 32] = [2; 32];
