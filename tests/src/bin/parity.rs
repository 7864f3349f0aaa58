//! Do the native build and the npm package in Node decide alike, byte for byte?
//!
//! First on all cases, then on generated policies and requests: `--generated N` says on how many pairs
//! of a policy set and a request. The same number always means the same pairs.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::channel;

use serde_json::Value as Json;
use wardgate_bundle::{Trust, open, seal};
use wardgate_compiler::compile_files;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_engine::wire::decision_json;
use wardgate_tests::generate::{World, worlds};
use wardgate_tests::node::{self, Answer, Job};
use wardgate_tests::{cases, check};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("parity: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, String> {
    let generated = pairs(std::env::args().skip(1))?;
    let root = root();
    let cases = cases::load(&root.join("tests/cases"))?;
    let cases = cases.into_iter().map(case_twin).collect::<Result<Vec<_>, _>>()?;
    let cases = compare("cases", &root, cases.into_iter())?;
    Ok(cases & compare("generated", &root, generated_twins(generated))?)
}

fn pairs(mut args: impl Iterator<Item = String>) -> Result<usize, String> {
    match (args.next().as_deref(), args.next()) {
        (None, _) => Ok(DEFAULT_PAIRS),
        (Some("--generated"), Some(count)) => {
            count.parse().map_err(|_| format!("expected a number, found `{count}`"))
        }
        _ => Err("expected `--generated N`".to_owned()),
    }
}

/// A job for Node, and what the native build answers to it.
struct Twin {
    expected: Expected,
    job: Job,
}

/// What Node is to answer.
struct Expected {
    name: String,
    native: Vec<String>,
}

impl Twin {
    fn new(
        name: String,
        bundle: Vec<u8>,
        now: Timestamp,
        requests: Vec<(Request, Json)>,
    ) -> Result<Self, String> {
        let table = open(&bundle, Trust::Unsigned).map_err(|error| format!("{name}: {error}"))?;
        let native =
            requests.iter().map(|(request, _)| decision_json(&table.check(request, now))).collect();
        let requests = requests.into_iter().map(|(_, json)| json).collect();
        let job = Job { bundle, now, requests, rounds: None };
        Ok(Self { expected: Expected { name, native }, job })
    }
}

fn case_twin(case: cases::Case) -> Result<Twin, String> {
    let compiled = compile_files(&case.files, &case.options).map_err(|errors| {
        errors.iter().map(|error| format!("{}: {error}", case.name)).collect::<String>()
    })?;
    let requests = case.checks.into_iter().map(|check| (check.request, check.json)).collect();
    Twin::new(case.name, seal(&compiled.parts), case.now, requests)
}

/// Returns generated worlds until they make up `pairs`; those that do not compile do not count.
fn generated_twins(pairs: usize) -> impl Iterator<Item = Twin> {
    let mut left = pairs;
    let mut worlds = worlds(SEED, REQUESTS);
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let twin = worlds.find_map(|mut world| {
            world.requests.truncate(left);
            generated_twin(&world)
        })?;
        left = left.saturating_sub(twin.expected.native.len());
        Some(twin)
    })
}

fn generated_twin(world: &World) -> Option<Twin> {
    let compiled = compile_files(&world.files(), &world.table_options().ok()?).ok()?;
    let request = |json: &Json| Some((check::request(json).ok()?, json.clone()));
    let requests = world.requests.iter().map(request).collect::<Option<_>>()?;
    Twin::new(format!("{world:?}"), seal(&compiled.parts), World::now().ok()?, requests).ok()
}

/// Asks Node for each twin while the next ones are made.
fn compare(suite: &str, root: &Path, twins: impl Iterator<Item = Twin>) -> Result<bool, String> {
    let (sender, receiver) = channel();
    let asked = Cell::new(0);
    let jobs = twins.map_while(|twin| {
        asked.set(asked.get() + twin.expected.native.len());
        sender.send(twin.expected).ok().map(|()| twin.job)
    });
    let mut same = 0;
    let passed = &mut same;
    node::stream(root, jobs, move |answer| {
        let expected = receiver.recv().map_err(|_| "node answered more than it was asked")?;
        *passed += agreements(&expected, &answer)?;
        Ok(())
    })?;
    let different = asked.get() - same;
    println!("parity-{suite}: {same} passed, {different} failed");
    Ok(different == 0)
}

fn agreements(expected: &Expected, answer: &Answer) -> Result<usize, String> {
    let Expected { name, native } = expected;
    if answer.decisions.len() != native.len() {
        return Err(format!("{name}: node did not answer every request"));
    }
    let pairs = native.iter().zip(&answer.decisions);
    let (same, different): (Vec<_>, Vec<_>) = pairs.partition(|(native, node)| native == node);
    for (native, node) in different {
        println!("  differs: {name}\n    native {native}\n    node   {node}");
    }
    Ok(same.len())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Enough to notice, few enough for every run of the tests.
const DEFAULT_PAIRS: usize = 2000;
/// Any seed will do; this one never changes.
const SEED: u8 = 1;
/// The most requests that one generated policy set is asked.
const REQUESTS: usize = 16;
