//! The command `wardgate`: compiles, lints and formats policies, decides requests, explains and
//! measures decisions, runs policy tests, inspects bundles, and protects them: keys, signatures,
//! seals, deltas.
//!
//! It owns arguments, files, colours, exit codes and the JSON shape of requests and answers, and no
//! rule of its own: policies pass through the bundle, also those of a directory.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "host"),
    allow(
        dead_code,
        unused_imports,
        reason = "what the commands of the host use stays beside what all use"
    )
)]

mod analyze;
mod answer;
mod arguments;
#[cfg(feature = "host")]
mod bench;
mod check;
mod clock;
mod compare;
mod compile;
mod completions;
mod delta;
mod diff;
mod eval;
mod explain;
mod failure;
mod fmt;
mod globals;
mod grants;
#[cfg(feature = "host")]
mod healthcheck;
mod help;
mod init;
mod inspect;
mod json;
mod keys;
mod label;
mod limits;
mod lint;
#[cfg(feature = "host")]
mod log;
#[cfg(feature = "host")]
mod node;
mod opening;
mod output;
mod overwriting;
mod pages;
mod policies;
mod repl;
mod replace;
#[cfg(feature = "host")]
mod replay;
mod request;
mod requests;
mod rules;
mod sarif;
mod seal;
#[cfg(feature = "host")]
mod serve;
mod sign;
mod similar;
mod test;
mod types;
mod verify;

#[cfg(feature = "host")]
use std::alloc::System;
use std::io::{self, Write};
use std::process::ExitCode;

#[cfg(feature = "host")]
use alloc_tracker::Allocator;
use clap::FromArgMatches;
use wardgate_compiler::diagnostics::Diagnostic;

use arguments::{Arguments, Command};
use failure::{Failure, Result, Status};
use output::{Output, complain, counted};

/// The allocator of the system; each thread counts its allocations, which `wardgate bench` reports.
#[cfg(feature = "host")]
#[global_allocator]
static ALLOCATOR: Allocator<System> = Allocator::system();

fn main() -> ExitCode {
    #[cfg(target_os = "wasi")]
    enter_directory();
    let arguments = arguments::command().try_get_matches();
    let arguments = arguments.and_then(|found| Arguments::from_arg_matches(&found));
    let command = match arguments {
        Ok(arguments) => arguments.command,
        Err(answer) => return answered(&help::with_nearest(answer)).into(),
    };
    let mut out = Output::new();
    let ended = run(&command, &mut out).and_then(|status| out.flush().map(|()| status));
    let status = ended.or_else(|failure| report(failure, &mut out, command.json()));
    // A failure that cannot be reported is a failed write, or a reader that has gone.
    status.or_else(|failure| report(failure, &mut out, false)).unwrap_or(Status::Done).into()
}

/// Enters the directory that the host names: WASI begins at the root.
#[cfg(target_os = "wasi")]
fn enter_directory() {
    if let Some(directory) = std::env::var_os("PWD") {
        // Paths are then relative to the root, and the command says what it does not find.
        let _ = std::env::set_current_dir(directory);
    }
}

/// Prints help, the version, or how the command was called wrongly, and returns how it ends.
fn answered(answer: &clap::Error) -> Status {
    let status = if answer.use_stderr() { Status::BadUsage } else { Status::Done };
    match answer.print().and_then(|()| io::stdout().flush()) {
        Err(error) if !answer.use_stderr() => {
            report(Failure::output(&error), &mut Output::new(), false)
                .unwrap_or(Status::BadInputOutput)
        }
        _ => status,
    }
}

fn run(command: &Command, out: &mut Output) -> Result<Status> {
    match command {
        Command::Init(init) => init::run(init, out),
        Command::Compile(compile) => compile::run(compile, out),
        Command::Lint(lint) => lint::run(lint, out),
        Command::Compare(compare) => compare::run(compare, out),
        Command::Similar(similar) => similar::run(similar, out),
        Command::Analyze(analyze) => analyze::run(analyze, out),
        Command::Check(check) => check::run(check, out),
        Command::Explain(explain) => explain::run(explain, out),
        Command::Eval(eval) => eval::run(eval, out),
        Command::Repl(repl) => repl::run(repl, out),
        Command::Completions(completions) => completions::run(completions, out),
        Command::Help(help) => help::run(help, out),
        Command::Grants(grants) => grants::run(grants, out),
        Command::Inspect(inspect) => inspect::run(inspect, out),
        Command::Test(test) => test::run(test, out),
        #[cfg(feature = "host")]
        Command::Bench(bench) => bench::run(bench, out),
        Command::Keys(keys) => keys::run(keys, out),
        Command::Sign(sign) => sign::run(sign, out),
        Command::Verify(verify) => verify::run(verify, out),
        Command::Seal(seal) => seal::seal(seal, out),
        Command::Unseal(unseal) => seal::unseal(unseal, out),
        Command::Delta(delta) => delta::run(delta, out),
        Command::Fmt(fmt) => fmt::run(fmt, out),
        Command::Types(types) => types::run(types, out),
        #[cfg(feature = "host")]
        Command::Replay(replay) => replay::run(replay, out),
        #[cfg(feature = "host")]
        Command::Log(log) => log::run(log, out),
        #[cfg(feature = "host")]
        Command::Serve(serve) => serve::run(serve, out),
        #[cfg(feature = "host")]
        Command::Healthcheck(check) => healthcheck::run(check, out),
        #[cfg(not(feature = "host"))]
        Command::Bench(_) => Err(needs_host("bench")),
        #[cfg(not(feature = "host"))]
        Command::Replay(_) => Err(needs_host("replay")),
        #[cfg(not(feature = "host"))]
        Command::Log(_) => Err(needs_host("log")),
        #[cfg(not(feature = "host"))]
        Command::Serve(_) => Err(needs_host("serve")),
        #[cfg(not(feature = "host"))]
        Command::Healthcheck(_) => Err(needs_host("healthcheck")),
    }
}

/// Returns the failure of a command that WebAssembly has no sockets, threads or programs for.
#[cfg(not(feature = "host"))]
fn needs_host(command: &str) -> Failure {
    Failure::usage(arguments::needs_host(command))
}

/// Reports a failure and returns the exit code of the command.
fn report(failure: Failure, out: &mut Output, json: bool) -> Result<Status> {
    match failure {
        Failure::ReaderGone => Ok(Status::Done),
        Failure::Message(status, message) => {
            // Answers given before come before the complaint, if they can be written at all.
            let _ = out.flush();
            complain(format_args!("wardgate: {message}"));
            Ok(status)
        }
        Failure::Diagnostics(diagnostics) => {
            if json {
                out.line(compile::diagnostics_json(&diagnostics))?;
                out.flush()?;
            } else {
                complain_each(&diagnostics);
            }
            Ok(Status::BadPolicies)
        }
    }
}

fn complain_each(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        complain(pages::explained(diagnostic));
    }
    let errors = counted(diagnostics.len(), "error", "errors");
    complain(format_args!("wardgate: {errors}"));
}
