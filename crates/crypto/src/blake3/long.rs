//! Messages of more than a chunk, one at a time: natively by the authors' assembly, in WebAssembly
//! by this crate.
//!
//! In WebAssembly the `blake3` crate has no kernel that is as fast on both long and short messages.

use super::Digest;
use super::start::Start;

/// Returns the digest of a message of more than a chunk.
pub(super) fn digest(start: &Start, message: &[u8]) -> Digest {
    backend::digest(start, message)
}

/// Fills `out` with the extended digest of a message of more than a chunk.
pub(super) fn fill(start: &Start, message: &[u8], out: &mut [u8]) {
    backend::fill(start, message, out);
}

#[cfg(not(target_arch = "wasm32"))]
mod backend {
    use blake3::Hasher;
    use blake3::hazmat::HasherExt;

    use super::super::compress::{DERIVE_KEY_MATERIAL, KEYED_HASH};
    use super::super::tree;
    use super::{Digest, Start};
    use crate::little_endian::bytes;

    pub(super) fn digest(start: &Start, message: &[u8]) -> Digest {
        match hasher(start) {
            Some(mut hasher) => *update(&mut hasher, message).finalize().as_bytes(),
            None => tree::root(start, message).digest(),
        }
    }

    pub(super) fn fill(start: &Start, message: &[u8], out: &mut [u8]) {
        match hasher(start) {
            Some(mut hasher) => update(&mut hasher, message).finalize_xof().fill(out),
            None => tree::root(start, message).fill(out),
        }
    }

    #[cfg(feature = "threads")]
    fn update<'h>(hasher: &'h mut Hasher, message: &[u8]) -> &'h mut Hasher {
        match message.len() {
            super::super::THREADS_BYTES.. => hasher.update_rayon(message),
            _ => hasher.update(message),
        }
    }

    #[cfg(not(feature = "threads"))]
    fn update<'h>(hasher: &'h mut Hasher, message: &[u8]) -> &'h mut Hasher {
        hasher.update(message)
    }

    /// Returns a hasher, or `None` for a context: the crate hashes one only together with deriving,
    /// so this crate does it.
    fn hasher(start: &Start) -> Option<Hasher> {
        match start.flags {
            0 => Some(Hasher::new()),
            KEYED_HASH => Some(Hasher::new_keyed(&bytes(&start.key))),
            DERIVE_KEY_MATERIAL => Some(Hasher::new_from_context_key(&bytes(&start.key))),
            _ => None,
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod backend {
    use super::super::tree;
    use super::{Digest, Start};

    pub(super) fn digest(start: &Start, message: &[u8]) -> Digest {
        tree::root(start, message).digest()
    }

    pub(super) fn fill(start: &Start, message: &[u8], out: &mut [u8]) {
        tree::root(start, message).fill(out);
    }
}
