//! Measures in WebAssembly: a script within this program runs in Node and calls the npm package.
//!
//! The script gets the whole job at once and answers with one line of JSON. It compares every
//! answer with the native one before it times any.

use std::io::{self, BufWriter, Write};
use std::process::{Child, Output as Ended};

use serde::Deserialize;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::wire;

use super::clock::Clock;
use super::figures::{Figures, Growth, Host, Memory, Pace};
use super::samples::Samples;
use super::workload::{Workload, answer};
use crate::arguments::Bench;
use crate::failure::{self, Failure, Result};
use crate::node::{self, Script, milliseconds, question};
use crate::output::InOneLine;

/// The job of Node: the decisions, and the expected answers.
pub(crate) struct Job<'j> {
    pub(crate) bundle: &'j [u8],
    pub(crate) workload: &'j Workload,
    pub(crate) expected: &'j [bool],
    pub(crate) now: Timestamp,
}

/// The answer of the script.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Failed { error: Trouble },
    Measured(Box<Measured>),
}

#[derive(Deserialize)]
struct Trouble {
    kind: String,
    message: String,
    /// The question that is answered differently.
    at: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    node: String,
    decisions: u64,
    seconds: f64,
    clock: Clock,
    /// Nanoseconds, and how often.
    samples: Vec<(u64, u64)>,
    heap_per_decision: f64,
    heap_growth: f64,
    linear_size: u64,
    linear_growth: u64,
}

/// Runs the script.
pub(crate) fn measure(job: &Job<'_>, bench: &Bench) -> Result<Figures> {
    let mut child = SCRIPT.start(bench.package.as_deref())?;
    // If Node ends early, its error is worth more than the failed write.
    let handed_over = hand_over(&mut child, job, bench);
    let ended = child.wait_with_output().map_err(|error| unable(&failure::reason(&error)))?;
    match serde_json::from_slice(&ended.stdout) {
        Ok(Answer::Measured(measured)) => Ok(measured.into()),
        Ok(Answer::Failed { error }) => Err(explain(&error, job, bench)),
        Err(_) => Err(unable(&why(&ended, handed_over.err().as_ref()))),
    }
}

/// Writes the job in lines: the settings, each request, and the bundle.
fn hand_over(child: &mut Child, job: &Job<'_>, bench: &Bench) -> io::Result<()> {
    let Some(input) = child.stdin.take() else { return Ok(()) };
    let mut input = BufWriter::new(input);
    let requests = job.workload.requests();
    let expected: String = job.expected.iter().map(|it| if *it { '1' } else { '0' }).collect();
    let line = serde_json::json!({
        "now": milliseconds(job.now),
        "seconds": bench.seconds.as_secs_f64(),
        "folder": bench.package.is_some(),
        "requests": requests.len(),
        "expected": expected,
    });
    writeln!(input, "{line}")?;
    for request in requests {
        writeln!(input, "{}", wire::attr_json(&question(request)))?;
    }
    input.write_all(job.bundle)?;
    input.flush()
}

impl From<Box<Measured>> for Figures {
    fn from(measured: Box<Measured>) -> Self {
        Self {
            host: Host::Node(measured.node),
            pace: Pace { decisions: measured.decisions, seconds: measured.seconds },
            samples: Samples::new(&measured.samples, &measured.clock),
            clock: measured.clock,
            memory: Memory::Grown(Growth {
                heap_per_decision: measured.heap_per_decision,
                heap: measured.heap_growth,
                linear_size: measured.linear_size,
                linear: measured.linear_growth,
            }),
        }
    }
}

fn explain(trouble: &Trouble, job: &Job<'_>, bench: &Bench) -> Failure {
    let Trouble { kind, message, at } = trouble;
    let message = message.lines().next().unwrap_or_default();
    match (kind.as_str(), &bench.package) {
        ("package", None) => unable(&format!(
            "the npm package `wardgate` cannot be loaded from this folder: {message}; \
             name its folder with `--package`"
        )),
        ("package", Some(folder)) => unable(&format!(
            "the npm package `wardgate` cannot be loaded from `{}`: {message}",
            folder.in_one_line()
        )),
        ("bundle", _) => {
            Failure::policies(format!("the npm package refuses the bundle: {message}"))
        }
        ("differs", _) => difference(message, at.unwrap_or_default(), job),
        _ => unable(message),
    }
}

fn difference(found: &str, at: usize, job: &Job<'_>) -> Failure {
    match (job.workload.questions().get(at), job.expected.get(at)) {
        (Some(question), Some(expected)) => question.answered_differently(
            &format!("the native host {}", answer(*expected)),
            &format!("Node {found}"),
        ),
        _ => unable("it reports a decision that was not requested"),
    }
}

/// Returns why Node did not answer.
fn why(ended: &Ended, not_handed_over: Option<&io::Error>) -> String {
    match (node::last_words(&String::from_utf8_lossy(&ended.stderr)), not_handed_over) {
        (Some(error), _) => error.to_owned(),
        (None, Some(error)) => failure::reason(error),
        (None, None) => format!("it ended with {}", ended.status),
    }
}

fn unable(why: &str) -> Failure {
    SCRIPT.failure(why)
}

const SCRIPT: Script = Script {
    text: include_str!("node.mjs"),
    does: "measure",
    instead: "measure with `--host native`",
};
