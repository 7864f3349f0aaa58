//! Poly1305 (RFC 8439, section 2.5) over whole blocks, as an AEAD pads its data.
//!
//! Numbers modulo 2^130 - 5 in five limbs of 26 bits, so that every product and every sum fits into
//! 64 bits: the widest multiplication of vectors and of WebAssembly. Constant-time: no branch and
//! no address depends on the key or on the data.

use wardgate_simd::Portable;
#[cfg(target_arch = "x86_64")]
use wardgate_simd::lanes::dispatch;

mod factor;
#[cfg(any(test, target_arch = "x86_64"))]
mod lanes;

use factor::{Factor, Limbs, MARK, MASK, carried, limbs, plus};
#[cfg(any(test, target_arch = "x86_64"))]
pub(super) use lanes::AddGroups;

/// The state of a tag computation.
#[derive(Clone)]
pub(super) struct Poly1305 {
    sum: Limbs<u64>,
    key: Factor<u64>,
    square: Factor<u64>,
    /// The number that is added at the end.
    pad: [u64; 2],
}

impl Poly1305 {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let [low, high, pad_low, pad_high] = words(key);
        // Clamps the key.
        let [low, high] = [low & 0x0fff_fffc_0fff_ffff, high & 0x0fff_fffc_0fff_fffc];
        let key = Factor::new(Portable, limbs(Portable, [low, high], 0));
        Self { sum: [0; 5], key, square: key.square(), pad: [pad_low, pad_high] }
    }

    /// Adds data, padded with zeros to a whole block.
    pub(super) fn add(&mut self, data: &[u8]) {
        #[cfg(target_arch = "x86_64")]
        let data = self.add_groups(data);
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

    /// Adds the groups at the start of long data with the widest vectors, and returns the rest.
    #[cfg(target_arch = "x86_64")]
    fn add_groups<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        if data.len() < LONG_BYTES {
            return data;
        }
        let (blocks, _) = data.as_chunks();
        let (groups, _) = blocks.as_chunks();
        dispatch(AddGroups { poly: self, groups });
        data.split_at(groups.as_flattened().as_flattened().len()).1
    }

    /// Adds pairs of blocks, each with one carry: `h = (h + m1) r^2 + m2 r`.
    #[inline(never)]
    fn add_pairs(&mut self, pairs: &[[u8; 32]]) {
        let (key, square) = (self.key, self.square);
        let mut sum = self.sum;
        for pair in pairs {
            let [a, b, c, d] = words(pair);
            let first = square.times(Portable, &plus(Portable, &sum, &marked([a, b])));
            let second = key.times(Portable, &marked([c, d]));
            sum = carried(Portable, plus(Portable, &first, &second));
        }
        self.sum = sum;
    }

    pub(super) fn add_block(&mut self, block: &[u8; 16]) {
        self.step(&marked(words(block)));
    }

    /// Adds a number, and multiplies with the key.
    fn step(&mut self, number: &Limbs<u64>) {
        let sum = plus(Portable, &self.sum, number);
        self.sum = carried(Portable, self.key.times(Portable, &sum));
    }

    /// Returns the tag.
    pub(super) fn finish(self) -> [u8; 16] {
        let sum = carried(Portable, carried(Portable, self.sum));
        let [low, high] = packed(&reduced(&sum));
        let (low, carry) = low.overflowing_add(self.pad[0]);
        let high = high.wrapping_add(self.pad[1]).wrapping_add(carry.into());
        let mut tag = [0; 16];
        tag.as_chunks_mut().0.copy_from_slice(&[low.to_le_bytes(), high.to_le_bytes()]);
        tag
    }
}

/// Subtracts the modulus if the number is not less, by arithmetic alone.
fn reduced(h: &Limbs<u64>) -> Limbs<u64> {
    let mut less = plus(Portable, h, &[5, 0, 0, 0, 0]);
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
fn packed(h: &Limbs<u64>) -> [u64; 2] {
    let [h0, h1, h2, h3, h4] = *h;
    [h0 | h1 << 26 | h2 << 52, h2 >> 12 | h3 << 14 | h4 << 40]
}

/// Splits a whole block.
#[inline(always)]
fn marked(words: [u64; 2]) -> Limbs<u64> {
    limbs(Portable, words, MARK)
}

#[inline(always)]
fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// The length from which vectors are faster, in bytes.
#[cfg(target_arch = "x86_64")]
const LONG_BYTES: usize = 512;
