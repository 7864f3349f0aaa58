//! Sends the same questions to the npm package in Node: see `tests/node/decide.mjs`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_engine::cel::Timestamp;

use crate::parity::{Difference, Tally};

/// One bundle and the requests to decide with it.
#[derive(Clone, Debug)]
pub struct Job {
    /// The bundle.
    pub bundle: Vec<u8>,
    /// The time of every check. JavaScript counts milliseconds, and fractions of them in a double.
    pub now: Timestamp,
    /// The requests as JSON.
    pub requests: Vec<Json>,
    /// The number of timed passes, if any.
    pub rounds: Option<u32>,
    /// The right answers, with which every way is compared, if there are any.
    pub right: Option<Right>,
}

/// The answers of the native build to the requests of a job.
#[derive(Clone, Debug, Default)]
pub struct Right {
    /// For each request and each of its actions.
    pub allowed: Vec<Vec<bool>>,
    /// For some requests, by number: the effects of their principal and first action on the
    /// resource of each request.
    pub batches: Vec<(usize, Vec<bool>)>,
    /// The accessor module of the policies, if there is one.
    pub accessors: Option<String>,
}

/// The answers of Node to a job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Canonical JSON of each decision.
    pub decisions: Vec<String>,
    /// The median time of one decision, if the job has rounds.
    pub nanoseconds: Option<f64>,
    /// The wrong answers of all ways.
    pub differences: Vec<Difference>,
    /// The number of questions to each way, and of those answered without the general path.
    pub tally: Tally,
}

/// Sends jobs to one Node process and returns its answers in order.
///
/// # Errors
/// If Node or the built package is missing, a job fails there, or the package contradicts itself.
pub fn decide(root: &Path, jobs: impl Iterator<Item = Job>) -> Result<Vec<Answer>, String> {
    let consistent = |answer: Answer| match answer.differences.first() {
        Some(difference) => Err(format!("node: {difference}")),
        None => Ok(answer),
    };
    attempt(root, jobs)?.into_iter().map(|answer| answer.and_then(consistent)).collect()
}

/// Sends jobs to one Node process and returns its answers in order, some of which may be failures
/// of a job.
///
/// # Errors
/// If Node or the built package is missing.
pub fn attempt(
    root: &Path,
    jobs: impl Iterator<Item = Job>,
) -> Result<Vec<Result<Answer, String>>, String> {
    let mut answers = Vec::new();
    stream(root, jobs, |answer| {
        answers.push(answer);
        Ok(())
    })?;
    Ok(answers)
}

/// Sends jobs to one Node process while they come, and hands each answer on as soon as it is there.
///
/// # Errors
/// If Node or the built package is missing, or `take` refuses an answer.
pub fn stream(
    root: &Path,
    jobs: impl Iterator<Item = Job>,
    mut take: impl FnMut(Result<Answer, String>) -> Result<(), String> + Send,
) -> Result<(), String> {
    let jobs = jobs.map(|job| job.json());
    talk(&root.join("tests/node/decide.mjs"), jobs, |line| take(answer(line)))
}

/// Sends lines of JSON to a program of Node while they come, and hands on each line of its answer.
///
/// # Errors
/// If Node or an import of the program is missing, or `take` refuses an answer.
pub fn talk(
    program: &Path,
    lines: impl Iterator<Item = Json>,
    take: impl FnMut(&str) -> Result<(), String> + Send,
) -> Result<(), String> {
    let mut node = Command::new("node")
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("node cannot be started: {error}"))?;
    let (Some(input), Some(output)) = (node.stdin.take(), node.stdout.take()) else {
        return Err("node has no pipes".to_owned());
    };
    let answers = thread::scope(|scope| {
        let reader = scope.spawn(move || read(output, take));
        write(input, lines);
        reader.join()
    });
    let status = node.wait().map_err(|error| error.to_string())?;
    answers.map_err(|_| "the reader of answers panicked".to_owned())??;
    if status.success() { Ok(()) } else { Err(format!("node ended with {status}")) }
}

/// Writes all lines. A write fails when Node is gone; then its answers are missing.
fn write(mut input: ChildStdin, mut lines: impl Iterator<Item = Json>) {
    while let Some(line) = lines.next()
        && writeln!(input, "{line}").is_ok()
    {}
}

fn read(
    output: ChildStdout,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<(), String> {
    for line in BufReader::new(output).lines() {
        take(&line.map_err(|error| error.to_string())?)?;
    }
    Ok(())
}

impl Job {
    /// Makes a job without timed passes and right answers.
    #[must_use]
    pub const fn new(bundle: Vec<u8>, now: Timestamp, requests: Vec<Json>) -> Self {
        Self { bundle, now, requests, rounds: None, right: None }
    }

    /// Returns the job as a host in JavaScript takes it.
    #[must_use]
    pub fn json(&self) -> Json {
        let seconds = self.now.seconds().to_string().parse::<f64>().unwrap_or(0.0);
        let now = seconds * 1e3 + f64::from(self.now.nanos()) / 1e6;
        let mut json =
            json!({"bundle": STANDARD.encode(&self.bundle), "now": now, "requests": self.requests});
        if let Some(fields) = json.as_object_mut() {
            fields.extend(self.rounds.map(|rounds| ("rounds".to_owned(), rounds.into())));
            let right = self.right.as_ref().map(expected);
            fields.extend(right.map(|right| ("right".to_owned(), right)));
        }
        json
    }
}

fn expected(right: &Right) -> Json {
    let batch = |(of, allowed): &(usize, Vec<bool>)| json!({"of": of, "allowed": allowed});
    json!({
        "allowed": right.allowed,
        "batches": right.batches.iter().map(batch).collect::<Vec<_>>(),
        "accessors": right.accessors,
    })
}

fn answer(line: &str) -> Result<Answer, String> {
    let json: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if let Some(error) = json.get("error") {
        return Err(format!("node: {error}"));
    }
    let list = |name| json.get(name).and_then(Json::as_array).into_iter().flatten();
    Ok(Answer {
        decisions: list("decisions").filter_map(|text| text.as_str().map(str::to_owned)).collect(),
        nanoseconds: json.get("nanoseconds").and_then(Json::as_f64),
        differences: list("differences").map(difference).collect(),
        tally: tally(&json),
    })
}

/// Reads the `counts` of an answer.
pub(crate) fn tally(answer: &Json) -> Tally {
    let mut tally = Tally::default();
    let counts = answer.get("counts").and_then(Json::as_object).into_iter().flatten();
    for (way, count) in counts {
        tally.count(way, [0, 1].map(|at| count.get(at).and_then(Json::as_u64).unwrap_or_default()));
    }
    tally
}

fn difference(json: &Json) -> Difference {
    let text = |name| json.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let request = json.get("request").and_then(Json::as_u64).unwrap_or_default();
    Difference {
        way: text("way"),
        request: usize::try_from(request).unwrap_or_default(),
        action: text("action"),
        answer: text("said"),
    }
}
