//! One suite for every tier: each lane is compared with plain arithmetic.

use super::*;
use crate::test_every_tier;

test_every_tier! {
    words_are_computed_lane_by_lane => arithmetic;
    blocks_become_columns_and_columns_rows => turning;
}

fn arithmetic<T: Lanes32>(tier: T) {
    let mut random = fastrand::Rng::with_seed(0x9e37_79b9);
    for _ in 0..ROUNDS {
        let rows: [[u32; MAX_WORDS]; 3] =
            [(); 3].map(|()| [(); MAX_WORDS].map(|()| random.u32(..)));
        let [a, b, c] = rows;
        check(tier, rows, |x, y, _| tier.add_u32(x, y), |i| a[i].wrapping_add(b[i]));
        check(tier, rows, |x, y, _| tier.xor_u32(x, y), |i| a[i] ^ b[i]);
        check(tier, rows, |x, y, _| tier.and_u32(x, y), |i| a[i] & b[i]);
        check(tier, rows, |x, y, z| tier.select_u32(x, y, z), |i| a[i] & b[i] | !a[i] & c[i]);
        check(tier, rows, |x, _, _| tier.rotate_right_u32::<7>(x), |i| a[i].rotate_right(7));
        check(tier, rows, |x, _, _| tier.rotate_right_u32::<8>(x), |i| a[i].rotate_right(8));
        check(tier, rows, |x, _, _| tier.rotate_right_u32::<12>(x), |i| a[i].rotate_right(12));
        check(tier, rows, |x, _, _| tier.rotate_right_u32::<16>(x), |i| a[i].rotate_right(16));
        check(tier, rows, |x, _, _| tier.rotate_right_u32::<24>(x), |i| a[i].rotate_right(24));
        check(tier, rows, |x, _, _| tier.rotate_right_u32::<25>(x), |i| a[i].rotate_right(25));
        check(tier, rows, |_, _, _| tier.splat_u32(a[3]), |_| a[3]);
        check(tier, rows, |x, y, z| tier.in_turn([x, y, z, x])[1], |i| b[i]);
        check(tier, rows, |x, y, z| tier.in_turn([y, y, z, x])[3], |i| a[i]);
    }
}

/// Compares every lane with the result of `expected`.
fn check<T: Lanes32>(
    tier: T,
    rows: [[u32; MAX_WORDS]; 3],
    found: impl Fn(T::U32, T::U32, T::U32) -> T::U32,
    expected: impl Fn(usize) -> u32,
) {
    let mut lanes = [[[0; 16]; 1]; MAX_WORDS];
    tier.enter(|tier| {
        let [a, b, c] = [0, 1, 2].map(|at| tier.load_u32(&rows[at]));
        tier.rows(&[[found(a, b, c); 4]], &mut lanes);
    });
    for (lane, [quad]) in lanes.iter().enumerate().take(T::WORDS) {
        let expected = [expected(lane).to_le_bytes(); 4];
        assert_eq!(quad.as_slice(), expected.as_flattened(), "{} lane {lane}", T::TIER);
    }
}

fn turning<T: Lanes32>(tier: T) {
    let mut random = fastrand::Rng::with_seed(0xd1b5_4a32);
    let blocks: [Block; MAX_WORDS] = [(); MAX_WORDS].map(|()| [(); 64].map(|()| random.u8(..)));
    let mut rows = [[[0; 16]; 4]; MAX_WORDS];
    let mut words = [[[0; 16]; 1]; MAX_WORDS];
    let mut joined = rows;
    tier.enter(|tier| {
        let columns = tier.columns(&blocks.each_ref());
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = columns;
        tier.rows(&[[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]], &mut rows);
        tier.rows(&[[p, a, p, a]], &mut words);
        joined = rows;
        tier.join_rows(&[[b, b, b, b], [e, f, g, h], [i, j, k, l], [p, n, o, p]], &mut joined);
    });
    for (lane, block) in blocks.iter().enumerate().take(T::WORDS) {
        assert_eq!(rows[lane].as_flattened(), block, "{} lane {lane}", T::TIER);
        let picked = [15, 0, 15, 0].map(|word| block.as_chunks::<4>().0[word]);
        assert_eq!(words[lane][0].as_slice(), picked.as_flattened(), "{} lane {lane}", T::TIER);
    }
    for (joined, block) in joined.iter().zip(&blocks).take(T::WORDS) {
        let [a, b, c, d, .., m, _, _, p] = *block.as_chunks::<4>().0 else { unreachable!() };
        let both = |x: [u8; 4], y: [u8; 4]| u32::from_le_bytes(x) ^ u32::from_le_bytes(y);
        let ends =
            [both(a, b), 0, both(c, b), both(d, b), 0, 0, 0, 0, 0, 0, 0, 0, both(m, p), 0, 0, 0];
        let found =
            joined.as_flattened().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        assert!(found.eq(ends), "{}", T::TIER);
    }
    assert!(rows[T::WORDS..].iter().flatten().flatten().all(|byte| *byte == 0), "{}", T::TIER);
}

const ROUNDS: usize = if cfg!(miri) { 2 } else { 200 };
