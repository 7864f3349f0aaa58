//! Runs one native form of a question for a counter of instructions: NAME PASSES, or no argument
//! for the names.
//!
//! The difference between two runs is the cost of the passes: all before them is the same in both.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wardgate_host_bench::{exit_code, hot};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (name, passes) = (words.next(), words.next().and_then(|word| word.parse().ok()));
    exit_code(run(name.as_deref(), passes.unwrap_or(1)))
}

fn run(name: Option<&str>, passes: u32) -> Result<(), String> {
    let workload = std::env::var("WORKLOAD").unwrap_or_else(|_| WORKLOAD.to_owned());
    hot::rows(&workload, |rows| {
        let Some(name) = name else {
            rows.iter().for_each(|row| println!("{}", row.name()));
            return Ok(());
        };
        let row = rows.iter().find(|row| row.name() == name).ok_or("no such row")?;
        (0..passes).try_for_each(|_| row.pass())
    })
}

const WORKLOAD: &str = "five-rules-20";
