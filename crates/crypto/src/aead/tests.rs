use std::vec::Vec;

use ::chacha20poly1305::aead::{Aead, KeyInit, Payload};
use ::chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use wardgate_simd::lanes::{Kernel, Tier};
use wardgate_simd::{Portable, test_every_tier};

use super::chacha20::{Apply, ChaCha20};
use super::poly1305::{AddGroups, Poly1305};
use super::*;

/// Random bytes, the same on every host.
struct Random(fastrand::Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    fn array<const LENGTH: usize>(&mut self) -> [u8; LENGTH] {
        [(); LENGTH].map(|()| self.0.u8(..))
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.0.u8(..)).collect()
    }
}

/// Returns every short length, and the lengths around those that fill the lanes of a tier.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=2048).chain([4095, 4096, 4097, 10_000])
}

#[test]
fn every_length_is_sealed_as_others_seal_it() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for length in lengths() {
        let (key, nonce) = (random.array(), random.array());
        let (aad, msg) = (random.bytes(length % 67), random.bytes(length));
        let payload = Payload { msg: &msg, aad: &aad };
        let expected = ChaCha20Poly1305::new(&key.into()).encrypt(&nonce.into(), payload).unwrap();
        assert_eq!(seal(&key, &nonce, &aad, &msg), Ok(expected.clone()), "{length}");
        assert_eq!(open(&key, &nonce, &aad, &expected), Ok(msg.clone()), "{length}");

        let mut text = msg.clone();
        let tag = lanes::seal(&key, &nonce, &aad, &mut text).unwrap();
        assert_eq!([text.as_slice(), &tag].concat(), expected, "{length}");
        assert_eq!(lanes::open(&key, &nonce, &aad, &mut text, &tag), Ok(()));
        assert_eq!(text, msg, "{length}");
    }
}

// RFC 8439, section 2.8.2. The tag covers the ciphertext, so it alone is compared.
#[test]
fn the_example_of_the_specification_is_sealed() {
    let key = core::array::from_fn(|at| 0x80 + u8::try_from(at).unwrap());
    let nonce = *b"\x07\0\0\0@ABCDEFG";
    let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for \
        the future, sunscreen would be it.";
    let aad = b"PQRS\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7";
    let sealed = seal(&key, &nonce, aad, text).unwrap();
    let tag = 0x1ae1_0b59_4f09_e26a_7e90_2ecb_d060_0691_u128.to_be_bytes();
    assert_eq!(sealed[text.len()..], tag);
    assert_eq!(open(&key, &nonce, aad, &sealed).as_deref(), Ok(&text[..]));
}

#[test]
fn long_nonces_are_used_as_others_use_them() {
    let mut random = Random::new(0xd1b5_4a32_d192_ed03);
    for length in 0..200 {
        let (key, nonce) = (random.array(), random.array());
        let (aad, msg) = (random.bytes(length % 67), random.bytes(length));
        let payload = Payload { msg: &msg, aad: &aad };
        let expected = XChaCha20Poly1305::new(&key.into()).encrypt(&nonce.into(), payload).unwrap();
        assert_eq!(extended::seal(&key, &nonce, &aad, &msg), Ok(expected.clone()), "{length}");
        assert_eq!(extended::open(&key, &nonce, &aad, &expected), Ok(msg), "{length}");
    }
}

#[test]
fn any_flipped_bit_is_refused_and_the_text_stays_encrypted() {
    let mut random = Random::new(0x2545_f491_4f6c_dd1d);
    let (key, nonce): (Key, Nonce) = (random.array(), random.array());
    let (aad, msg) = (random.bytes(19), random.bytes(75));
    let sealed = seal(&key, &nonce, &aad, &msg).unwrap();
    for bit in 0..sealed.len() * 8 {
        let mut forged = sealed.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(&key, &nonce, &aad, &forged), Err(Forged), "{bit}");
        let (text, tag) = forged.split_last_chunk_mut().unwrap();
        let before = text.to_vec();
        assert_eq!(lanes::open(&key, &nonce, &aad, text, tag), Err(Forged), "{bit}");
        assert_eq!(text, before);
    }
    for bit in 0..aad.len() * 8 {
        let mut other = aad.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(&key, &nonce, &other, &sealed), Err(Forged), "{bit}");
    }
    for length in 0..sealed.len() {
        assert_eq!(open(&key, &nonce, &aad, &sealed[..length]), Err(Forged), "{length}");
    }
}

#[test]
fn tags_of_extreme_numbers_are_right() {
    // All ones in key and text make the largest sums possible.
    let (key, nonce) = ([0xff; 32], [0xff; 12]);
    for fill in [0x00, 0xff] {
        for length in [0, 15, 16, 17, 31, 32, 33, 64, 1024] {
            let mut data = std::vec![fill; length];
            let tag = lanes::seal(&key, &nonce, &data.clone(), &mut data).unwrap();
            let aad = std::vec![fill; length];
            let sealed = seal(&key, &nonce, &aad, &aad).unwrap();
            assert_eq!(sealed[length..], tag, "{fill} {length}");
        }
    }
    // RFC 8439, appendix A.3, vectors 7 to 9: sums next to the modulus.
    let check = |key: [u8; 16], blocks: &[[u8; 16]], tag: [u8; 16]| {
        let mut whole = [0; 32];
        whole[..16].copy_from_slice(&key);
        let mut pairs = Poly1305::new(&whole);
        pairs.add(blocks.as_flattened());
        assert_eq!(pairs.finish(), tag);
    };
    let number = |value: u128| value.to_le_bytes();
    let all = u128::MAX;
    let ones = all / 0xff;
    check(number(1), &[number(all), number(all - 0xf), number(0x11)], number(5));
    check(number(1), &[number(all), number(all - ones - 3), number(ones)], number(0));
    check(number(2), &[number(all - 2)], number(all - 5));
}

// A text of that length does not fit into a machine that runs tests, so only the length is passed.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_text_that_would_need_the_key_stream_twice_is_refused() {
    // RFC 8439, section 2.8: P_MAX, less a byte.
    let most = 274_877_906_879;
    assert_eq!(fits(most), Ok(()));
    assert_eq!(fits(most + 1), Err(TooLong { bytes: most + 1 }));
    assert_eq!(fits(usize::MAX), Err(TooLong { bytes: usize::MAX }));
    let text = "expected a text of at most 274877906879 bytes, found 274877906880";
    assert_eq!(std::format!("{}", TooLong { bytes: most + 1 }), text);
}

#[test]
fn every_salt_makes_another_key() {
    let one = sealing_key(&[1; 32], &[2; 32]);
    assert_eq!(one, sealing_key(&[1; 32], &[2; 32]));
    assert_ne!(one, sealing_key(&[1; 32], &[3; 32]));
    assert_ne!(one, sealing_key(&[3; 32], &[2; 32]));
}

test_every_tier! {
    lanes_give_the_key_stream => key_stream;
    lanes_add_blocks_as_one_after_the_other => sums;
}

fn key_stream<T: Tier>(tier: T) {
    let cipher = ChaCha20::new(&[7; 32], &[9; 12]);
    for length in lengths() {
        let (mut text, mut expected) = (std::vec![1; length], std::vec![1; length]);
        Apply { cipher: &cipher, counter: 3, text: &mut text }.run(tier);
        Apply { cipher: &cipher, counter: 3, text: &mut expected }.run(Portable);
        assert_eq!(text, expected, "{length}");
    }
}

fn sums<T: Tier>(tier: T) {
    let mut random = Random::new(0x8538_ecb5_bd45_6ea3);
    for count in 0..40 {
        // All ones make the largest sums possible.
        for (key, blocks) in [
            (random.array(), (0..8 * count).map(|_| random.array()).collect::<Vec<_>>()),
            ([0xff; 32], std::vec![[0xff; 16]; 8 * count]),
        ] {
            let mut expected = Poly1305::new(&key);
            expected.add_block(&[0xfe; 16]);
            let mut poly = expected.clone();
            blocks.iter().for_each(|block| expected.add_block(block));
            let (first, second) = blocks.as_chunks().0.split_at(count / 3);
            for groups in [first, second] {
                AddGroups { poly: &mut poly, groups }.run(tier);
            }
            assert_eq!(poly.finish(), expected.finish(), "{} {count}", T::TIER);
        }
    }
}
