//! `fuzz-smoke [--seconds N | --inputs N] [--seed N] [--only NAME]`: feeds random input to every
//! reader of input, or to one, in this process.
//!
//! It shares its entries with the coverage-led targets of `tests/fuzz`, and finds less than they
//! do. The seconds are shared by all targets, the number of inputs is for each.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use wardgate_tests::fuzz::{TARGETS, Target, smoke};

/// The targets of a run, its length and its seed.
struct Arguments {
    targets: Vec<Target>,
    until: Until,
    seed: u64,
}

/// The end of a run.
#[derive(Clone, Copy)]
enum Until {
    /// This many seconds for all targets together.
    Seconds(u64),
    /// This many inputs for each target.
    Inputs(usize),
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let Some(run) = read(&arguments) else {
        eprintln!(
            "fuzz-smoke: expected `--seconds N` or `--inputs N`, `--seed N` and `--only NAME`, found `{}`",
            arguments.join(" ")
        );
        return ExitCode::from(2);
    };
    for target in &run.targets {
        run.run(*target);
    }
    ExitCode::SUCCESS
}

impl Arguments {
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
fn read(arguments: &[String]) -> Option<Arguments> {
    let (targets, until) = (TARGETS.to_vec(), Until::Seconds(DEFAULT_SECONDS));
    let mut run = Arguments { targets, until, seed: 1 };
    for option in arguments.chunks(2) {
        let [name, value] = option else { return None };
        match name.as_str() {
            "--seconds" => run.until = Until::Seconds(value.parse().ok()?),
            "--inputs" => run.until = Until::Inputs(value.parse().ok()?),
            "--seed" => run.seed = value.parse().ok()?,
            "--only" => run.targets.retain(|target| target.name == value),
            _ => return None,
        }
    }
    (!run.targets.is_empty()).then_some(run)
}

const DEFAULT_SECONDS: u64 = 30;
