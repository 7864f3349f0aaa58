//! AEGIS-256X4 and AEGIS-256 (RFC 10032), by the `aegis` crate: natively several times as fast as
//! any other cipher here, because they use the AES instructions of the machine.
//!
//! A separate suite for texts that stay between native hosts. Bundles are not sealed with it, since
//! WebAssembly has no such instructions. The library is written in C: the feature needs a C
//! compiler.

use alloc::vec::Vec;

use ::aegis::aegis256::Aegis256;
use ::aegis::aegis256x4::Aegis256X4;

use super::{Forged, Key, Tag};

/// The length of a nonce in bytes: random nonces do not collide.
pub const NONCE_BYTES: usize = 32;

/// A number used once under a key, so that two sealed texts differ: random bytes suffice.
pub type Nonce = [u8; NONCE_BYTES];

/// The variant of AEGIS. Neither opens texts of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// One lane of AES rounds.
    Aegis256,
    /// Four lanes of AES rounds: the fast one.
    Aegis256X4,
}

impl Suite {
    /// Returns the number of the suite in headers of COSE, in the range for private use.
    #[must_use]
    pub const fn id(self) -> i64 {
        match self {
            Self::Aegis256 => -65_537,
            Self::Aegis256X4 => -65_538,
        }
    }

    /// Seals `text`: returns the ciphertext followed by the tag.
    #[must_use]
    pub fn seal(self, key: &Key, nonce: &Nonce, associated: &[u8], text: &[u8]) -> Vec<u8> {
        let mut sealed = text.to_vec();
        let tag = self.seal_in_place(key, nonce, associated, &mut sealed);
        sealed.extend_from_slice(&tag);
        sealed
    }

    /// Opens the ciphertext and tag that [`Self::seal`] returned.
    ///
    /// # Errors
    /// The key, the nonce, `associated` or `sealed` differs from that of sealing.
    pub fn open(
        self,
        key: &Key,
        nonce: &Nonce,
        associated: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, Forged> {
        let (text, tag) = sealed.split_last_chunk().ok_or(Forged)?;
        let mut text = text.to_vec();
        self.open_in_place(key, nonce, associated, &mut text, tag).map(|()| text)
    }

    /// Encrypts a text in place, and returns its tag.
    #[must_use]
    pub fn seal_in_place(
        self,
        key: &Key,
        nonce: &Nonce,
        associated: &[u8],
        text: &mut [u8],
    ) -> Tag {
        match self {
            Self::Aegis256 => Aegis256::new(key, nonce).encrypt_in_place(text, associated),
            Self::Aegis256X4 => Aegis256X4::new(key, nonce).encrypt_in_place(text, associated),
        }
    }

    /// Decrypts a ciphertext in place, and erases it if it is refused.
    ///
    /// # Errors
    /// The key, the nonce, `associated`, the ciphertext or the tag differs from that of sealing.
    pub fn open_in_place(
        self,
        key: &Key,
        nonce: &Nonce,
        associated: &[u8],
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Forged> {
        let opened = match self {
            Self::Aegis256 => Aegis256::new(key, nonce).decrypt_in_place(text, tag, associated),
            Self::Aegis256X4 => Aegis256X4::new(key, nonce).decrypt_in_place(text, tag, associated),
        };
        opened.map_err(|_| Forged)
    }
}

#[cfg(test)]
mod tests {
    use super::{Forged, Suite};

    // The test vector of AEGIS-256X4 in RFC 10032 for an empty text.
    #[test]
    fn the_fast_suite_is_that_of_the_specification() {
        let key = core::array::from_fn(|at| u8::try_from(at).unwrap());
        let nonce = core::array::from_fn(|at| u8::try_from(at + 0x10).unwrap());
        let tag = 0x3b7f_ee6c_ee7b_f178_88ad_11ed_2397_beb4_u128.to_be_bytes();
        assert_eq!(Suite::Aegis256X4.seal(&key, &nonce, &[], &[]), tag);
    }

    #[test]
    fn texts_are_opened_by_their_own_suite_only() {
        let (key, nonce) = ([1; 32], [2; 32]);
        for (suite, other) in
            [(Suite::Aegis256, Suite::Aegis256X4), (Suite::Aegis256X4, Suite::Aegis256)]
        {
            for length in [0, 1, 15, 16, 63, 64, 65, 1000] {
                let text = std::vec![7; length];
                let sealed = suite.seal(&key, &nonce, b"beside", &text);
                assert_eq!(suite.open(&key, &nonce, b"beside", &sealed), Ok(text));
                assert_eq!(suite.open(&key, &nonce, b"besides", &sealed), Err(Forged));
                assert_eq!(other.open(&key, &nonce, b"beside", &sealed), Err(Forged));
                let mut forged = sealed.clone();
                forged[length / 2] ^= 1;
                assert_eq!(suite.open(&key, &nonce, b"beside", &forged), Err(Forged));
            }
        }
    }
}
