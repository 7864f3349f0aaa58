//! The same questions to the npm package in Node: see `tests/node/decide.mjs`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_engine::cel::Timestamp;

/// One bundle and the requests to decide with it.
#[derive(Clone, Debug)]
pub struct Job {
    /// The bundle.
    pub bundle: Vec<u8>,
    /// The time of every check. JavaScript counts milliseconds, and fractions of them in a double.
    pub now: Timestamp,
    /// The requests as JSON.
    pub requests: Vec<Json>,
    /// How many passes to time, if any.
    pub rounds: Option<u32>,
}

/// What Node answers to a job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Canonical JSON of each decision.
    pub decisions: Vec<String>,
    /// The median time of one decision, if it was asked for.
    pub nanoseconds: Option<f64>,
}

/// Sends jobs to one Node process and returns its answers in order.
///
/// # Errors
/// If Node or the built package is missing, or a job fails there.
pub fn decide(root: &Path, jobs: impl Iterator<Item = Job>) -> Result<Vec<Answer>, String> {
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
/// If Node or the built package is missing, a job fails there, or `take` refuses an answer.
pub fn stream(
    root: &Path,
    jobs: impl Iterator<Item = Job>,
    take: impl FnMut(Answer) -> Result<(), String> + Send,
) -> Result<(), String> {
    let mut node = Command::new("node")
        .arg(root.join("tests/node/decide.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("node cannot be started: {error}"))?;
    let (Some(input), Some(output)) = (node.stdin.take(), node.stdout.take()) else {
        return Err("node has no pipes".to_owned());
    };
    let answers = thread::scope(|scope| {
        let reader = scope.spawn(move || read(output, take));
        write(input, jobs);
        reader.join()
    });
    let status = node.wait().map_err(|error| error.to_string())?;
    answers.map_err(|_| "the reader of answers panicked".to_owned())??;
    if status.success() { Ok(()) } else { Err(format!("node ended with {status}")) }
}

/// A write fails when Node is gone; then its missing answers tell.
fn write(mut input: ChildStdin, mut jobs: impl Iterator<Item = Job>) {
    while let Some(job) = jobs.next()
        && writeln!(input, "{}", line(&job)).is_ok()
    {}
}

fn read(
    output: ChildStdout,
    mut take: impl FnMut(Answer) -> Result<(), String>,
) -> Result<(), String> {
    for line in BufReader::new(output).lines() {
        take(answer(&line.map_err(|error| error.to_string())?)?)?;
    }
    Ok(())
}

fn line(job: &Job) -> Json {
    let seconds = job.now.seconds().to_string().parse::<f64>().unwrap_or(0.0);
    let now = seconds * 1e3 + f64::from(job.now.nanos()) / 1e6;
    let mut line =
        json!({"bundle": STANDARD.encode(&job.bundle), "now": now, "requests": job.requests});
    if let (Some(rounds), Some(fields)) = (job.rounds, line.as_object_mut()) {
        fields.insert("rounds".to_owned(), rounds.into());
    }
    line
}

fn answer(line: &str) -> Result<Answer, String> {
    let json: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if let Some(error) = json.get("error") {
        return Err(format!("node: {error}"));
    }
    let decisions = json.get("decisions").and_then(Json::as_array).into_iter().flatten();
    Ok(Answer {
        decisions: decisions.filter_map(|text| text.as_str().map(str::to_owned)).collect(),
        nanoseconds: json.get("nanoseconds").and_then(Json::as_f64),
    })
}
