//! The whole suite.
//!
//! A failing step does not stop the others: one run shows every fault. The last line contains only
//! the number of steps that passed.
//!
//! Steps run in two lanes at once, because much of a run uses one processor only: linking,
//! whole-program optimisation, a browser. One lane tests the crates (`CRATES`), the other installs
//! the tools and builds the npm package (`BUILD`), and then runs it in every runtime (`PACKAGE`).
//! Whichever lane is done takes the next of the steps that can run beside any other (`BESIDE`).
//! Each step is a process of its own, so that its output stays together; it is printed when the
//! step ends.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::shell::{self, Outcome, cargo, seconds, target};
use crate::{
    bundlers, conformance, edge, fuzz, generate, hosts, instructions, layers, npm, npm_command,
    parity, policy_tests, readme, release, setup, site, spocp, system, vectors, wasm,
};

/// Runs every step and prints a summary. `--long` generates as many requests as the commands of the
/// single steps do.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let is_long = match arguments {
        [] => false,
        [word] if word == "--long" => true,
        [word, ..] => return Err(format!("expected `--long` or nothing, found `{word}`")),
    };
    setup::rust()?;
    let run_all =
        |steps: &[Step]| steps.iter().map(|step| run_apart(step, is_long)).collect::<Vec<_>>();
    let is_built = OnceLock::new();
    let rest = Mutex::new(BESIDE.iter());
    let take_rest = || {
        let next = || rest.lock().ok().and_then(|mut rest| rest.next());
        std::iter::from_fn(next).map(|step| run_apart(step, is_long)).collect()
    };
    let lanes = thread::scope(|scope| {
        let crates = scope.spawn(|| {
            let reports = run_all(CRATES);
            is_built.wait();
            [reports, take_rest()].concat()
        });
        let build = run_all(BUILD);
        is_built.get_or_init(|| ());
        let package = [build, run_all(PACKAGE), take_rest()].concat();
        crates.join().map(|crates| [crates, package].concat())
    });
    summary(&lanes.map_err(|_| "a lane of the suite panicked")?)
}

/// Runs the step of the whole suite with this name.
pub(crate) fn step(arguments: &[String]) -> Outcome {
    let [name, rest @ ..] = arguments else { return Err("expected the name of a step".into()) };
    let is_long = rest.first().is_some_and(|word| word == "--long");
    let mut steps = [CRATES, BUILD, PACKAGE, BESIDE].into_iter().flatten();
    let step = steps.find(|step| step.name == name);
    let step = step.ok_or_else(|| format!("no step is called `{name}`"))?;
    (step.action)(is_long)
}

/// Runs the steps that only read the sources.
pub(crate) fn lint() -> Outcome {
    let is_read_only = |step: &&Step| LINT.contains(&step.name);
    summary(&CRATES.iter().filter(is_read_only).map(run_step).collect::<Vec<_>>())
}

/// A step of the suite. The argument of the action is true for a long run.
struct Step {
    name: &'static str,
    action: fn(bool) -> Outcome,
}

/// The tests of the crates, which need neither the package nor a tool beside Rust.
const CRATES: &[Step] = &[
    Step { name: "format", action: |_| format() },
    Step { name: "layers", action: |_| layers::check() },
    Step { name: "generated code", action: |_| generate::check() },
    Step { name: "cargo test", action: |_| cargo_test() },
    Step { name: "clippy", action: clippy },
];

/// The installation of the tools and the build of the package, before the steps that use them.
const BUILD: &[Step] = &[
    Step { name: "set-up", action: |_| setup::everything() },
    Step { name: "build wasm", action: |_| wasm::build() },
    Step { name: "npm types", action: |_| npm::check_types() },
];

/// The steps that install the package or write its fixtures, one after the other.
const PACKAGE: &[Step] = &[
    Step { name: "npm test", action: |_| npm::test() },
    Step { name: "parity in Node", action: |_| parity::in_node() },
    Step { name: "parity", action: parity::of_suite },
    Step { name: "pages", action: |_| readme::check() },
    Step { name: "bundlers", action: |_| bundlers::check() },
    Step { name: "edge worker", action: |_| edge::check() },
];

/// The steps that only read the package, the long ones first.
const BESIDE: &[Step] = &[
    Step { name: "hosts", action: |_| hosts::test() },
    Step { name: "command of npm", action: |_| npm_command::test() },
    Step { name: "mosquitto", action: |_| system::mosquitto() },
    Step { name: "redis", action: |_| system::redis() },
    Step { name: "instructions", action: |_| instructions::run(&[]) },
    Step { name: "conformance", action: |_| conformance::run(&[]) },
    Step { name: "fuzz smoke", action: fuzz::smoke },
    Step { name: "SPOCP in wasm", action: |_| spocp::in_wasm() },
    Step { name: "compiler parity", action: |_| compiler_parity() },
    Step { name: "action", action: |_| release::test_action() },
    Step { name: "policy tests", action: |_| policy_tests::compare() },
    Step { name: "analysis in wasm", action: |_| policy_tests::compare_analysis() },
    Step { name: "vectors", action: |_| vectors::check() },
    Step { name: "site", action: |_| site::run(&[]) },
    Step { name: "release", action: |_| release::of_suite() },
    Step { name: "wasm size", action: |_| wasm::check_size() },
];

const LINT: &[&str] = &["format", "clippy", "layers", "generated code"];

#[derive(Clone)]
struct Report {
    name: &'static str,
    time: Duration,
    outcome: Outcome,
    /// What the output of a failed step says of it, for the end of the whole output.
    failures: Vec<String>,
}

fn run_step(step: &Step) -> Report {
    println!("{}", step.name);
    let start = Instant::now();
    let outcome = (step.action)(false);
    report(step.name, start.elapsed(), outcome, "")
}

/// Runs a step in a process of its own and prints its output at the end.
fn run_apart(step: &Step, is_long: bool) -> Report {
    let start = Instant::now();
    let log = target().join("xtask/steps").join(format!("{}.log", step.name.replace(' ', "-")));
    let outcome = in_process(step.name, is_long, &log);
    let output = fs::read(&log).unwrap_or_default();
    let output = String::from_utf8_lossy(&output);
    let time = start.elapsed();
    print!("{}\n{output}", step.name);
    report(step.name, time, outcome, &output)
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

fn report(name: &'static str, time: Duration, outcome: Outcome, output: &str) -> Report {
    match &outcome {
        Ok(()) => println!("{name}: passed in {}", seconds(time)),
        Err(message) => println!("{name}: FAILED in {}: {message}", seconds(time)),
    }
    let is_failed = outcome.is_err();
    let failures = shell::failures(output.lines().filter(|_| is_failed));
    Report { name, time, outcome, failures: failures.map(|line| line.trim().into()).collect() }
}

/// Prints what failed and a line for each step, and ends the program if a step failed.
fn summary(reports: &[Report]) -> Outcome {
    println!();
    for report in reports.iter().filter(|report| !report.failures.is_empty()) {
        println!("{} FAILED:\n    {}\n", report.name, report.failures.join("\n    "));
    }
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

/// Lints all crates; in a long run the rivals of the benchmarks too, which bring some hundred crates.
fn clippy(is_long: bool) -> Outcome {
    let measured = if is_long {
        "wardgate-host-bench/rivals"
    } else {
        "wardgate-host-bench/decision-log,wardgate-host-bench/mqtt,wardgate-host-bench/ratelimit"
    };
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--features", measured, "--", "-D", "warnings"];
    shell::logged("clippy", &mut cargo(arguments))
}

fn cargo_test() -> Outcome {
    // `wasmtime-host` tests the modules for other hosts.
    hosts::build()?;
    shell::logged("cargo test", &mut cargo(["test", "--workspace", "--no-fail-fast"]))?;
    // The part that the package is built without, with the libraries of the other tests.
    let mut signing = cargo(["test", "--workspace", "--lib", "--features", "wardgate-wasm/sign"]);
    shell::logged("cargo test of signing", signing.arg("signing::tests"))
}

/// Checks that the native compiler and that of the package write the same bytes, and report the
/// same faults.
fn compiler_parity() -> Outcome {
    npm::build()?;
    shell::shown(&mut shell::program("compiler-parity")?)
}
