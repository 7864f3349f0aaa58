//! The id of a key, by which a signature names its signer.
//!
//! An id is a hint and proves no identity: two keys may claim the same one. The trust set decides
//! which key an id means.

use alloc::string::{String, ToString};
use core::fmt::{self, Write};

use wardgate_crypto::blake3;
use wardgate_crypto::ml_dsa::Level;

use crate::limits::MAX_KEY_ID_BYTES;

/// The id of a key: 1 to [`MAX_KEY_ID_BYTES`] bytes, usually text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyId {
    bytes: [u8; MAX_KEY_ID_BYTES],
    // INVARIANT: 1 to MAX_KEY_ID_BYTES, and the bytes beyond it are zero.
    length: u8,
}

impl KeyId {
    /// Returns the id with these bytes, or `None` if they are empty or more than
    /// [`MAX_KEY_ID_BYTES`].
    #[must_use]
    pub fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_KEY_ID_BYTES];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        let length = u8::try_from(id.len()).ok().filter(|length| *length > 0)?;
        Some(Self { bytes, length })
    }

    /// Returns the default id of a key: 32 hexadecimal digits derived from the key.
    #[must_use]
    pub fn of(level: Level, public_key: &[u8]) -> Self {
        let mut material = algorithm(level).to_be_bytes().to_vec();
        material.extend_from_slice(public_key);
        let digest = blake3::derive_key(CONTEXT, &material);
        let mut bytes = [0; MAX_KEY_ID_BYTES];
        let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(DIGITS);
        for (position, digit) in bytes.iter_mut().zip(digits) {
            *position = HEXADECIMAL.get(usize::from(digit)).copied().unwrap_or(b'0');
        }
        Self { bytes, length: 32 }
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&[])
    }
}

/// Shows printable ASCII as it is and other bytes as `\xNN`: the writer of a bundle chooses the id,
/// and he may be an attacker.
impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| match byte {
            b'`' | b'\\' => write!(f, "\\{}", char::from(*byte)),
            b' '..=b'~' => f.write_char(char::from(*byte)),
            other => write!(f, "\\x{other:02x}"),
        })
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.to_string();
        f.debug_tuple("KeyId").field(&text).finish()
    }
}

const CONTEXT: &str = "wardgate 2026-11-20 key id";
const DIGITS: usize = 32;
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

/// Returns the number of an algorithm in the registry of COSE (RFC 9964).
pub(crate) const fn algorithm(level: Level) -> i64 {
    match level {
        Level::MlDsa44 => -48,
        Level::MlDsa65 => -49,
        Level::MlDsa87 => -50,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_bounds_and_show_printable_bytes() {
        let shown = |id: &[u8]| KeyId::new(id).map(|id| id.to_string());
        assert_eq!(shown(b""), None);
        assert_eq!(shown(&[b'a'; MAX_KEY_ID_BYTES + 1]), None);
        assert_eq!(shown(b"release 2026").as_deref(), Some("release 2026"));
        assert_eq!(shown(b"a\n`\xff").as_deref(), Some("a\\x0a\\`\\xff"));
    }

    #[test]
    fn the_id_of_a_key_depends_on_key_and_level() {
        let id = KeyId::of(Level::MlDsa87, b"key");
        assert_eq!(id.as_bytes().len(), 32);
        assert_ne!(id, KeyId::of(Level::MlDsa65, b"key"));
        assert_ne!(id, KeyId::of(Level::MlDsa87, b"kez"));
    }
}
