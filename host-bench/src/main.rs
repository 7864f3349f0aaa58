//! Measures decisions natively and in Node, beside hand-written code and rivals, in one run.
//!
//! Every row answers every request correctly before it is timed, and again in each pass that is timed.
//! Nothing here is a test: no figure makes a run fail.
#![forbid(unsafe_code)]

mod machine;
mod measure;
mod node;
mod report;
mod rows;
mod workload;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use measure::Figure;
use report::{Measured, Report};
use rows::wardgate::Compiled;
use workload::Workload;

fn main() -> ExitCode {
    match Arguments::read(std::env::args().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// What the command line asks for.
struct Arguments {
    json: bool,
    node: bool,
    kinds: Vec<usize>,
}

impl Arguments {
    fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self { json: false, node: true, kinds: Vec::new() };
        let mut words = words;
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => arguments.json = true,
                "--native" => arguments.node = false,
                "--kinds" => arguments.kinds.push(number(words.next())?),
                other => return Err(format!("unknown argument `{other}`; {USAGE}")),
            }
        }
        if arguments.kinds.is_empty() {
            arguments.kinds = DEFAULT_KINDS.to_vec();
        }
        Ok(arguments)
    }
}

fn number(word: Option<String>) -> Result<usize, String> {
    let parsed = word.and_then(|word| word.parse().ok()).filter(|number| *number > 0);
    parsed.ok_or_else(|| format!("`--kinds` needs a positive number; {USAGE}"))
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if cfg!(debug_assertions) {
        return Err("figures of an unoptimised build mean nothing: run with --release".to_owned());
    }
    let measured = arguments.kinds.iter().map(|kinds| measure(*kinds, arguments.node));
    let report = Report {
        machine: machine::describe(&root())?,
        measured: measured.collect::<Result<_, _>>()?,
    };
    if arguments.json {
        println!("{}", report.json());
    } else {
        print!("{}", report.table());
    }
    Ok(())
}

fn measure(kinds: usize, with_node: bool) -> Result<Measured, String> {
    let workload = Workload::generate(kinds);
    let compiled = Compiled::new(&workload)?;
    let native = native(&workload, &compiled)?;
    let node =
        with_node.then(|| node::measure(&root(), &workload, &compiled.bundle)).transpose()?;
    Ok(Measured { kinds, requests: workload.requests.len(), native, node })
}

fn native(workload: &Workload, compiled: &Compiled) -> Result<Vec<Figure>, String> {
    let mut rows = rows::wardgate::rows(compiled);
    rows.push(rows::floor::row(workload));
    #[cfg(feature = "rivals")]
    rows.push(rows::cedar::row(workload)?);
    measure::rows(&rows, &workload.expected)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

const DEFAULT_KINDS: &[usize] = &[20, 200];

const USAGE: &str = "expected --json, --native (leave Node out) or --kinds N (may be repeated)";
