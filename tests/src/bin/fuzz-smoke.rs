//! `fuzz-smoke [--seconds N]`: random input to every reader of input, in this process.
//!
//! It shares its entries with the coverage-led targets of `tests/fuzz`, and finds less than they do.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use wardgate_tests::fuzz::{TARGETS, smoke};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let seconds = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Some(DEFAULT_SECONDS),
        ["--seconds", seconds] => seconds.parse().ok(),
        _ => None,
    };
    let Some(seconds) = seconds else {
        eprintln!("fuzz-smoke: expected `--seconds N`, found `{}`", arguments.join(" "));
        return ExitCode::from(2);
    };
    let each = Duration::from_secs(seconds) / u32::try_from(TARGETS.len()).unwrap_or(1);
    for target in TARGETS {
        let end = Instant::now() + each;
        let count = smoke(target, 1, |_| Instant::now() < end);
        println!("{}: {count} inputs, no panic", target.name);
    }
    ExitCode::SUCCESS
}

const DEFAULT_SECONDS: u64 = 30;
