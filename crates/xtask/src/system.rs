//! Tests that need a server of the system, as Debian has it.

use crate::npm;
use crate::setup;
use crate::shell::{self, Outcome, cargo};

/// Tests the plugin in mosquitto.
pub(crate) fn mosquitto() -> Outcome {
    test("plugin for mosquitto", "mosquitto", &["plugin"], "WARDGATE_REQUIRE_MOSQUITTO")
}

/// Tests the script and the stores of rate limits in redis-server: those in Rust, and the one in JavaScript.
pub(crate) fn redis() -> Outcome {
    let targets = ["algorithms", "redis"];
    test("limits on Redis", "redis-server", &targets, "WARDGATE_REQUIRE_REDIS")?;
    npm::test_limits()
}

/// Runs integration tests that must find a program, which is that of the package with its name.
/// Where it cannot be installed, the step says so: the other tests need none.
fn test(what: &str, program: &str, targets: &[&str], required: &str) -> Outcome {
    if let Err(why) = setup::program_of_system(program, program) {
        println!("    skipped: {why}");
        return Ok(());
    }
    // With the libraries of `cargo test --workspace`.
    let mut test = cargo(["test", "--workspace"]);
    test.args(targets.iter().flat_map(|target| ["--test", target]));
    shell::logged(what, test.env(required, "1"))
}
