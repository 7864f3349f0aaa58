//! Figures that others can check: the samples behind each, and the digest of the decisions.

use wardgate_crypto::blake3;

/// Returns the digest of decisions in their order, a byte 0 or 1 for each, as hexadecimal digits.
pub(crate) fn digest(decisions: &[bool]) -> String {
    let bytes: Vec<u8> = decisions.iter().map(|allowed| u8::from(*allowed)).collect();
    blake3::hash(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
