//! One suite for every tier: each lane is compared with plain arithmetic.

use fastrand::Rng;

use super::*;
use crate::test_every_tier;

test_every_tier! {
    words_are_computed_lane_by_lane => words;
    numbers_are_computed_lane_by_lane => numbers;
    rows_are_read_and_written_part_by_part => parts;
    blocks_are_read_one_into_each_lane => blocks;
    narrow_blocks_are_read_one_into_each_lane => narrow_blocks;
    narrow_words_are_computed_lane_by_lane => narrow_words;
}

#[test]
fn the_chosen_tier_is_not_denied() {
    assert!(!deny::denies(chosen()));
}

fn narrow_words(tier: impl Tier) {
    words(tier.narrow());
}

fn narrow_blocks(tier: impl Tier) {
    blocks(tier.narrow());
}

fn words<T: Lanes64>(tier: T) {
    let mut random = Rng::with_seed(0x9e37_79b9_7f4a_7c15);
    for _ in 0..ROUNDS {
        let rows: [[u64; 8]; 3] =
            core::array::from_fn(|_| core::array::from_fn(|_| random.u64(..)));
        let count = random.u32(..64);
        let [a, b, c] = rows;
        check(tier, rows, |x, y, _| tier.xor(x, y), |i| a[i] ^ b[i]);
        check(tier, rows, |x, y, _| tier.and(x, y), |i| a[i] & b[i]);
        check(tier, rows, |x, y, _| tier.or(x, y), |i| a[i] | b[i]);
        check(tier, rows, |x, y, z| tier.xor3(x, y, z), |i| a[i] ^ b[i] ^ c[i]);
        check(tier, rows, |x, y, z| tier.chi(x, y, z), |i| a[i] ^ (!b[i] & c[i]));
        check(tier, rows, |x, y, _| tier.add_u64(x, y), |i| a[i].wrapping_add(b[i]));
        let half = u64::from(u32::MAX);
        let product = |x, y| {
            let [x, y] = [x, y].map(|factor| tier.and(factor, tier.splat_u64(half)));
            tier.mul_u32(x, y)
        };
        check(tier, rows, |x, y, _| product(x, y), |i| (a[i] & half) * (b[i] & half));
        check(tier, rows, |x, _, _| tier.shift_left(x, count), |i| a[i] << count);
        check(tier, rows, |x, _, _| tier.shift_right(x, count), |i| a[i] >> count);
        check(tier, rows, |x, _, _| tier.rotate_left::<1>(x), |i| a[i].rotate_left(1));
        check(tier, rows, |x, _, _| tier.rotate_left::<27>(x), |i| a[i].rotate_left(27));
        check(tier, rows, |x, _, _| tier.rotate_left::<63>(x), |i| a[i].rotate_left(63));
        check(tier, rows, |_, _, _| tier.splat_u64(a[3]), |_| a[3]);
    }
}

/// Compares every lane of every part with the result of `expected`.
fn check<T: Lanes64>(
    tier: T,
    rows: [[u64; 8]; 3],
    found: impl Fn(T::U64, T::U64, T::U64) -> T::U64,
    expected: impl Fn(usize) -> u64,
) {
    let mut row = [0; 8];
    tier.enter(|tier| {
        for part in 0..T::PARTS {
            let [a, b, c] = [0, 1, 2].map(|at| tier.load_u64(&rows[at], part));
            tier.store_u64(found(a, b, c), &mut row, part);
        }
    });
    assert_eq!(row, core::array::from_fn(expected), "{}", T::TIER);
}

fn numbers<T: LanesF64>(tier: T) {
    let mut random = Rng::with_seed(0xd1b5_4a32_d192_ed03);
    for _ in 0..ROUNDS {
        let rows: [[f64; 8]; 3] =
            core::array::from_fn(|_| core::array::from_fn(|_| integer(&mut random)));
        let [a, b, c] = rows;
        let value = |row: f64| row;
        check_f64(tier, rows, |x, y, _| tier.add(x, y), |i| value(a[i] + b[i]));
        check_f64(tier, rows, |x, y, _| tier.sub(x, y), |i| value(a[i] - b[i]));
        check_f64(tier, rows, |x, y, _| tier.mul(x, y), |i| value(a[i] * b[i]));
        check_f64(tier, rows, |x, y, _| tier.min(x, y), |i| a[i].min(b[i]));
        check_f64(tier, rows, |x, y, _| tier.max(x, y), |i| a[i].max(b[i]));
        check_f64(tier, rows, |x, y, z| tier.mul_add(x, y, z), |i| value(a[i] * b[i] + c[i]));
        check_f64(tier, rows, |x, y, z| tier.neg_mul_add(x, y, z), |i| c[i] - a[i] * b[i]);
        check_f64(tier, rows, |_, _, _| tier.splat_f64(a[5]), |_| a[5]);
        // A third, because no integer times it comes near the middle between two integers.
        let third = tier.splat_f64(1.0 / 3.0);
        let nearest = |i: usize| (a[i] / 3.0).round();
        check_f64(tier, rows, |x, _, _| tier.nearest_product(x, third), nearest);
        let bits = |x| tier.as_f64(tier.xor(tier.as_u64(x), tier.splat_u64(1 << 63)));
        check_f64(tier, rows, |x, _, _| bits(x), |i| -a[i]);
    }
}

fn check_f64<T: LanesF64>(
    tier: T,
    rows: [[f64; 8]; 3],
    found: impl Fn(T::F64, T::F64, T::F64) -> T::F64,
    expected: impl Fn(usize) -> f64,
) {
    let mut row = [0.0; 8];
    tier.enter(|tier| {
        for part in 0..T::PARTS {
            let [a, b, c] = [0, 1, 2].map(|at| tier.load_f64(&rows[at], part));
            tier.store_f64(found(a, b, c), &mut row, part);
        }
    });
    assert_eq!(row, core::array::from_fn(expected), "{}", T::TIER);
}

fn parts<T: Tier>(tier: T) {
    let words: [u64; 8] = core::array::from_fn(|i| u64::try_from(i).unwrap() * 3 + 1);
    assert_eq!(T::PARTS * T::LANES, 8);
    for part in 0..T::PARTS {
        let mut row = [0; 8];
        tier.store_u64(tier.load_u64(&words, part), &mut row, part);
        let inside = |i: usize| i / T::LANES == part;
        assert_eq!(row, core::array::from_fn(|i| if inside(i) { words[i] } else { 0 }));
    }
    let mut row = [0; 8];
    tier.store_u64(tier.collect_u64(|lane| words[lane]), &mut row, 0);
    assert_eq!(row[..T::LANES], words[..T::LANES]);
}

fn blocks<T: Lanes64>(tier: T) {
    let mut random = Rng::with_seed(0x2545_f491_4f6c_dd1d);
    let blocks: [Quad; 8] = [(); 8].map(|()| [(); 16].map(|()| random.u8(..)));
    let [mut lower, mut upper] = [[0; 8]; 2];
    tier.enter(|tier| {
        for part in 0..T::PARTS {
            let [low, high] = tier.load_blocks(&blocks[part * T::LANES..]);
            tier.store_u64(low, &mut lower, part);
            tier.store_u64(high, &mut upper, part);
        }
    });
    for (block, words) in blocks.iter().zip(lower.into_iter().zip(upper)) {
        assert_eq!(*block, (u128::from(words.1) << 64 | u128::from(words.0)).to_le_bytes());
    }
}

/// Returns an integer whose product with another is exact.
fn integer(random: &mut Rng) -> f64 {
    let magnitude = f64::from(random.u32(..1 << 26));
    if random.bool() { magnitude } else { -magnitude }
}

const ROUNDS: usize = if cfg!(miri) { 2 } else { 200 };
