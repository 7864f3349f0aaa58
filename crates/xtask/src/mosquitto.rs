//! The plugin for mosquitto, in a mosquitto.

use crate::setup;
use crate::shell::{self, Outcome, cargo};

/// Tests the plugin in Debian's mosquitto. Where that cannot be installed, the step says so: the
/// other tests of the plugin need none.
pub(crate) fn test() -> Outcome {
    if let Err(why) = setup::program_of_system("mosquitto", "mosquitto") {
        println!("    skipped: {why}");
        return Ok(());
    }
    // With the libraries of `cargo test --workspace`.
    let mut test = cargo(["test", "--workspace", "--test", "plugin"]);
    shell::logged("plugin for mosquitto", test.env("WARDGATE_REQUIRE_MOSQUITTO", "1"))
}
