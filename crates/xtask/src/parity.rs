//! Sends the same questions to every runtime, and prints a table of the results.
//!
//! The questions are made natively, and written to a file together with the digests of their
//! answers. Each runtime reads them from there, imports the packed package by its name, and writes
//! a report. All digests must equal those of the native build, and all ways of deciding must agree
//! with them.

mod runtimes;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::shell::{self, Outcome, root, target};
use crate::{hosts, npm, setup};
use runtimes::{RUNTIMES, Runtime};

/// Compares every way to decide in Node with the native build and the oracle, on the cases and on
/// generated policies.
pub(crate) fn in_node() -> Outcome {
    npm::build()?;
    shell::shown(&mut shell::program("parity")?)
}

/// Runs all runtimes, on fewer generated requests unless the run is a long one.
pub(crate) fn of_suite(is_long: bool) -> Outcome {
    let short = ["--requests", SHORT_REQUESTS, "--replays", SHORT_REQUESTS].map(str::to_owned);
    run(if is_long { &[] } else { &short })
}

/// Runs every runtime, or those that the arguments name, and prints the table.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = Options::read(arguments)?;
    prepare(&options)?;
    let expected = report(&folder().join("expected.json"))?;
    let asked = RUNTIMES.iter().filter(|runtime| options.asks(runtime.name));
    let rows = two_at_once(&asked.collect::<Vec<_>>());
    table::print(&rows);
    let wrong: Vec<String> = rows.iter().filter_map(|row| row.fault(&expected)).collect();
    wrong.iter().for_each(|fault| println!("    {fault}"));
    match wrong.len() {
        0 => Ok(()),
        count => {
            Err(format!("{count} of {} runtimes do not agree with the native build", rows.len()))
        }
    }
}

/// Runs two runtimes at once, because most of them use one processor; the rows have the order of
/// the runtimes.
fn two_at_once(runtimes: &[&Runtime]) -> Vec<Row> {
    let queue = Mutex::new(runtimes.iter().enumerate());
    let work = || {
        let next = || queue.lock().ok().and_then(|mut queue| queue.next());
        std::iter::from_fn(next).map(|(at, runtime)| (at, Row::of(runtime))).collect::<Vec<_>>()
    };
    let mut rows = thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut rows = work();
        rows.extend(other.join().unwrap_or_default());
        rows
    });
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The options of the command.
#[derive(Default)]
struct Options {
    only: Vec<String>,
    /// The size of the set of questions, for the program that makes them.
    size: Vec<String>,
}

impl Options {
    fn read(arguments: &[String]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
            match word.as_str() {
                "--only" if RUNTIMES.iter().any(|runtime| is_named(runtime.name, value)) => {
                    options.only.push(value.clone());
                }
                "--only" => return Err(format!("no runtime is called `{value}`")),
                "--replays" | "--requests" | "--seed" => {
                    options.size.extend([word.clone(), value.clone()])
                }
                _ => return Err(format!("unknown option `{word}`")),
            }
        }
        Ok(options)
    }

    fn asks(&self, runtime: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| is_named(runtime, name))
    }
}

/// Returns true if `name` selects a runtime: `node` selects `node without vectors` too.
fn is_named(runtime: &str, name: &str) -> bool {
    runtime == name || runtime.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '))
}

/// Installs the package as its users do, and makes the questions.
fn prepare(options: &Options) -> Outcome {
    npm::build()?;
    setup::npm_ci(RUNTIMES_FOLDER)?;
    npm::install_packed(&root().join(RUNTIMES_FOLDER))?;
    let mut write = shell::program("runtimes")?;
    if RUNTIMES.iter().any(|runtime| runtime.lacks_crypto && options.asks(runtime.name)) {
        hosts::build()?;
        shell::example("parity")?;
    }
    write.arg("write").arg(folder()).args(&options.size);
    shell::shown(&mut write)
}

/// The result of one runtime.
struct Row {
    name: &'static str,
    outcome: Outcome<Value>,
    vectors: Option<bool>,
    lacks_crypto: bool,
    time: Duration,
}

impl Row {
    fn of(runtime: &Runtime) -> Self {
        let start = Instant::now();
        let outcome = runtime.ask(&folder());
        let time = start.elapsed();
        let Runtime { name, vectors, lacks_crypto, .. } = *runtime;
        Self { name, outcome, vectors, lacks_crypto, time }
    }

    /// Returns a message about the first fault; `None` if the report is as expected.
    fn fault(&self, expected: &Value) -> Option<String> {
        let name = self.name;
        let report = match &self.outcome {
            Ok(report) => report,
            Err(error) => return Some(format!("{name}: {error}")),
        };
        if let Some(first) = table::list(report, "failures").first() {
            return Some(format!("{name}: {}", first_difference(first)));
        }
        if self.vectors.is_some() && report.get("vectors").and_then(Value::as_bool) != self.vectors
        {
            return Some(format!("{name}: whether it has vectors is not as expected"));
        }
        // The counts are compared too, so that no runtime agrees by answering fewer questions.
        let suites = SUITES.iter().filter(|suite| !(self.lacks_crypto && **suite == "crypto"));
        let mut paths =
            suites.map(|suite| format!("/suites/{suite}")).chain(["/digest".to_owned()]);
        let differs = |path: &String| report.pointer(path) != expected.pointer(path);
        let path = paths.find(differs)?;
        Some(format!("{name}: `{path}` is not what the native build says"))
    }
}

/// Returns a message about the first wrong answer and the right one.
fn first_difference(failure: &Value) -> String {
    let text = |name| failure.get(name).and_then(Value::as_str).unwrap_or_default();
    let at = failure.get("at").and_then(Value::as_u64).unwrap_or_default();
    let (suite, name, said) = (text("suite"), text("name"), text("said"));
    let right = right_answer(suite, name, at).unwrap_or_default();
    format!("{suite}, {name}, request {at}\n      said  {said}\n      right {right}")
}

/// Returns an answer as text: the answers are in the order of the questions.
fn right_answer(suite: &str, name: &str, at: u64) -> Option<String> {
    let questions = fs::read_to_string(folder().join("questions.jsonl")).ok()?;
    let mut before = 0;
    for line in questions.lines() {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |name| line.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("suite") == suite && text("name") == name {
            let answers = fs::read_to_string(folder().join("answers.txt")).ok()?;
            let number = before + usize::try_from(at).ok()?;
            return answers.lines().nth(number).map(str::to_owned);
        }
        // Three bytes are four characters, and a digest has 32 bytes.
        before += text("digests").len() * 3 / 4 / 32;
    }
    None
}

fn report(path: &Path) -> Outcome<Value> {
    serde_json::from_str(&shell::read(path)?)
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the folder of questions and reports.
fn folder() -> PathBuf {
    target().join("parity")
}

/// Generated requests of a run that is not long; `cargo xtask parity` makes 20,000.
const SHORT_REQUESTS: &str = "4000";
const RUNTIMES_FOLDER: &str = "tests/runtimes";
const SUITES: [&str; 6] = ["cases", "generated", "bundles", "rules", "replays", "crypto"];
