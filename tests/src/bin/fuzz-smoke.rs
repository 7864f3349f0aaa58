//! `fuzz-smoke [--seconds N] [--only NAME]`: random input to every reader of input, or to one, in this process.
//!
//! It shares its entries with the coverage-led targets of `tests/fuzz`, and finds less than they do.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use wardgate_tests::fuzz::{TARGETS, Target, smoke};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let Some((seconds, targets)) = read(&arguments) else {
        eprintln!(
            "fuzz-smoke: expected `--seconds N` and `--only NAME`, found `{}`",
            arguments.join(" ")
        );
        return ExitCode::from(2);
    };
    let each = Duration::from_secs(seconds) / u32::try_from(targets.len()).unwrap_or(1);
    for target in targets {
        let end = Instant::now() + each;
        let count = smoke(target, 1, |_| Instant::now() < end);
        println!("{}: {count} inputs, no panic", target.name);
    }
    ExitCode::SUCCESS
}

/// Returns how long to go on, and with what.
fn read(arguments: &[String]) -> Option<(u64, Vec<Target>)> {
    let (mut seconds, mut targets) = (DEFAULT_SECONDS, TARGETS.to_vec());
    for option in arguments.chunks(2) {
        match option {
            [name, value] if name == "--seconds" => seconds = value.parse().ok()?,
            [name, value] if name == "--only" => targets.retain(|target| target.name == value),
            _ => return None,
        }
    }
    (!targets.is_empty()).then_some((seconds, targets))
}

const DEFAULT_SECONDS: u64 = 30;
