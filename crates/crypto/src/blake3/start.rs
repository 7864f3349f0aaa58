//! The initial state of a hash: the initial words or a key, and the mode in flags.

use super::compress::{DERIVE_KEY_CONTEXT, DERIVE_KEY_MATERIAL, IV, KEYED_HASH};
use crate::little_endian::words;

/// The key words and the flags that every compression of a message shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) key: [u32; 8],
    pub(super) flags: u32,
}

impl Start {
    /// The start of a plain digest.
    pub(super) const PLAIN: Self = Self { key: IV, flags: 0 };

    /// The start of hashing the context of a derived key.
    pub(super) const CONTEXT: Self = Self { key: IV, flags: DERIVE_KEY_CONTEXT };

    /// Returns the start of a keyed digest.
    pub(super) fn keyed(key: &[u8; 32]) -> Self {
        Self { key: words(key), flags: KEYED_HASH }
    }

    /// Returns the start of hashing the material of a derived key, from the hash of its context.
    pub(super) fn derived(context: &[u8; 32]) -> Self {
        Self { key: words(context), flags: DERIVE_KEY_MATERIAL }
    }
}
