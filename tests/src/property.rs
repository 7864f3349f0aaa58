//! Runs of tests on generated values.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Runs a test on `usual` values, the same ones in each run; with `SLOW_TESTS=1` on `slow` ones,
/// new each time.
///
/// # Panics
/// If the test fails for a value; the text shows the smallest one that was found.
#[expect(clippy::panic, reason = "a test that fails panics")]
pub fn run<S: Strategy>(
    [usual, slow]: [u32; 2],
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let is_slow = std::env::var_os("SLOW_TESTS").is_some();
    let config = Config {
        cases: if is_slow { slow } else { usual },
        failure_persistence: None,
        max_shrink_iters: 20_000,
        max_global_rejects: 100_000,
        ..Config::default()
    };
    let mut runner = match is_slow {
        true => TestRunner::new(config),
        false => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    if let Err(error) = runner.run(strategy, test) {
        panic!("{error}");
    }
}
