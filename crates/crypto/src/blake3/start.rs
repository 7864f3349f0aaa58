//! What a hash starts with: the initial words or a key, and what the key is for.

use super::compress::{DERIVE_KEY_CONTEXT, DERIVE_KEY_MATERIAL, IV, KEYED_HASH, words};

/// The key words and the flags that every compression of a message shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) key: [u32; 8],
    pub(super) flags: u32,
}

impl Start {
    /// For everybody.
    pub(super) const PLAIN: Self = Self { key: IV, flags: 0 };

    /// For the purpose of a derived key.
    pub(super) const CONTEXT: Self = Self { key: IV, flags: DERIVE_KEY_CONTEXT };

    /// For the holders of a key.
    pub(super) fn keyed(key: &[u8; 32]) -> Self {
        Self { key: words(key), flags: KEYED_HASH }
    }

    /// For the material of a derived key, after its purpose was hashed.
    pub(super) fn derived(context: &[u8; 32]) -> Self {
        Self { key: words(context), flags: DERIVE_KEY_MATERIAL }
    }
}
