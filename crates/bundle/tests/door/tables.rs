//! Small tables, and bundles of them.

use wardgate_bundle::{Conditions, Label, OpenError, Opened, Trust, open, pack_as};
use wardgate_crypto::blake3::hash;
use wardgate_engine::table::Parts;
use wardgate_engine::table::layout::{HEADER_WORDS, MAGIC, VERSION};

/// Returns the smallest table: one empty string.
pub(crate) fn parts() -> Parts {
    let mut words = vec![0; HEADER_WORDS];
    words[0] = MAGIC;
    words[1] = VERSION;
    let mut section = |position: usize, content: &[u32]| {
        words[4 + 2 * position] = u32::try_from(words.len()).unwrap();
        words[5 + 2 * position] = u32::try_from(content.len()).unwrap();
        words.extend_from_slice(content);
    };
    section(0, &[0, 0]);
    section(13, &[0]);
    Parts { words, ..Parts::default() }
}

/// Returns a table with a blob of this length that no word refers to.
pub(crate) fn heavy(length: usize) -> Parts {
    Parts { blob: noise(7, length).into(), ..parts() }
}

/// Returns a label with every field set.
pub(crate) fn label() -> Label {
    Label {
        name: "payroll".to_owned(),
        revision: 7,
        created: 1_700_000_000,
        not_before: Some(1_700_000_100),
        expires: Some(1_800_000_000),
    }
}

/// Returns a bundle of the smallest table with that label.
pub(crate) fn bundle() -> Vec<u8> {
    pack_as(&parts(), &label()).unwrap()
}

/// Returns conditions with a time at which that bundle is valid.
pub(crate) fn noon() -> Conditions<'static> {
    Conditions { now: Some(1_750_000_000), ..Conditions::default() }
}

/// Opens a bundle without verifying signatures.
pub(crate) fn opened(bytes: &[u8]) -> Result<Opened, OpenError> {
    open(bytes, Trust::Unsigned, &noon())
}

/// Returns random bytes, the same for the same seed.
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..length).map(|_| random.u8(..)).collect()
}

/// Puts another envelope into a bundle and makes its digest fit, as any attacker could.
pub(crate) fn with_envelope(bundle: &[u8], envelope: &[u8]) -> Vec<u8> {
    let old = usize::try_from(number(bundle, 16)).unwrap();
    let mut bytes = bundle[..64].to_vec();
    bytes[16..20].copy_from_slice(&u32::try_from(envelope.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(envelope);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend_from_slice(&hash(&bytes));
    bytes.extend_from_slice(&bundle[64 + old.next_multiple_of(8) + 32..]);
    bytes
}

/// Returns the envelope of a bundle.
pub(crate) fn envelope(bundle: &[u8]) -> &[u8] {
    &bundle[64..64 + usize::try_from(number(bundle, 16)).unwrap()]
}

/// Makes all digests of a bundle fit its content, except those that are signed.
pub(crate) fn redigested(bundle: &[u8]) -> Vec<u8> {
    let mut bytes = bundle.to_vec();
    let envelope = usize::try_from(number(bundle, 16)).unwrap().next_multiple_of(8);
    let index = 64 + envelope + 32;
    let entries = usize::try_from(number(bundle, 20)).unwrap() / 40;
    let mut content = index + 40 * entries;
    for entry in 0..entries {
        let at = index + 40 * entry;
        let length = usize::try_from(number(bundle, at + 4)).unwrap();
        let chunk = bundle.get(content..).unwrap_or_default();
        let digest = hash(chunk.get(..length).unwrap_or(chunk));
        bytes[at + 8..at + 40].copy_from_slice(&digest);
        content += length;
    }
    let root = hash(&bytes[index..index + 40 * entries]);
    bytes[32..64].copy_from_slice(&root);
    let head = hash(&bytes[..64 + envelope]);
    bytes[64 + envelope..index].copy_from_slice(&head);
    bytes
}

/// Returns the number at an offset of a bundle.
pub(crate) fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}
