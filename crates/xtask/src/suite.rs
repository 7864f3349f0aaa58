//! The whole suite.
//!
//! A failing step does not stop the others: one run shows every fault. The last line contains only
//! the number of steps that passed.
//!
//! Steps run in two lanes at once, because much of a run uses one processor only: linking,
//! whole-program optimisation, a browser. `NATIVE` builds and tests crates, `PACKAGE` builds the
//! modules and the npm package and runs it in every runtime. Each step is a process of its own, so
//! that its output stays together; it is printed when the step ends.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::shell::{self, Outcome, cargo, seconds, target};
use crate::{
    bundlers, conformance, edge, fuzz, generate, hosts, instructions, layers, npm, parity,
    policy_tests, readme, setup, spocp, vectors, wasm,
};

/// Runs every step and prints a summary. `--long` generates as many requests as the commands of the
/// single steps do.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let is_long = match arguments {
        [] => false,
        [word] if word == "--long" => true,
        [word, ..] => return Err(format!("expected `--long` or nothing, found `{word}`")),
    };
    let setup = run_step(&SET_UP);
    let lane = |steps: &'static [Step]| {
        move || steps.iter().map(|step| run_apart(step, is_long)).collect::<Vec<Report>>()
    };
    let lanes = thread::scope(|scope| {
        let native = scope.spawn(lane(NATIVE));
        let package = lane(PACKAGE)();
        native.join().map(|native| [native, package].concat())
    });
    let lanes = lanes.map_err(|_| "a lane of the suite panicked")?;
    summary(&[vec![setup], lanes].concat())
}

/// Runs the step of the whole suite with this name.
pub(crate) fn step(arguments: &[String]) -> Outcome {
    let [name, rest @ ..] = arguments else { return Err("expected the name of a step".into()) };
    let is_long = rest.first().is_some_and(|word| word == "--long");
    let mut steps = NATIVE.iter().chain(PACKAGE);
    let step = steps.find(|step| step.name == name);
    let step = step.ok_or_else(|| format!("no step is called `{name}`"))?;
    (step.action)(is_long)
}

/// Runs the steps that only read the sources.
pub(crate) fn lint() -> Outcome {
    let is_read_only = |step: &&Step| LINT.contains(&step.name);
    summary(&NATIVE.iter().filter(is_read_only).map(run_step).collect::<Vec<_>>())
}

/// A step of the suite. The argument of the action is true for a long run.
struct Step {
    name: &'static str,
    action: fn(bool) -> Outcome,
}

const SET_UP: Step = Step { name: "set-up", action: |_| setup::everything() };

const NATIVE: &[Step] = &[
    Step { name: "format", action: |_| format() },
    Step { name: "layers", action: |_| layers::check() },
    Step { name: "generated code", action: |_| generate::check() },
    Step { name: "cargo test", action: |_| cargo_test() },
    Step { name: "clippy", action: |_| clippy() },
    Step { name: "vectors", action: |_| vectors::check() },
    Step { name: "hosts", action: |_| hosts::test() },
    Step { name: "conformance", action: |_| conformance::run(&[]) },
    Step { name: "instructions", action: |_| instructions::run(&[]) },
    Step { name: "fuzz smoke", action: |_| fuzz::smoke() },
];

const PACKAGE: &[Step] = &[
    Step { name: "build wasm", action: |_| wasm::build() },
    Step { name: "wasm size", action: |_| wasm::check_size() },
    Step { name: "SPOCP in wasm", action: |_| spocp::in_wasm() },
    Step { name: "npm types", action: |_| npm::check_types() },
    Step { name: "npm test", action: |_| npm::test() },
    Step { name: "parity in Node", action: |_| parity::in_node() },
    Step { name: "parity", action: parity::of_suite },
    Step { name: "compiler parity", action: |_| compiler_parity() },
    Step { name: "policy tests", action: |_| policy_tests::compare() },
    Step { name: "pages", action: |_| readme::check() },
    Step { name: "bundlers", action: |_| bundlers::check() },
    Step { name: "edge worker", action: |_| edge::check() },
];

const LINT: &[&str] = &["format", "clippy", "layers", "generated code"];

#[derive(Clone)]
struct Report {
    name: &'static str,
    time: Duration,
    outcome: Outcome,
}

fn run_step(step: &Step) -> Report {
    println!("{}", step.name);
    let start = Instant::now();
    let outcome = (step.action)(false);
    report(step.name, start.elapsed(), outcome)
}

/// Runs a step in a process of its own and prints its output at the end.
fn run_apart(step: &Step, is_long: bool) -> Report {
    let start = Instant::now();
    let log = target().join("xtask/steps").join(format!("{}.log", step.name.replace(' ', "-")));
    let outcome = in_process(step.name, is_long, &log);
    let output = fs::read(&log).unwrap_or_default();
    let time = start.elapsed();
    print!("{}\n{}", step.name, String::from_utf8_lossy(&output));
    report(step.name, time, outcome)
}

fn in_process(name: &str, is_long: bool, log: &std::path::Path) -> Outcome {
    shell::write(log, "")?;
    let cannot = |error: std::io::Error| format!("cannot run the step: {error}");
    let file = fs::File::options().append(true).open(log).map_err(cannot)?;
    let copy = file.try_clone().map_err(cannot)?;
    let mut own = Command::new(std::env::current_exe().map_err(cannot)?);
    own.args(["step", name]).args(is_long.then_some("--long"));
    let status = own.stdin(Stdio::null()).stdout(file).stderr(copy).status().map_err(cannot)?;
    if status.success() { Ok(()) } else { Err("see above".into()) }
}

fn report(name: &'static str, time: Duration, outcome: Outcome) -> Report {
    match &outcome {
        Ok(()) => println!("{name}: passed in {}", seconds(time)),
        Err(message) => println!("{name}: FAILED in {}: {message}", seconds(time)),
    }
    Report { name, time, outcome }
}

/// Prints a line for each step, and ends the program if one failed.
fn summary(reports: &[Report]) -> Outcome {
    println!();
    for report in reports {
        let word = if report.outcome.is_ok() { "passed" } else { "FAILED" };
        println!("{:<16} {word} {:>10}", report.name, seconds(report.time));
    }
    let failed = reports.iter().filter(|report| report.outcome.is_err()).count();
    println!("\n{} passed, {failed} failed", reports.len() - failed);
    // No error follows, so that the summary ends the output.
    if failed == 0 { Ok(()) } else { std::process::exit(1) }
}

fn format() -> Outcome {
    shell::shown(&mut cargo(["fmt", "--all", "--check"]))
}

fn clippy() -> Outcome {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::logged("clippy", &mut cargo(arguments))
}

fn cargo_test() -> Outcome {
    let mut all = cargo(["test", "--workspace", "--no-fail-fast"]);
    // This crate needs the modules for hosts: the step `hosts` tests it.
    all.args(["--exclude", "wardgate-wasmtime-host"]);
    shell::logged("cargo test", &mut all)?;
    // The part that the package is built without.
    let arguments = ["test", "--package", "wardgate-wasm", "--features", "sign"];
    shell::logged("cargo test of signing", &mut cargo(arguments))
}

/// Checks that the native compiler and that of the package write the same bytes, and report the
/// same faults.
fn compiler_parity() -> Outcome {
    npm::build()?;
    let program = ["run", "--quiet", "--package", "wardgate-tests", "--bin", "compiler-parity"];
    shell::shown(&mut cargo(program))
}
