//! Keys and signatures made in the module, for tools that run in JavaScript. The package is built
//! without this file: a host that decides has no secrets.
//!
//! The seed is in the first bytes of the room and is wiped before a call returns.

use wardgate_bundle::level_of;
use wardgate_crypto::ml_dsa::SigningKey;
use zeroize::Zeroize;

use crate::room;

/// Replaces the seed at the start of the room by its public key. Returns the length of the key, or
/// 0 if the level is unknown or the room too short.
#[unsafe(export_name = "publicKey")]
extern "C" fn public_key(level: u32) -> usize {
    let key = room::with(|room| Some(secret(level, room)?.public_key()));
    key.and_then(|key| answer(&key)).unwrap_or(0)
}

/// Signs a message. The room contains the seed, 32 random bytes, the message and its context, the
/// last two of these lengths; the signature replaces them. Signatures are hedged, so the random
/// bytes must be new for each. Returns the length of the signature, or 0 if the level is unknown,
/// the room too short, or the context longer than 255 bytes.
#[unsafe(no_mangle)]
extern "C" fn sign(level: u32, message: usize, context: usize) -> usize {
    let signature = room::with(|room| {
        let secret = secret(level, room)?;
        let (randomness, rest) = room.get(SEED_BYTES..)?.split_first_chunk()?;
        let (message, rest) = rest.split_at_checked(message)?;
        secret.sign(message, rest.get(..context)?, Some(randomness)).ok()
    });
    signature.and_then(|signature| answer(&signature)).unwrap_or(0)
}

/// Reads the seed and wipes it from the room.
fn secret(level: u32, room: &mut [u8]) -> Option<SigningKey> {
    let seed = room.first_chunk_mut::<SEED_BYTES>()?;
    let key = level_of(level).map(|level| SigningKey::from_seed(level, seed));
    seed.zeroize();
    key
}

/// Writes an answer into the room, which may be longer than the input.
fn answer(bytes: &[u8]) -> Option<usize> {
    room::with(|room| {
        room.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(bytes.len())
    })
}

const SEED_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use wardgate_crypto::ml_dsa::{Level, PreparedKey};

    #[test]
    fn a_signature_is_verified_by_the_public_key() {
        let fill = |bytes: &[u8]| {
            room::with(|room| {
                room.clear();
                room.resize(8192, 0);
                room[..bytes.len()].copy_from_slice(bytes);
            });
        };
        let written = |length: usize| room::with(|room| room[..length].to_vec());
        for (number, level) in [(44, Level::MlDsa44), (65, Level::MlDsa65), (87, Level::MlDsa87)] {
            fill(&[7; 32]);
            let public = written(public_key(number));
            fill(&[&[7; 32][..], &[9; 32], b"message", b"context"].concat());
            let signature = written(sign(number, 7, 7));
            let key = PreparedKey::new(level, &public).unwrap();
            assert!(key.verify(b"message", b"context", &signature));
            assert!(!key.verify(b"messagf", b"context", &signature));
        }
    }

    #[test]
    fn a_refused_signing_wipes_the_seed() {
        let fill = || room::with(|room| *room = [5; 512].to_vec());
        for (level, message, context) in
            [(1, 0, 0), (87, 0, 256), (87, 449, 0), (87, usize::MAX, 1)]
        {
            fill();
            assert_eq!(sign(level, message, context), 0, "{level} {message} {context}");
            assert!(room::with(|room| room[..SEED_BYTES].iter().all(|byte| *byte == 0)));
        }
        room::with(Vec::clear);
        assert_eq!((public_key(87), sign(87, 0, 0)), (0, 0));
    }
}
