//! The script of rate limits, in a Redis.

use crate::setup;
use crate::shell::{self, Outcome, cargo};

/// Tests the script in Debian's redis-server. Where that cannot be installed, the step says so: the
/// other tests of rate limits need none.
pub(crate) fn test() -> Outcome {
    if let Err(why) = setup::program_of_system("redis-server", "redis-server") {
        println!("    skipped: {why}");
        return Ok(());
    }
    // With the libraries of `cargo test --workspace`.
    let mut test = cargo(["test", "--workspace", "--test", "algorithms"]);
    shell::logged("script of rate limits", test.env("WARDGATE_REQUIRE_REDIS", "1"))
}
