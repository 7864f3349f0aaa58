//! Runs the tests of `spocp` as WebAssembly: what they say of rules must hold where numbers have 32 bits, too.

use crate::setup::{self, WASI_TARGET};
use crate::shell::{self, Outcome, cargo, root, target};

/// Runs them in Node.
pub(crate) fn in_wasm() -> Outcome {
    setup::wasi_target()?;
    let runner = root().join("tests/node/program.mjs");
    let mut tests = cargo(["test", "--package", "wardgate-spocp", "--tests"]);
    tests.args(["--target", WASI_TARGET]);
    tests.env(RUNNER, format!("node --no-warnings {}", runner.display()));
    // The conformance suites are built there, so that nothing is built twice.
    tests.env("CARGO_TARGET_DIR", target().join("wasi/without-vectors")).env("RUSTFLAGS", "");
    shell::logged("tests of SPOCP as WebAssembly", &mut tests)
}

/// What runs a test of this target.
const RUNNER: &str = "CARGO_TARGET_WASM32_WASIP1_RUNNER";
