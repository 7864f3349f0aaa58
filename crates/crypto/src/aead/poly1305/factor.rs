//! Products of numbers in limbs, one number in each lane.

use wardgate_simd::Portable;
use wardgate_simd::lanes::Lanes64;

/// A number in each lane, the lowest limb first.
pub(super) type Limbs<V> = [V; 5];

/// A number to multiply with, and five times its upper limbs, since 2^130 is 5 modulo the prime.
#[derive(Clone, Copy)]
pub(super) struct Factor<V> {
    limbs: Limbs<V>,
    fives: [V; 4],
}

impl<V: Copy> Factor<V> {
    #[inline(always)]
    pub(super) fn new<T: Lanes64<U64 = V>>(tier: T, limbs: Limbs<V>) -> Self {
        let [_, a, b, c, d] = limbs;
        Self {
            limbs,
            fives: [a, b, c, d].map(
                #[inline(always)]
                |limb| five_times(tier, limb),
            ),
        }
    }

    /// Multiplies without carrying. The limbs of `h` are below 2^28 and those of the factor below
    /// 2^27, fives below 2^30: five products stay below 2^61, and the sum of two such below 2^62.
    #[inline(always)]
    pub(super) fn times<T: Lanes64<U64 = V>>(&self, tier: T, h: &Limbs<V>) -> Limbs<V> {
        let [r0, r1, r2, r3, r4] = self.limbs;
        let [s1, s2, s3, s4] = self.fives;
        [
            dot(tier, h, [r0, s4, s3, s2, s1]),
            dot(tier, h, [r1, r0, s4, s3, s2]),
            dot(tier, h, [r2, r1, r0, s4, s3]),
            dot(tier, h, [r3, r2, r1, r0, s4]),
            dot(tier, h, [r4, r3, r2, r1, r0]),
        ]
    }
}

impl Factor<u64> {
    pub(super) fn square(&self) -> Self {
        Self::new(Portable, carried(Portable, self.times(Portable, &self.limbs)))
    }

    /// Returns the number in every lane.
    #[cfg(any(test, target_arch = "x86_64"))]
    #[inline(always)]
    pub(super) fn splat<T: Lanes64>(&self, tier: T) -> Factor<T::U64> {
        let limbs = self.limbs.map(
            #[inline(always)]
            |limb| tier.splat_u64(limb),
        );
        Factor::new(tier, limbs)
    }
}

/// Returns the sum of the products.
#[inline(always)]
fn dot<T: Lanes64>(tier: T, h: &Limbs<T::U64>, with: Limbs<T::U64>) -> T::U64 {
    let ([h0, h1, h2, h3, h4], [w0, w1, w2, w3, w4]) = (*h, with);
    let sum = tier.add_u64(tier.mul_u32(h0, w0), tier.mul_u32(h1, w1));
    let sum = tier.add_u64(sum, tier.mul_u32(h2, w2));
    let sum = tier.add_u64(sum, tier.mul_u32(h3, w3));
    tier.add_u64(sum, tier.mul_u32(h4, w4))
}

/// Carries once around: afterwards every limb but the second is below 2^26, and the second exceeds
/// it slightly.
#[inline(always)]
pub(super) fn carried<T: Lanes64>(tier: T, d: Limbs<T::U64>) -> Limbs<T::U64> {
    let [d0, d1, d2, d3, d4] = d;
    let mask = tier.splat_u64(MASK);
    let d1 = tier.add_u64(d1, tier.shift_right(d0, 26));
    let d2 = tier.add_u64(d2, tier.shift_right(d1, 26));
    let d3 = tier.add_u64(d3, tier.shift_right(d2, 26));
    let d4 = tier.add_u64(d4, tier.shift_right(d3, 26));
    let d0 = tier.add_u64(tier.and(d0, mask), five_times(tier, tier.shift_right(d4, 26)));
    let d1 = tier.add_u64(tier.and(d1, mask), tier.shift_right(d0, 26));
    [tier.and(d0, mask), d1, tier.and(d2, mask), tier.and(d3, mask), tier.and(d4, mask)]
}

#[inline(always)]
fn five_times<T: Lanes64>(tier: T, limb: T::U64) -> T::U64 {
    tier.add_u64(limb, tier.shift_left(limb, 2))
}

#[inline(always)]
pub(super) fn plus<T: Lanes64>(tier: T, a: &Limbs<T::U64>, b: &Limbs<T::U64>) -> Limbs<T::U64> {
    let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (*a, *b);
    [
        tier.add_u64(a0, b0),
        tier.add_u64(a1, b1),
        tier.add_u64(a2, b2),
        tier.add_u64(a3, b3),
        tier.add_u64(a4, b4),
    ]
}

/// Splits 128 bits, and puts `mark` above them.
#[inline(always)]
pub(super) fn limbs<T: Lanes64>(tier: T, [low, high]: [T::U64; 2], mark: u64) -> Limbs<T::U64> {
    let mask = tier.splat_u64(MASK);
    let middle = tier.or(tier.shift_right(low, 52), tier.shift_left(high, 12));
    [
        tier.and(low, mask),
        tier.and(tier.shift_right(low, 26), mask),
        tier.and(middle, mask),
        tier.and(tier.shift_right(high, 14), mask),
        tier.or(tier.shift_right(high, 40), tier.splat_u64(mark)),
    ]
}

pub(super) const MASK: u64 = (1 << 26) - 1;

/// The bit above a whole block: bit 128, which is bit 24 of the last limb.
pub(super) const MARK: u64 = 1 << 24;
