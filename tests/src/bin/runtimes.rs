//! Writes the questions that all runtimes answer: `cargo xtask parity` runs this, then the
//! runtimes.
//!
//! `write FOLDER` makes the questions and their answers; `--requests N`, `--replays N` and `--seed S` set
//! what is generated. `native QUESTIONS REPORT` lets a native host answer, as the other runtimes do.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use wardgate_tests::program::{exit, number, root};
use wardgate_tests::runtimes::{Native, Report, Size, Suite, replay, write};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["write", folder, rest @ ..] => write_questions(Path::new(folder), rest),
        ["native", questions, report] => ask_native(Path::new(questions), Path::new(report)),
        _ => Err("expected `write FOLDER [OPTIONS]` or `native QUESTIONS REPORT`".into()),
    };
    exit("runtimes", outcome.map(|()| true))
}

fn write_questions(folder: &Path, options: &[&str]) -> Result<(), String> {
    let mut size = Size { requests: REQUESTS, replays: REPLAYS, seed: SEED };
    for option in options.chunks(2) {
        match option {
            ["--requests", value] => size.requests = number(value)?,
            ["--replays", value] => size.replays = number(value)?,
            ["--seed", value] => size.seed = number(value)?,
            _ => return Err(format!("unknown option {option:?}")),
        }
    }
    let report = write(&root(), folder, &size)?;
    let count = |suite: Suite| format!("{} {}", report.answers(suite), suite.name());
    println!("    answers: {}", Suite::ALL.map(count).join(", "));
    save(&folder.join("expected.json"), "expected", &report)
}

fn ask_native(questions: &Path, path: &Path) -> Result<(), String> {
    save(path, "native", &replay(questions, &Native)?)
}

fn save(path: &Path, runtime: &str, report: &Report) -> Result<(), String> {
    std::fs::write(path, report.json(runtime).to_string())
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// The least number of generated requests; every policy set is used to its end.
const REQUESTS: usize = 20_000;
/// The number of recorded decisions that are made again.
const REPLAYS: usize = 20_000;
/// Any seed is good enough; this one never changes.
const SEED: u8 = 5;
