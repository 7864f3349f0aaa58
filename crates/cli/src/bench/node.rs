//! Measures in WebAssembly: a script within this program runs in Node and asks the npm package.
//!
//! The script gets the job on its standard input and answers with one line of JSON, so that no file is
//! written. It compares every answer with the native one before it times any.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Command, Output as Ended, Stdio};

use serde::Deserialize;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_engine::wire;

use super::clock::Clock;
use super::figures::{Figures, Growth, Host, Memory, Pace};
use super::samples::Samples;
use super::workload::{Workload, answer};
use crate::arguments::Bench;
use crate::failure::{self, Failure, Status};

/// What Node is to decide, and how it must answer.
pub(crate) struct Job<'j> {
    pub(crate) bundle: &'j [u8],
    pub(crate) workload: &'j Workload,
    pub(crate) expected: &'j [bool],
    pub(crate) now: Timestamp,
}

/// What the script says.
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
    clock: Told,
    /// Nanoseconds, and how often.
    samples: Vec<(u64, u64)>,
    heap_per_decision: f64,
    heap_growth: f64,
    linear_size: u64,
    linear_growth: u64,
}

/// What the script says of its clock.
#[derive(Deserialize)]
struct Told {
    cost: f64,
    step: f64,
    group: u32,
}

/// Runs the script.
pub(crate) fn measure(job: &Job<'_>, bench: &Bench) -> Result<Figures, Failure> {
    let mut child = start(bench.package.as_deref())?;
    // If Node ends early, what it says is worth more than that nobody took the rest of the job.
    let handed_over = hand_over(&mut child, job, bench);
    let ended = child.wait_with_output().map_err(|error| unable(&failure::reason(&error)))?;
    match serde_json::from_slice(&ended.stdout) {
        Ok(Answer::Measured(measured)) => Ok(measured.into()),
        Ok(Answer::Failed { error }) => Err(explain(&error, job, bench)),
        Err(_) => Err(unable(&last_words(&ended, handed_over.err().as_ref()))),
    }
}

fn start(package: Option<&Path>) -> Result<Child, Failure> {
    start_script(SCRIPT, package)
}

/// Runs a script in Node, in the folder of the package if one is given.
pub(crate) fn start_script(script: &str, package: Option<&Path>) -> Result<Child, Failure> {
    let mut node = Command::new("node");
    node.args(["--expose-gc", "--input-type=module", "--eval", script]);
    node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = package {
        let about = std::fs::metadata(folder).map_err(|error| Failure::reading(folder, &error))?;
        if !about.is_dir() {
            let shown = folder.display();
            return Err(Failure::usage(format!("`{shown}` is no folder of the npm package")));
        }
        // A package knows itself by its name.
        node.current_dir(folder);
    }
    node.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => unable(
            "there is no `node` on the path: install Node 20 or newer, or measure with `--host native`",
        ),
        _ => unable(&failure::reason(&error)),
    })
}

/// Writes the job in lines: what is to be done, each request; and the bundle.
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

/// Returns a request as the package takes it, with the list of its actions.
pub(crate) fn question(request: &Request) -> Attr {
    let Request { principal, resource, aux_data, .. } = request;
    let who = object([
        ("id", text(&principal.id)),
        ("roles", list(&principal.roles)),
        ("attr", map(&principal.attr)),
        ("policyVersion", text(&principal.policy_version)),
        ("scope", text(&principal.scope)),
    ]);
    let what = object([
        ("kind", text(&resource.kind)),
        ("id", text(&resource.id)),
        ("attr", map(&resource.attr)),
        ("policyVersion", text(&resource.policy_version)),
        ("scope", text(&resource.scope)),
    ]);
    let data = object([("jwt", map(&aux_data.jwt)), ("jwts", map(&aux_data.jwts))]);
    object([
        ("principal", Some(who)),
        ("resource", Some(what)),
        ("auxData", Some(data).filter(|data| *data != Attr::Map(AttrMap::new()))),
        ("actions", list(&request.actions)),
    ])
}

/// Makes an object of the members that are there.
fn object<const N: usize>(members: [(&str, Option<Attr>); N]) -> Attr {
    let there = members.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
    Attr::Map(there.collect())
}

fn text(text: &str) -> Option<Attr> {
    (!text.is_empty()).then(|| Attr::String(text.into()))
}

fn list(names: &[String]) -> Option<Attr> {
    Some(Attr::List(names.iter().map(|name| Attr::String(name.as_str().into())).collect()))
}

fn map(map: &AttrMap) -> Option<Attr> {
    (!map.entries().is_empty()).then(|| Attr::Map(map.clone()))
}

pub(crate) fn milliseconds(time: Timestamp) -> i64 {
    time.seconds() * 1000 + i64::from(time.nanos() / 1_000_000)
}

impl From<Box<Measured>> for Figures {
    fn from(told: Box<Measured>) -> Self {
        let Told { cost, step, group } = told.clock;
        let clock = Clock { cost, step, group };
        Self {
            host: Host::Node(told.node),
            pace: Pace { decisions: told.decisions, seconds: told.seconds },
            samples: Samples::new(&told.samples, &clock),
            clock,
            memory: Memory::Grown(Growth {
                heap_per_decision: told.heap_per_decision,
                heap: told.heap_growth,
                linear_size: told.linear_size,
                linear: told.linear_growth,
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
            folder.display()
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
        _ => unable("it speaks of a question that was not asked"),
    }
}

/// Returns why Node did not answer.
pub(crate) fn last_words(ended: &Ended, not_handed_over: Option<&io::Error>) -> String {
    let said = String::from_utf8_lossy(&ended.stderr);
    let error = said.lines().find(|line| line.contains("Error") || line.starts_with("node:"));
    match (error, not_handed_over) {
        (Some(error), _) => error.trim().to_owned(),
        (None, Some(error)) => failure::reason(error),
        (None, None) => format!("it ended with {}", ended.status),
    }
}

fn unable(why: &str) -> Failure {
    Failure::Message(Status::BadInputOutput, format!("cannot measure in Node: {why}"))
}

const SCRIPT: &str = include_str!("node.mjs");

#[cfg(test)]
mod tests {
    use wardgate_engine::attr::{Attr, AttrMap};
    use wardgate_engine::request::{AuxData, Principal, Request, Resource};
    use wardgate_engine::wire;

    use super::question;

    fn check(request: &Request, expected: &str) {
        assert_eq!(wire::attr_json(&question(request)), expected);
    }

    #[test]
    fn what_is_absent_is_left_out() {
        let mut request = Request {
            principal: Principal {
                id: "ann".into(),
                roles: vec!["member".into()],
                ..Principal::default()
            },
            resource: Resource { kind: "photo".into(), id: "p1".into(), ..Resource::default() },
            actions: vec!["view".into(), "edit".into()],
            ..Request::default()
        };
        let (who, what) = (r#""id":"ann","roles":["member"]"#, r#""id":"p1","kind":"photo""#);
        let asks = r#"{"actions":["view","edit"]"#;
        check(&request, &format!(r#"{asks},"principal":{{{who}}},"resource":{{{what}}}}}"#));
        let claims: AttrMap = [("age".into(), Attr::Number(-0.0))].into_iter().collect();
        request.aux_data = AuxData { jwt: claims, ..AuxData::default() };
        request.resource.scope = "acme".into();
        check(
            &request,
            &format!(
                r#"{asks},"auxData":{{"jwt":{{"age":-0}}}},"principal":{{{who}}},"resource":{{{what},"scope":"acme"}}}}"#
            ),
        );
    }
}
