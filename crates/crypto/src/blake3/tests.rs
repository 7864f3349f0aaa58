use std::vec::Vec;
use std::{format, vec};

use wardgate_simd::lanes::{Kernel, Tier};
use wardgate_simd::test_every_tier;

use super::batch::{Batch, Inputs};
use super::*;

/// Returns every length up to two chunks, and the neighbours of every length at which the shape of
/// the tree changes.
fn lengths() -> impl Iterator<Item = usize> {
    let borders =
        [2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 128, 129, 191, 193, 256, 300];
    let around = borders
        .into_iter()
        .flat_map(|chunks| (chunks * CHUNK_BYTES - 1)..=(chunks * CHUNK_BYTES + 1));
    (0..=2 * CHUNK_BYTES).chain(around)
}

/// Returns bytes that are the same on every host.
fn message(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut message = vec![0; length];
    for byte in &mut message {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = state.to_be_bytes()[0];
    }
    message
}

#[test]
fn every_mode_agrees_with_the_crate_at_every_length() {
    let all = message(300 * CHUNK_BYTES + 1);
    let key = *b"a key of the tests: thirty-two by";
    let key = *key.first_chunk::<32>().unwrap();
    for length in lengths() {
        let message = &all[..length];
        assert_eq!(hash(message), *::blake3::hash(message).as_bytes(), "{length}");
        assert_eq!(keyed(&key, message), *::blake3::keyed_hash(&key, message).as_bytes());
        assert_eq!(
            derive_key("wardgate tests", message),
            ::blake3::derive_key("wardgate tests", message)
        );
        let (mut ours, mut theirs) = ([0; 200], [0; 200]);
        xof(message, &mut ours);
        ::blake3::Hasher::new().update(message).finalize_xof().fill(&mut theirs);
        assert_eq!(ours, theirs, "{length}");
    }
}

#[test]
fn blocks_under_many_keys_agree_with_the_crate() {
    let all = message(3000);
    let lengths = [0, 1, 12, 31, 32, 33, 63, 64, 65, 100, 1024, 1025, 2000];
    for count in (0..40).chain([64, 100]) {
        let keys: Vec<[u8; 32]> = (0..count).map(|at| hash(&[at])).collect();
        let number = |at: usize| [0, 1, 2, 7][at % 4];
        let inputs = keys.iter().enumerate().map(|(at, key)| KeyedBlock {
            key,
            message: &all[at..at + lengths[(at * 5 + usize::from(count)) % lengths.len()]],
            number: number(at),
        });
        let inputs: Vec<_> = inputs.collect();
        let mut blocks = vec![[0; 64]; inputs.len()];
        keyed_blocks(&inputs, &mut blocks).unwrap();
        for (input, block) in inputs.iter().zip(&blocks) {
            let mut expected = vec![0; usize::try_from(input.number + 1).unwrap() * 64];
            let mut hasher = ::blake3::Hasher::new_keyed(input.key);
            hasher.update(input.message).finalize_xof().fill(&mut expected);
            assert!(expected.ends_with(block), "{count} {}", input.message.len());
            let mut own = vec![0; expected.len()];
            keyed_xof(input.key, input.message, &mut own);
            assert_eq!(own, expected);
        }
    }
    assert!(keyed_blocks(&[], &mut [[0; 64]]).is_err());
}

#[test]
fn the_portable_tree_agrees_with_the_crate_at_every_length() {
    let all = message(300 * CHUNK_BYTES + 1);
    for length in lengths().filter(|length| *length > CHUNK_BYTES) {
        let root = tree::root(&Start::PLAIN, &all[..length]);
        assert_eq!(root.digest(), *::blake3::hash(&all[..length]).as_bytes(), "{length}");
    }
}

#[test]
fn long_contexts_are_hashed_too() {
    let context = "wardgate tests ".repeat(200);
    assert_eq!(derive_key(&context, b"material"), ::blake3::derive_key(&context, b"material"));
}

#[test]
fn extended_digests_of_every_length_are_beginnings_of_each_other() {
    let mut longest = [0; 300];
    xof(b"message", &mut longest);
    for length in 0..longest.len() {
        let mut shorter = vec![0; length];
        xof(b"message", &mut shorter);
        assert_eq!(shorter, longest[..length]);
    }
}

#[test]
fn many_messages_of_any_lengths_have_the_digests_of_each() {
    let all = message(40 * CHUNK_BYTES);
    let mut state = 7_usize;
    for round in 0..60 {
        let most = [65, 200, 1100, 5000, 40 * CHUNK_BYTES][round % 5];
        let messages: Vec<&[u8]> = (0..round)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d).wrapping_add(0x14057);
                &all[..(state >> 8) % most]
            })
            .collect();
        let mut digests = vec![[0; 32]; messages.len()];
        assert_eq!(hash_many(&messages, &mut digests), Ok(()));
        for (message, digest) in messages.iter().zip(&digests) {
            assert_eq!(*digest, *::blake3::hash(message).as_bytes(), "{}", message.len());
        }
    }
}

#[test]
fn a_batch_needs_a_slot_for_each_digest() {
    let refused = hash_many(&[b"a", b"b"], &mut [[0; 32]]).unwrap_err();
    assert_eq!(refused, LengthMismatch { messages: 2, digests: 1 });
    assert_eq!(format!("{refused}"), "expected one place for each of 2 digests, found 1");
}

/// Hashes whole groups of messages of one block, parts of groups, and a longer message between
/// them.
fn short_messages<T: Tier>(tier: T) {
    let all = message(200 + 65);
    for count in 0..=70 {
        for (lengths, longer) in [(1, None), (1, Some(count / 2)), (65, None), (65, Some(0))] {
            let length = |at: usize| match longer {
                Some(position) if position == at => 65,
                _ => 64 - at % lengths,
            };
            let messages: Vec<&[u8]> = (0..count).map(|at| &all[at..at + length(at)]).collect();
            let mut digests = vec![[0; 32]; count];
            let inputs = Inputs::Messages(&messages);
            Batch { start: &Start::PLAIN, inputs, digests: &mut digests }.run(tier);
            for (message, digest) in messages.iter().zip(&digests) {
                assert_eq!(*digest, *::blake3::hash(message).as_bytes(), "{count} {}", T::TIER);
            }
        }
    }
}

/// Hashes a message of every length up to a chunk.
fn every_length<T: Tier>(tier: T) {
    let all = message(CHUNK_BYTES);
    let messages: Vec<&[u8]> = (0..=CHUNK_BYTES).map(|length| &all[..length]).collect();
    let mut digests = vec![[0; 32]; messages.len()];
    let inputs = Inputs::Messages(&messages);
    Batch { start: &Start::PLAIN, inputs, digests: &mut digests }.run(tier);
    for (message, digest) in messages.iter().zip(&digests) {
        assert_eq!(*digest, *::blake3::hash(message).as_bytes(), "{}", message.len());
    }
}

test_every_tier! {
    short_messages_agree_with_the_crate => short_messages;
    every_length_agrees_with_the_crate => every_length;
}
