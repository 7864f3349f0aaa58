//! Recorded decisions, as the plain calls of `docs/ABI.md` take them.

use wardgate_native::Target;
use wardgate_native::decision_log::Evidence;

/// Returns the bytes of a recorded decision; `None` if it has no evidence, or more or longer targets than a record.
pub(crate) fn bytes(targets: &[Target<'_>], evidence: Evidence<'_>) -> Option<Vec<u8>> {
    let (form, evidence) = match evidence {
        Evidence::None | Evidence::Digest(_) | Evidence::TooLarge => return None,
        Evidence::Read(bytes) => (READ, bytes),
        Evidence::Request(bytes) => (REQUEST, bytes),
    };
    let mut bytes = vec![form, u8::try_from(targets.len()).ok()?];
    for Target { kind, policy_version, scope, action } in targets {
        for name in [kind, policy_version, scope, action] {
            bytes.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
        }
    }
    bytes.extend_from_slice(evidence);
    Some(bytes)
}

/// Reads the answers; `None` if they are none.
pub(crate) fn answers(bytes: &[u8]) -> Option<Vec<Option<bool>>> {
    let answer = |byte: &u8| match byte {
        0 => Some(Some(false)),
        1 => Some(Some(true)),
        2 => Some(None),
        _ => None,
    };
    bytes.iter().map(answer).collect()
}

/// The forms of evidence, as records of the decision log have them.
const READ: u8 = 1;
const REQUEST: u8 = 2;
