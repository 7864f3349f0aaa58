//! `fuzz-smoke [--seconds N | --inputs N] [--seed N] [--only NAME]`: random input to every reader of input, or to one, in
//! this process.
//!
//! It shares its entries with the coverage-led targets of `tests/fuzz`, and finds less than they do. A time is shared by all
//! targets, a number of inputs is that of each.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use wardgate_tests::fuzz::{TARGETS, Target, smoke};

/// What to do.
struct FastPath {
    targets: Vec<Target>,
    until: Until,
    seed: u64,
}

/// When a run ends.
#[derive(Clone, Copy)]
enum Until {
    /// After so much time for all targets together.
    Seconds(u64),
    /// After so many inputs for each target.
    Inputs(usize),
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let Some(fast_path) = read(&arguments) else {
        eprintln!(
            "fuzz-smoke: expected `--seconds N` or `--inputs N`, `--seed N` and `--only NAME`, found `{}`",
            arguments.join(" ")
        );
        return ExitCode::from(2);
    };
    for target in &fast_path.targets {
        fast_path.run(*target);
    }
    ExitCode::SUCCESS
}

impl FastPath {
    fn run(&self, target: Target) {
        let begin = Instant::now();
        let count = match self.until {
            Until::Inputs(inputs) => smoke(target, self.seed, |count| count < inputs),
            Until::Seconds(seconds) => {
                let targets = u32::try_from(self.targets.len()).unwrap_or(1);
                let each = Duration::from_secs(seconds) / targets;
                smoke(target, self.seed, |_| begin.elapsed() < each)
            }
        };
        let seconds = begin.elapsed().as_secs();
        println!("{}: {count} inputs in {seconds} s, no panic", target.name);
    }
}

/// Reads the arguments.
fn read(arguments: &[String]) -> Option<FastPath> {
    let (targets, until) = (TARGETS.to_vec(), Until::Seconds(DEFAULT_SECONDS));
    let mut fast_path = FastPath { targets, until, seed: 1 };
    for option in arguments.chunks(2) {
        let [name, value] = option else { return None };
        match name.as_str() {
            "--seconds" => fast_path.until = Until::Seconds(value.parse().ok()?),
            "--inputs" => fast_path.until = Until::Inputs(value.parse().ok()?),
            "--seed" => fast_path.seed = value.parse().ok()?,
            "--only" => fast_path.targets.retain(|target| target.name == value),
            _ => return None,
        }
    }
    (!fast_path.targets.is_empty()).then_some(fast_path)
}

const DEFAULT_SECONDS: u64 = 30;
