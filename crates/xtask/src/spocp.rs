//! Runs the tests of `spocp` as WebAssembly: they must pass where numbers have 32 bits, too.

use crate::setup::{self, WASI_TARGET};
use crate::shell::{self, Outcome, cargo, root, target};

/// Runs the tests in Node.
pub(crate) fn in_wasm() -> Outcome {
    setup::wasi_target()?;
    let runner = root().join("tests/node/program.mjs");
    let mut tests = cargo(["test", "--package", "wardgate-spocp", "--tests"]);
    tests.args(["--target", WASI_TARGET]);
    tests.env(RUNNER, format!("node --no-warnings {}", runner.display()));
    // The conformance suites use the same folder, so that no crate is built twice.
    tests.env("CARGO_TARGET_DIR", target().join("wasi/without-vectors")).env("RUSTFLAGS", "");
    shell::logged("tests of SPOCP as WebAssembly", &mut tests)
}

/// The variable with the runner of this target.
const RUNNER: &str = "CARGO_TARGET_WASM32_WASIP1_RUNNER";
