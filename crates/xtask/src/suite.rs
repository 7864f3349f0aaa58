//! The whole suite, one step after the other.
//!
//! A failing step does not stop the next: one run shows every fault. The last line contains only
//! the number of steps that passed.

use std::time::{Duration, Instant};

use crate::shell::{self, Outcome, cargo, seconds};
use crate::{
    bundlers, conformance, edge, fuzz, generate, hosts, instructions, layers, npm, parity,
    policy_tests, readme, setup, spocp, vectors, wasm,
};

/// Runs every step and prints a summary.
pub(crate) fn run() -> Outcome {
    run_steps(&[
        Step("set-up", setup::everything),
        Step("format", format),
        Step("clippy", clippy),
        Step("layers", layers::check),
        Step("generated code", generate::check),
        Step("cargo test", cargo_test),
        Step("vectors", vectors::check),
        Step("SPOCP in wasm", spocp::in_wasm),
        Step("build wasm", wasm::build),
        Step("wasm size", wasm::check_size),
        Step("npm types", npm::check_types),
        Step("npm test", npm::test),
        Step("parity in Node", parity::in_node),
        Step("parity", || parity::run(&[])),
        Step("compiler parity", compiler_parity),
        Step("policy tests", policy_tests::compare),
        Step("hosts", hosts::test),
        Step("pages", readme::check),
        Step("bundlers", bundlers::check),
        Step("edge worker", edge::check),
        Step("conformance", || conformance::run(&[])),
        Step("instructions", || instructions::run(&[])),
        Step("fuzz smoke", fuzz::smoke),
    ])
}

/// Runs the steps that only read the sources.
pub(crate) fn lint() -> Outcome {
    run_steps(&[
        Step("format", format),
        Step("clippy", clippy),
        Step("layers", layers::check),
        Step("generated code", generate::check),
    ])
}

struct Step(&'static str, fn() -> Outcome);

struct Report {
    name: &'static str,
    time: Duration,
    outcome: Outcome,
}

fn run_steps(steps: &[Step]) -> Outcome {
    let reports: Vec<Report> =
        steps.iter().enumerate().map(|(at, step)| run_step(step, at, steps.len())).collect();
    println!();
    for report in &reports {
        let word = if report.outcome.is_ok() { "passed" } else { "FAILED" };
        println!("{:<16} {word} {:>10}", report.name, seconds(report.time));
    }
    let failed = reports.iter().filter(|report| report.outcome.is_err()).count();
    println!("\n{} passed, {failed} failed", reports.len() - failed);
    // The summary is complete, and its last line must be the last of the output.
    if failed == 0 { Ok(()) } else { std::process::exit(1) }
}

fn run_step(step: &Step, at: usize, all: usize) -> Report {
    let Step(name, action) = step;
    println!("[{}/{all}] {name}", at + 1);
    let start = Instant::now();
    let outcome = action();
    let time = start.elapsed();
    match &outcome {
        Ok(()) => println!("[{}/{all}] {name}: passed in {}", at + 1, seconds(time)),
        Err(message) => {
            println!("[{}/{all}] {name}: FAILED in {}: {message}", at + 1, seconds(time))
        }
    }
    Report { name, time, outcome }
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
