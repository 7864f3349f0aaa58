//! `cargo xtask`: sets the machine up, builds the WebAssembly, and runs every check.
//!
//! It installs everything into the project's own folders, and no step runs twice for the same
//! input. It is a tool for people who work on the project, and is not shipped.
#![forbid(unsafe_code)]

mod bench;
mod bundlers;
mod conformance;
mod edge;
mod fuzz;
mod generate;
mod hosts;
mod instructions;
mod languages;
mod layers;
mod metadata;
mod npm;
mod npm_command;
mod parity;
mod policy_tests;
mod react;
mod readme;
mod release;
mod setup;
mod shell;
mod site;
mod spocp;
mod suite;
mod system;
mod vectors;
mod wasm;

use std::process::ExitCode;

use shell::Outcome;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h")
        || rest.iter().any(|argument| argument == "--help" || argument == "-h")
    {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match dispatch(name, rest) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("error: unknown command `{name}`; `cargo xtask --help` lists them");
            ExitCode::from(2)
        }
    }
}

/// Runs one command; returns `None` if the name is unknown.
fn dispatch(name: &str, rest: &[String]) -> Option<Outcome> {
    Some(match name {
        "setup" => without_arguments(rest, setup::everything),
        "build-wasm" => without_arguments(rest, wasm::build),
        "build-hosts" => without_arguments(rest, hosts::build),
        "hosts" => without_arguments(rest, hosts::test),
        "demo" => demo(rest),
        "test" => suite::run(rest),
        "step" => suite::step(rest),
        "mosquitto" => without_arguments(rest, system::mosquitto),
        "redis" => without_arguments(rest, || {
            npm::build()?;
            npm::make_fixtures()?;
            system::redis()
        }),
        "generate" => generate::run(rest),
        "layers" => without_arguments(rest, layers::check),
        "vectors" => without_arguments(rest, vectors::check),
        "spocp" => without_arguments(rest, spocp::in_wasm),
        "parity" => parity::run(rest),
        "pages" => without_arguments(rest, readme::check),
        "bundlers" => without_arguments(rest, bundlers::check),
        "react" => react::run(rest),
        "edge-worker" => without_arguments(rest, edge::check),
        "conformance" => conformance::run(rest),
        "bench" => bench::run(rest),
        "instructions" => instructions::run(rest),
        "fuzz-smoke" => without_arguments(rest, || fuzz::smoke(true)),
        "lint" => without_arguments(rest, suite::lint),
        "build-command" => without_arguments(rest, npm_command::build),
        "site" => site::run(rest),
        "release" => release::run(rest),
        _ => return None,
    })
}

fn without_arguments(rest: &[String], command: fn() -> Outcome) -> Outcome {
    match rest.first() {
        None => command(),
        Some(extra) => Err(format!("this command takes no argument, found `{extra}`")),
    }
}

/// Builds the package's entry and the native half of the demonstration side by side, and runs it.
fn demo(rest: &[String]) -> Outcome {
    // It shows times, so it runs as a release would; the tests share none of this build.
    let demo = |command: &str| {
        let mut cargo =
            shell::cargo([command, "--quiet", "--profile", "demo", "--no-default-features"]);
        cargo.args(["--features", "policies", "--package", "wardgate-tests", "--bin", "demo"]);
        cargo
    };
    let package = std::thread::scope(|scope| {
        // Optimising a module uses one processor.
        let package = scope.spawn(npm::build_entry);
        let native = shell::logged("building the demonstration", &mut demo("build"));
        package.join().map(|package| package.and(native))
    });
    package.map_err(|_| "building the package panicked")??;
    shell::shown(demo("run").arg("--").args(rest))
}

const HELP: &str = "\
cargo xtask <command>

  setup         install what the other commands need, inside the project
  build-wasm    build the runtime WebAssembly into npm/wasm
  build-command build the command of the npm package into npm/bin
  site          build the documents as a static site into target/site, and check all links and pages
                  --rustdoc       with the reference of the crates
  build-hosts   build the module and the component for other hosts into target/hosts
  hosts         try them in wasmtime, from Rust and Python, and in wazero, from Go
  demo          compile a policy set and decide it natively and in Node
  test          run the whole suite; the last line is the number of steps that passed
                  --long          generate as many requests as the single steps do
  lint          formatting, clippy, the arrows between crates and generated code
  layers        check the arrows between crates and where `unsafe` may occur
  generate      write the hot loops of the npm package from their templates
                  --check         only look whether they are current
  vectors       the suite of vector operations with each set of instructions, and in Node
  spocp         the tests of rules of SPOCP as WebAssembly, in Node
  mosquitto     test the plugin in Debian's mosquitto
  redis         test the script and the store of rate limits in Debian's redis-server
  pages         run the programs of the README, of pages about runtimes and of the examples
  bundlers      build an app with each bundler and run it
  react         open apps of Vite, Next and React Router in Chromium, and print how fast they are
  edge-worker   test the edge worker inside workerd and over HTTP
  conformance   run the public corpora
                  --corpora DIR   where they are (default ../shared/corpora)
                  --suite NAME    only this suite
                  --write         write docs/CONFORMANCE.md anew
  parity        ask every runtime the same questions, and print what they came to
                  --only NAME     only this runtime, such as `deno` (may be repeated)
                  --requests N    how many requests are generated (default 20000)
                  --replays N     how many recorded decisions are made again (default 20000)
                  --seed S        generate others
  bench         measure decisions and cryptography natively and in Node, beside rivals
                  --quick           a look, without replacing the figures kept in the project
                  --only SECTION    only this workload, or `crypto` (may be repeated)
                  --native, --node  leave the other host out
                  --memory          what ten million checks in Node leave behind
                  --json            for programs
  instructions  count the instructions of a decision; fails 5 % above the table
                  --write           write the table anew
  fuzz-smoke    a short fuzz of every reader of untrusted input
  release       build, check and publish a version (docs/releasing.md)
                  --dry-run       print what would be published, and publish nothing
                  --only STEP     only this step of a dry run, such as `crates` (may be repeated)
                  --quick         in a dry run, build programs without optimisation
                  --tag NAME      refuse to publish unless the version has this tag
                  --cut           make the version of what is new in docs/CHANGELOG.md

It needs rustup, Node 20 or later and npm, and installs the rest itself.
Exit codes: 0 done, 1 a check or a step failed, 2 unknown command.
";
