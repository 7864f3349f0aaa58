//! The command of the npm package: `crates/cli` without its server, as WebAssembly, and the tests of the native
//! command with it.

use std::fs;

use crate::setup;
use crate::shell::{self, Outcome, cargo, root, target};

/// Builds `npm/bin/wardgate.wasm`.
pub(crate) fn build() -> Outcome {
    setup::wasi_target()?;
    let mut build = cargo(["build", "--package", "wardgate-cli", "--no-default-features"]);
    build.args(["--profile", "command", "--target", setup::WASI_TARGET]);
    shell::logged("building the command as WebAssembly", &mut build)?;
    let built = target().join(setup::WASI_TARGET).join("command/wardgate.wasm");
    let module = fs::read(&built).map_err(|error| format!("{}: {error}", built.display()))?;
    println!("    the command has {} bytes, at most {MAX_BYTES}", module.len());
    if module.len() > MAX_BYTES {
        return Err(format!("it is {} bytes too large", module.len() - MAX_BYTES));
    }
    // A new time would make every check of the package run again.
    let place = root().join("npm/bin/wardgate.wasm");
    if fs::read(&place).is_ok_and(|old| old == module) {
        Ok(())
    } else {
        shell::write(&place, module)
    }
}

/// Runs the tests of the native command, transcripts included, with the one of the package.
pub(crate) fn test() -> Outcome {
    build()?;
    let mut test = cargo(["test", "--package", "wardgate-cli", "--test", "command", "--"]);
    for part in NATIVE_ALONE {
        test.args(["--skip", part]);
    }
    shell::shown(test.env("WARDGATE_COMMAND", root().join("npm/bin/wardgate.mjs")))
}

/// Tests of what the package's command has not: servers, logs, measurements, and other programs.
const NATIVE_ALONE: &[&str] = &[
    "bench::",
    "log::",
    "mqtt::",
    "ratelimit::",
    "recorded::",
    "serve::",
    "spocp::",
    "watch::",
    "witness::",
    "test::a_machine_without_node_is_reported",
    "test::the_answer_of_node_counts",
    "trust::decisions_need_the_same_signatures",
];

/// Bytes that each installation of the package takes for the command.
const MAX_BYTES: usize = 6_500_000;
