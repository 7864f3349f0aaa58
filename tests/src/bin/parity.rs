//! Do the native build and the npm package in Node decide alike, byte for byte?
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value as Json;
use wardgate_bundle::{Trust, open, seal};
use wardgate_compiler::compile_files;
use wardgate_engine::wire::decision_json;
use wardgate_tests::cases;
use wardgate_tests::node::{self, Job};

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
    let root = root();
    let cases = case_jobs(&root)?;
    compare("cases", &root, cases)
}

/// A job for Node, and what the native build answers to it.
struct Twin {
    name: String,
    job: Job,
    native: Vec<String>,
}

fn case_jobs(root: &Path) -> Result<Vec<Twin>, String> {
    cases::load(&root.join("tests/cases"))?.into_iter().map(case_twin).collect()
}

fn case_twin(case: cases::Case) -> Result<Twin, String> {
    let compiled = compile_files(&case.files, &case.options).map_err(|errors| {
        errors.iter().map(|error| format!("{}: {error}", case.name)).collect::<String>()
    })?;
    let bundle = seal(&compiled.parts);
    let table =
        open(&bundle, Trust::Unsigned).map_err(|error| format!("{}: {error}", case.name))?;
    let native =
        case.checks.iter().map(|check| decision_json(&table.check(&check.request, case.now)));
    let native = native.collect();
    let requests: Vec<Json> = case.checks.into_iter().map(|check| check.json).collect();
    Ok(Twin { name: case.name, job: Job { bundle, now: case.now, requests, rounds: None }, native })
}

fn compare(suite: &str, root: &Path, twins: Vec<Twin>) -> Result<bool, String> {
    let jobs: Vec<Job> = twins.iter().map(|twin| twin.job.clone()).collect();
    let answers = node::decide(root, jobs.into_iter())?;
    if answers.len() != twins.len() {
        return Err(format!("node answered {} of {} jobs", answers.len(), twins.len()));
    }
    let (mut same, mut different) = (0, 0);
    for (twin, answer) in twins.iter().zip(&answers) {
        if answer.decisions.len() != twin.native.len() {
            return Err(format!("{}: node did not answer every request", twin.name));
        }
        for (native, other) in twin.native.iter().zip(&answer.decisions) {
            if native == other {
                same += 1;
            } else {
                different += 1;
                println!("  differs: {}\n    native {native}\n    node   {other}", twin.name);
            }
        }
    }
    println!("parity-{suite}: {same} passed, {different} failed");
    Ok(different == 0)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
