//! Every tier is compared with another implementation of SHAKE.

use shake::digest::{ExtendableOutput, Update, XofReader};
use std::vec::Vec;
use wardgate_simd::lanes::{Kernel, Tier, dispatch};

use super::*;

#[test]
fn one_message_in_the_narrow_tier() {
    for length in LENGTHS {
        let texts = [text(length, 1)];
        check(&texts, |messages, outputs| dispatch(Narrow(messages, outputs)));
    }
}

#[test]
fn messages_of_different_lengths_side_by_side() {
    for shift in 0..LENGTHS.len() {
        let lengths = LENGTHS.iter().cycle().skip(shift);
        let texts: Vec<_> =
            lengths.take(8).zip(0..).map(|(length, seed)| text(*length, seed)).collect();
        check(&texts, |messages, outputs| dispatch(Wide(messages, outputs)));
    }
}

#[test]
fn pieces_are_one_text() {
    let whole = text(700, 3);
    for cut in [0, 1, 135, 136, 137, 300, 700] {
        let (front, back) = whole.split_at(cut);
        let (middle, end) = back.split_at(back.len() / 2);
        let mut found = [[0; RATE_256]];
        first_blocks(Portable, &[Message([front, middle, &[], end])], &mut found);
        assert_eq!(found, [shake256(&whole)], "cut at {cut}");
    }
}

#[test]
fn further_blocks_follow_the_first() {
    let seed = text(34, 5);
    let mut blocks = Blocks::<RATE_128>::of_short(&Message([&seed, &[], &[], &[]]));
    let mut hash = shake::Shake128::default();
    hash.update(&seed);
    let mut reader = hash.finalize_xof();
    for _ in 0..12 {
        let mut expected = [0; RATE_128];
        reader.read(&mut expected);
        assert_eq!(blocks.next_block(), expected);
    }
}

fn check(texts: &[Vec<u8>], hash: impl Fn(&[Message<'_>], &mut [[u8; RATE_256]])) {
    let messages: Vec<_> = texts.iter().map(|text| Message([text, &[], &[], &[]])).collect();
    let mut found = std::vec![[0; RATE_256]; texts.len()];
    hash(&messages, &mut found);
    for (text, found) in texts.iter().zip(found) {
        assert_eq!(found, shake256(text), "{} bytes", text.len());
    }
}

struct Narrow<'a, 'b>(&'a [Message<'b>], &'a mut [[u8; RATE_256]]);

impl Kernel for Narrow<'_, '_> {
    type Output = ();

    fn run<T: Tier>(self, tier: T) {
        first_blocks(tier.narrow(), self.0, self.1);
    }
}

struct Wide<'a, 'b>(&'a [Message<'b>], &'a mut [[u8; RATE_256]]);

impl Kernel for Wide<'_, '_> {
    type Output = ();

    fn run<T: Tier>(self, tier: T) {
        for (messages, outputs) in self.0.chunks(T::LANES).zip(self.1.chunks_mut(T::LANES)) {
            first_blocks(tier, messages, outputs);
        }
    }
}

fn shake256(text: &[u8]) -> [u8; RATE_256] {
    let mut hash = shake::Shake256::default();
    hash.update(text);
    let mut output = [0; RATE_256];
    hash.finalize_xof().read(&mut output);
    output
}

fn text(length: usize, seed: u8) -> Vec<u8> {
    (0..251).cycle().map(|byte| byte ^ seed).take(length).collect()
}

const LENGTHS: [usize; 11] = [0, 1, 7, 8, 135, 136, 137, 271, 272, 273, 1088];
