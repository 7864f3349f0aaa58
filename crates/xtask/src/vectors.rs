//! Runs the suite of `simd` for each set of vectors: as WebAssembly with and without them, and
//! natively with the better ones denied.
//!
//! Wherever the suite runs, it compares every tier of the machine with the portable one. This step
//! adds the vectors of WebAssembly, which no native run has, and the choice of a tier.

use crate::conformance::DENIED;
use crate::setup::{self, WASM_TARGET};
use crate::shell::{self, Outcome, cargo, target};

/// Runs the suite for each set of vectors.
pub(crate) fn check() -> Outcome {
    for denied in DENIED {
        let name = format!("vectors without {denied}");
        shell::logged(&name, cargo(SUITE).env("WARDGATE_DENY", denied))?;
    }
    setup::wasm_target()?;
    for (name, flags) in [("with vectors", "-Ctarget-feature=+simd128"), ("without vectors", "")] {
        let mut suite = cargo(SUITE);
        suite.args(["--target", WASM_TARGET]).env("RUSTFLAGS", flags);
        suite.env(RUNNER, "node run-in-node.mjs");
        // A separate folder: the flags would cause every other crate to be rebuilt.
        suite.env("CARGO_TARGET_DIR", target().join("vectors"));
        shell::logged(&format!("WebAssembly {name}"), &mut suite)?;
    }
    Ok(())
}

/// The variable with the runner of this target, in the folder of its crate.
const RUNNER: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER";

const SUITE: [&str; 4] = ["test", "--package", "wardgate-simd", "--lib"];
