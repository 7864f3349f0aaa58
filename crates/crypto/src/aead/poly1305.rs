//! Poly1305 (RFC 8439, section 2.5) over whole blocks, as an AEAD pads its data.
//!
//! Numbers modulo 2^130 - 5 in five limbs of 26 bits, so that every product and every sum fits into
//! 64 bits: the widest multiplication of WebAssembly. Two blocks share one carry:
//! `h = (h + m1) r^2 + m2 r`. Constant-time: no branch and no address depends on the key or on the
//! data.

/// The state of a tag computation.
pub(super) struct Poly1305 {
    sum: Limbs,
    key: Factor,
    square: Factor,
    /// The number that is added at the end.
    pad: [u64; 2],
}

type Limbs = [u64; 5];

/// A number to multiply with, and five times its upper limbs, since 2^130 is 5 modulo the prime.
#[derive(Clone, Copy)]
struct Factor {
    limbs: Limbs,
    fives: [u64; 4],
}

impl Poly1305 {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let [low, high, pad_low, pad_high] = words(key);
        // Clamps the key.
        let [low, high] = [low & 0x0fff_fffc_0fff_ffff, high & 0x0fff_fffc_0fff_fffc];
        let key = Factor::new(limbs([low, high], 0));
        let square = Factor::new(carried(key.times(&key.limbs)));
        Self { sum: [0; 5], key, square, pad: [pad_low, pad_high] }
    }

    /// Adds data, padded with zeros to a whole block.
    pub(super) fn add(&mut self, data: &[u8]) {
        let (pairs, rest) = data.as_chunks::<32>();
        self.add_pairs(pairs);
        for block in rest.chunks(16) {
            let mut whole = [0; 16];
            for (whole, byte) in whole.iter_mut().zip(block) {
                *whole = *byte;
            }
            self.add_block(&whole);
        }
    }

    #[inline(never)]
    fn add_pairs(&mut self, pairs: &[[u8; 32]]) {
        let (key, square) = (self.key, self.square);
        let mut sum = self.sum;
        for pair in pairs {
            let [a, b, c, d] = words(pair);
            let first = square.times(&plus(&sum, &limbs([a, b], MARK)));
            let second = key.times(&limbs([c, d], MARK));
            sum = carried(plus(&first, &second));
        }
        self.sum = sum;
    }

    pub(super) fn add_block(&mut self, block: &[u8; 16]) {
        let block = limbs(words(block), MARK);
        self.sum = carried(self.key.times(&plus(&self.sum, &block)));
    }

    /// Returns the tag.
    pub(super) fn finish(self) -> [u8; 16] {
        let sum = carried(carried(self.sum));
        let [low, high] = packed(&reduced(&sum));
        let (low, carry) = low.overflowing_add(self.pad[0]);
        let high = high.wrapping_add(self.pad[1]).wrapping_add(carry.into());
        let mut tag = [0; 16];
        tag.as_chunks_mut().0.copy_from_slice(&[low.to_le_bytes(), high.to_le_bytes()]);
        tag
    }
}

impl Factor {
    fn new(limbs: Limbs) -> Self {
        let [_, a, b, c, d] = limbs;
        Self { limbs, fives: [5 * a, 5 * b, 5 * c, 5 * d] }
    }

    /// Multiplies without carrying. The limbs of `h` are below 2^28 and those of the factor below
    /// 2^27, fives below 2^30: five products stay below 2^61, and the sum of two such below 2^62.
    #[inline(always)]
    fn times(&self, h: &Limbs) -> Limbs {
        let [h0, h1, h2, h3, h4] = *h;
        let [r0, r1, r2, r3, r4] = self.limbs;
        let [s1, s2, s3, s4] = self.fives;
        [
            h0 * r0 + h1 * s4 + h2 * s3 + h3 * s2 + h4 * s1,
            h0 * r1 + h1 * r0 + h2 * s4 + h3 * s3 + h4 * s2,
            h0 * r2 + h1 * r1 + h2 * r0 + h3 * s4 + h4 * s3,
            h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s4,
            h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0,
        ]
    }
}

/// Carries once around: afterwards every limb but the second is below 2^26, and the second exceeds
/// it slightly.
#[inline(always)]
fn carried(d: Limbs) -> Limbs {
    let [d0, d1, d2, d3, d4] = d;
    let d1 = d1 + (d0 >> 26);
    let d2 = d2 + (d1 >> 26);
    let d3 = d3 + (d2 >> 26);
    let d4 = d4 + (d3 >> 26);
    let d0 = (d0 & MASK) + 5 * (d4 >> 26);
    [d0 & MASK, (d1 & MASK) + (d0 >> 26), d2 & MASK, d3 & MASK, d4 & MASK]
}

#[inline(always)]
fn plus(a: &Limbs, b: &Limbs) -> Limbs {
    let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (*a, *b);
    [a0 + b0, a1 + b1, a2 + b2, a3 + b3, a4 + b4]
}

/// Subtracts the modulus if the number is not less, by arithmetic alone.
fn reduced(h: &Limbs) -> Limbs {
    let mut less = plus(h, &[5, 0, 0, 0, 0]);
    let mut carry = 0;
    for limb in &mut less {
        *limb += carry;
        carry = *limb >> 26;
        *limb &= MASK;
    }
    // The carry is 1 if the number plus 5 reaches 2^130.
    let take = 0_u64.wrapping_sub(carry);
    let mut reduced = *h;
    for (limb, less) in reduced.iter_mut().zip(less) {
        *limb = (*limb & !take) | (less & take);
    }
    reduced
}

/// Returns the lower 128 bits.
fn packed(h: &Limbs) -> [u64; 2] {
    let [h0, h1, h2, h3, h4] = *h;
    [h0 | h1 << 26 | h2 << 52, h2 >> 12 | h3 << 14 | h4 << 40]
}

/// Splits 128 bits, and puts `mark` above them.
#[inline(always)]
fn limbs([low, high]: [u64; 2], mark: u64) -> Limbs {
    [
        low & MASK,
        (low >> 26) & MASK,
        (low >> 52 | high << 12) & MASK,
        (high >> 14) & MASK,
        high >> 40 | mark,
    ]
}

#[inline(always)]
fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

const MASK: u64 = (1 << 26) - 1;

/// The bit above a whole block: bit 128, which is bit 24 of the last limb.
const MARK: u64 = 1 << 24;
