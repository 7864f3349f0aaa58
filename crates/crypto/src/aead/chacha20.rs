//! The rounds of ChaCha20 (RFC 8439, section 2.3), in every lane.
//!
//! Constant-time: no branch and no address depends on the key or on the text, on any tier.

use wardgate_simd::Portable;
use wardgate_simd::lanes::Lanes32;

use crate::little_endian::{bytes, words};

#[cfg(any(test, target_arch = "wasm32", target_arch = "x86_64"))]
mod stream;

#[cfg(test)]
pub(super) use stream::Apply;
#[cfg(any(test, target_arch = "wasm32", target_arch = "x86_64"))]
pub(super) use stream::{Beginning, ChaCha20};

/// Derives a key from a key and half a long nonce: HChaCha20 (draft-irtf-cfrg-xchacha, section
/// 2.2).
pub(super) fn derive(key: &[u8; 32], nonce: &[u8; 16]) -> [u8; 32] {
    let state = initial(Portable, &words(key), words(nonce));
    let [a, b, c, d, .., e, f, g, h] = mixed(Portable, state);
    bytes(&[a, b, c, d, e, f, g, h])
}

#[inline(always)]
fn initial<T: Lanes32>(tier: T, key: &[u32; 8], input: [u32; 4]) -> [T::U32; 16] {
    let [a, b, c, d, e, f, g, h] = *key;
    let [w, x, y, z] = input;
    [
        tier.splat_u32(0x6170_7865),
        tier.splat_u32(0x3320_646e),
        tier.splat_u32(0x7962_2d32),
        tier.splat_u32(0x6b20_6574),
        tier.splat_u32(a),
        tier.splat_u32(b),
        tier.splat_u32(c),
        tier.splat_u32(d),
        tier.splat_u32(e),
        tier.splat_u32(f),
        tier.splat_u32(g),
        tier.splat_u32(h),
        tier.splat_u32(w),
        tier.splat_u32(x),
        tier.splat_u32(y),
        tier.splat_u32(z),
    ]
}

/// Applies the twenty rounds: ten times the columns and the diagonals.
#[inline(always)]
fn mixed<T: Lanes32>(tier: T, state: [T::U32; 16]) -> [T::U32; 16] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = state;
    let mut rows = [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]];
    for _ in 0..10 {
        let [a, [e, f, g, h], [i, j, k, l], [m, n, o, p]] = quarters(tier, rows);
        let diagonals = [a, [f, g, h, e], [k, l, i, j], [p, m, n, o]];
        let [a, [f, g, h, e], [k, l, i, j], [p, m, n, o]] = quarters(tier, diagonals);
        rows = [a, [e, f, g, h], [i, j, k, l], [m, n, o, p]];
    }
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]] = rows;
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

/// Applies four quarter rounds.
#[inline(always)]
fn quarters<T: Lanes32>(tier: T, rows: [[T::U32; 4]; 4]) -> [[T::U32; 4]; 4] {
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]] = rows;
    let [a, e, i, m] = quarter(tier, a, e, i, m);
    let [b, f, j, n] = quarter(tier, b, f, j, n);
    let [c, g, k, o] = quarter(tier, c, g, k, o);
    let [d, h, l, p] = quarter(tier, d, h, l, p);
    [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]]
}

#[inline(always)]
fn quarter<T: Lanes32>(tier: T, a: T::U32, b: T::U32, c: T::U32, d: T::U32) -> [T::U32; 4] {
    let a = tier.add_u32(a, b);
    let d = tier.rotate_right_u32::<16>(tier.xor_u32(d, a));
    let c = tier.add_u32(c, d);
    let b = tier.rotate_right_u32::<20>(tier.xor_u32(b, c));
    let a = tier.add_u32(a, b);
    let d = tier.rotate_right_u32::<24>(tier.xor_u32(d, a));
    let c = tier.add_u32(c, d);
    let b = tier.rotate_right_u32::<25>(tier.xor_u32(b, c));
    [a, b, c, d]
}
