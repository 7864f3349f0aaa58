//! Vector operations over columns: 64 rows in, 64 bits out.
//!
//! `Portable` is the meaning. Every other back end is a faster spelling of it: one suite is stamped
//! on all of them and compares each lane with a plain loop. A back end is a value that proves that
//! the machine can run it, so a caller with the value needs no further permission.
//!
//! `lanes` has the vectors of cryptography, under the same law.
//!
//! The suite runs as WebAssembly too, with and without `RUSTFLAGS=-Ctarget-feature=+simd128`:
//! `cargo test -p wardgate-simd --lib --target wasm32-unknown-unknown`, where
//! `CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER` is `node run-in-node.mjs`. `cargo xtask test` does
//! that.

#![no_std]

pub mod lanes;
mod methods;
mod portable;
mod suite;
#[cfg(target_arch = "wasm32")]
mod wasm32;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use portable::Portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use wasm32::Simd128;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{Avx2, Avx512, Sse2};

/// The number of rows of one block, which is the number of bits of one result.
pub const ROWS: usize = 64;

/// One block of a column of words.
pub type Words = [u32; ROWS];

/// One block of a column of numbers.
pub type Numbers = [f64; ROWS];

/// The comparisons of a block: bit `i` of every result belongs to row `i`.
///
/// Numbers compare as in IEEE 754: NaN is neither equal, less nor more, and -0 equals 0.
pub trait Backend: Copy {
    /// The name of the back end in reports and tests.
    const NAME: &'static str;

    /// Runs `work` as code in which the operations of this back end can be inlined.
    ///
    /// Only a back end that was chosen at run time needs it: otherwise each operation is a call.
    fn run<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }

    /// Returns the rows whose word is `value`.
    fn equal(self, column: &Words, value: u32) -> u64;

    /// Returns the rows whose two words are equal.
    fn equal_columns(self, left: &Words, right: &Words) -> u64;

    /// Returns the rows whose word is less than `bound`, both unsigned.
    fn below(self, column: &Words, bound: u32) -> u64;

    /// Returns in one pass the rows whose word is `value`, and those whose word is below `bound`.
    ///
    /// It is fastest for columns in which hardly any word is below.
    #[inline]
    fn equal_and_below(self, column: &Words, value: u32, bound: u32) -> (u64, u64) {
        (self.equal(column, value), self.below(column, bound))
    }

    /// Returns the rows whose number, on the left, has `relation` to `value`.
    fn compare(self, relation: Relation, column: &Numbers, value: f64) -> u64;

    /// Returns the rows whose left number has `relation` to the right one.
    fn compare_columns(self, relation: Relation, left: &Numbers, right: &Numbers) -> u64;
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `left == right`
    Equal,
    /// `left < right`
    Less,
    /// `left <= right`
    LessEqual,
    /// `left > right`
    More,
    /// `left >= right`
    MoreEqual,
}

/// The fastest back end that every machine of this target can run.
#[cfg(target_arch = "x86_64")]
pub type Best = Sse2;
/// The fastest back end that this module may use.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub type Best = Simd128;
/// The fastest back end of this target, which has no other one.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128"))))]
pub type Best = Portable;

/// Returns the fastest back end that needs no detection of features.
#[must_use]
pub const fn best() -> Best {
    Best::new()
}

#[cfg(test)]
mod tests;
