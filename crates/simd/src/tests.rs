//! One suite for every back end: each lane is compared with a plain loop.

use super::*;
use crate::test_tier;

/// Stamps the suite on one back end; `None` where the machine cannot run it.
macro_rules! backend_suite {
    ($name:ident, $backend:expr) => {
        test_tier! {
            $name, $backend;
            words_compare_lane_by_lane => words;
            numbers_compare_lane_by_lane => numbers;
            every_row_has_its_own_bit => positions;
            work_runs_once_and_returns_its_result => work;
        }
    };
}

backend_suite!(portable, Some(Portable));
#[cfg(target_arch = "x86_64")]
backend_suite!(sse2, Some(Sse2::new()));
#[cfg(target_arch = "x86_64")]
backend_suite!(avx2, Avx2::detect());
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
backend_suite!(simd128, Some(Simd128::new()));

fn words(backend: impl Backend) {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for _ in 0..ROUNDS {
        let left: Words = core::array::from_fn(|_| random.word());
        let right: Words = core::array::from_fn(|_| random.word());
        let value = random.word();
        check(backend.equal(&left, value), |row| left[row] == value);
        check(backend.equal_columns(&left, &right), |row| left[row] == right[row]);
        check(backend.below(&left, value), |row| left[row] < value);
        let bound = [2, value][random.below(2)];
        let (equal, below) = backend.equal_and_below(&right, value, bound);
        check(equal, |row| right[row] == value);
        check(below, |row| right[row] < bound);
    }
}

fn numbers(backend: impl Backend) {
    let mut random = Random::new(0xd1b5_4a32_d192_ed03);
    for _ in 0..ROUNDS {
        let left: Numbers = core::array::from_fn(|_| random.number());
        let right: Numbers = core::array::from_fn(|_| random.number());
        let value = random.number();
        for (relation, holds) in RELATIONS {
            check(backend.compare(relation, &left, value), |row| holds(left[row], value));
            let bits = backend.compare_columns(relation, &left, &right);
            check(bits, |row| holds(left[row], right[row]));
        }
    }
}

fn positions(backend: impl Backend) {
    for row in 0..ROWS {
        let mut words = [5; ROWS];
        words[row] = 1;
        assert_eq!(backend.equal(&words, 1), 1 << row);
        assert_eq!(backend.below(&words, 2), 1 << row);
        assert_eq!(backend.equal_columns(&words, &[1; ROWS]), 1 << row);
        assert_eq!(backend.equal_and_below(&words, 5, 2), (!(1 << row), 1 << row));
        assert_eq!(backend.equal_and_below(&words, 1, 1), (1 << row, 0));
        let mut numbers = [5.0; ROWS];
        numbers[row] = 1.0;
        assert_eq!(backend.compare(Relation::Less, &numbers, 2.0), 1 << row);
        assert_eq!(backend.compare_columns(Relation::Equal, &numbers, &[1.0; ROWS]), 1 << row);
    }
}

fn work(backend: impl Backend) {
    let column = [7; ROWS];
    assert_eq!(backend.run(|inner| inner.equal(&column, 7)), u64::MAX);
}

fn check(bits: u64, row_holds: impl Fn(usize) -> bool) {
    for row in 0..ROWS {
        assert_eq!(bits >> row & 1 == 1, row_holds(row), "row {row}");
    }
}

type Holds = fn(f64, f64) -> bool;

const RELATIONS: [(Relation, Holds); 5] = [
    (Relation::Equal, |left, right| left == right),
    (Relation::Less, |left, right| left < right),
    (Relation::LessEqual, |left, right| left <= right),
    (Relation::More, |left, right| left > right),
    (Relation::MoreEqual, |left, right| left >= right),
];

/// Random words and numbers, the same on every host.
struct Random(fastrand::Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Returns a word of few values, so that many are equal, or any word at all.
    fn word(&mut self) -> u32 {
        match self.below(3) {
            0 => EDGE_WORDS[self.below(EDGE_WORDS.len())],
            1 => [2, 3, 4][self.below(3)],
            _ => self.0.u32(..),
        }
    }

    fn number(&mut self) -> f64 {
        match self.below(4) {
            0 => f64::from_bits(self.0.u64(..)),
            _ => EDGE_NUMBERS[self.below(EDGE_NUMBERS.len())],
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.u32(..u32::try_from(bound).unwrap())).unwrap()
    }
}

const EDGE_WORDS: [u32; 7] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX];

const EDGE_NUMBERS: [f64; 10] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MIN_POSITIVE,
    f64::from_bits(1),
    f64::MAX,
];

const ROUNDS: usize = if cfg!(miri) { 5 } else { 2000 };
