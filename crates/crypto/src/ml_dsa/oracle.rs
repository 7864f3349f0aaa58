//! FIPS 204 as it is written: integers, one coefficient after the other, another implementation of
//! SHAKE.
//!
//! It defines the meaning of this module, and only tests use it. The fast code is compared with it
//! on random signatures, valid or not: by the commitment, and not only by the answer.

#![expect(clippy::as_conversions, reason = "a model of integer arithmetic, in tests only")]

use shake::digest::{ExtendableOutput, Update, XofReader};
use std::vec::Vec;
use std::{iter, vec};

use super::Level;

/// Algorithm 8 up to the hash: returns the bytes of w1 and the challenge, or `None` for malformed
/// input.
pub(super) fn commitment(level: Level, public_key: &[u8], signature: &[u8]) -> Option<Vec<u8>> {
    let set = Set::of(level);
    let (challenge, rest) = signature.split_at(set.lambda / 4);
    let (response, hints) = rest.split_at(32 * set.l * set.gamma1_bits);
    let hints = hint_bit_unpack(&set, hints)?;
    let z: Vec<Poly> = bits(response, set.gamma1_bits)
        .chunks(256)
        .map(|poly| poly.iter().map(|value| (1 << (set.gamma1_bits - 1)) - value).collect())
        .collect();
    let beta = set.tau as i64 * set.eta;
    if z.iter().flatten().any(|value| value.abs() >= (1 << (set.gamma1_bits - 1)) - beta) {
        return None;
    }
    let (rho, t1) = public_key.split_at(32);
    let c = ntt(sample_in_ball(&set, challenge));
    let z: Vec<Poly> = z.into_iter().map(ntt).collect();
    let mut packed = Vec::new();
    for (i, t1) in bits(t1, 10).chunks(256).enumerate() {
        let t1 = ntt(t1.iter().map(|value| value << 13).collect());
        let mut w: Poly = c.iter().zip(&t1).map(|(c, t)| -(c * t) % Q).collect();
        for (j, z) in z.iter().enumerate() {
            let a = rej_ntt_poly(rho, j as u8, i as u8);
            w = w.iter().zip(&a).zip(z).map(|((w, a), z)| (w + a * z) % Q).collect();
        }
        let w = inverse_ntt(w);
        let high = w.iter().zip(&hints[i]).map(|(w, hint)| use_hint(&set, *hint, *w));
        packed.extend(pack(high, if set.gamma2 == (Q - 1) / 88 { 6 } else { 4 }));
    }
    Some(packed)
}

type Poly = Vec<i64>;

const Q: i64 = 8_380_417;

/// The parameters of Table 1.
struct Set {
    k: usize,
    l: usize,
    tau: usize,
    lambda: usize,
    gamma1_bits: usize,
    gamma2: i64,
    eta: i64,
    omega: usize,
}

impl Set {
    fn of(level: Level) -> Self {
        let (k, l, tau, lambda, gamma1_bits, gamma2, eta, omega) = match level {
            Level::MlDsa44 => (4, 4, 39, 128, 18, (Q - 1) / 88, 2, 80),
            Level::MlDsa65 => (6, 5, 49, 192, 20, (Q - 1) / 32, 4, 55),
            Level::MlDsa87 => (8, 7, 60, 256, 20, (Q - 1) / 32, 2, 75),
        };
        Self { k, l, tau, lambda, gamma1_bits, gamma2, eta, omega }
    }
}

/// Reads numbers of `width` bits, the lowest bit first.
pub(super) fn bits(bytes: &[u8], width: usize) -> Poly {
    let bits: Vec<i64> =
        bytes.iter().flat_map(|byte| (0..8).map(move |at| i64::from(byte >> at & 1))).collect();
    bits.chunks(width).map(|bits| bits.iter().rev().fold(0, |value, bit| value * 2 + bit)).collect()
}

fn pack(values: impl Iterator<Item = i64>, width: usize) -> Vec<u8> {
    let bits: Vec<i64> =
        values.flat_map(|value| (0..width).map(move |at| value >> at & 1)).collect();
    bits.chunks(8)
        .map(|bits| bits.iter().rev().fold(0, |byte, bit| byte * 2 + *bit as u8))
        .collect()
}

/// Algorithm 21.
fn hint_bit_unpack(set: &Set, y: &[u8]) -> Option<Vec<Vec<bool>>> {
    let mut hints = vec![vec![false; 256]; set.k];
    let mut index = 0;
    for i in 0..set.k {
        let end = usize::from(y[set.omega + i]);
        if end < index || end > set.omega {
            return None;
        }
        let first = index;
        while index < end {
            if index > first && y[index - 1] >= y[index] {
                return None;
            }
            hints[i][usize::from(y[index])] = true;
            index += 1;
        }
    }
    y[index..set.omega].iter().all(|byte| *byte == 0).then_some(hints)
}

/// Algorithm 29.
fn sample_in_ball(set: &Set, seed: &[u8]) -> Poly {
    let mut reader = {
        let mut hash = shake::Shake256::default();
        hash.update(seed);
        hash.finalize_xof()
    };
    let mut next = move || {
        let mut byte = [0];
        reader.read(&mut byte);
        byte[0]
    };
    let signs: Vec<u8> = (0..8).map(|_| next()).collect();
    let mut c = vec![0; 256];
    for i in 256 - set.tau..256 {
        let j = iter::repeat_with(&mut next).map(usize::from).find(|j| *j <= i).unwrap();
        let sign = i + set.tau - 256;
        c[i] = c[j];
        c[j] = 1 - 2 * i64::from(signs[sign / 8] >> (sign % 8) & 1);
    }
    c
}

/// Algorithm 30.
fn rej_ntt_poly(rho: &[u8], column: u8, row: u8) -> Poly {
    let mut hash = shake::Shake128::default();
    hash.update(rho);
    hash.update(&[column, row]);
    let mut reader = hash.finalize_xof();
    let candidates = iter::repeat_with(move || {
        let mut bytes = [0; 3];
        reader.read(&mut bytes);
        i64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2] & 0x7f, 0]))
    });
    candidates.filter(|candidate| *candidate < Q).take(256).collect()
}

/// Returns the power of Appendix B.
fn zeta(k: usize) -> i64 {
    (0..(k as u8).reverse_bits()).fold(1, |power, _| power * 1753 % Q)
}

/// Algorithm 41.
fn ntt(mut w: Poly) -> Poly {
    let mut m = 0;
    for length in [128, 64, 32, 16, 8, 4, 2, 1] {
        for start in (0..256).step_by(2 * length) {
            m += 1;
            let zeta = zeta(m);
            for j in start..start + length {
                let t = zeta * w[j + length] % Q;
                (w[j], w[j + length]) = ((w[j] + t) % Q, (w[j] - t) % Q);
            }
        }
    }
    w
}

/// Algorithm 42.
fn inverse_ntt(mut w: Poly) -> Poly {
    let mut m = 256;
    for length in [1, 2, 4, 8, 16, 32, 64, 128] {
        for start in (0..256).step_by(2 * length) {
            m -= 1;
            let zeta = -zeta(m);
            for j in start..start + length {
                let t = w[j];
                (w[j], w[j + length]) =
                    ((t + w[j + length]) % Q, zeta * ((t - w[j + length]) % Q) % Q);
            }
        }
    }
    w.iter().map(|value| (value * 8_347_681).rem_euclid(Q)).collect()
}

/// Algorithms 36 and 40.
pub(super) fn use_hint_of(level: Level, hint: bool, r: i64) -> i64 {
    use_hint(&Set::of(level), hint, r)
}

fn use_hint(set: &Set, hint: bool, r: i64) -> i64 {
    let (m, r) = ((Q - 1) / (2 * set.gamma2), r.rem_euclid(Q));
    let mut r0 = r % (2 * set.gamma2);
    if r0 > set.gamma2 {
        r0 -= 2 * set.gamma2;
    }
    let r1 = if r - r0 == Q - 1 {
        r0 -= 1;
        0
    } else {
        (r - r0) / (2 * set.gamma2)
    };
    match (hint, r0 > 0) {
        (false, _) => r1,
        (true, true) => (r1 + 1).rem_euclid(m),
        (true, false) => (r1 - 1).rem_euclid(m),
    }
}
