//! Measures decisions and cryptography natively and in Node, beside hand-written code and rivals.
//!
//! Every row answers every request correctly before it is timed, and again in each pass that is
//! timed. Nothing here is a test: no figure makes a run fail.
#![forbid(unsafe_code)]

pub mod hot;

mod accessors;
mod arguments;
mod asked;
mod chart;
mod compare;
mod compile;
mod corpus;
#[cfg(feature = "rivals")]
mod crypto;
#[cfg(feature = "decision-log")]
mod decision_log;
#[cfg(feature = "shop")]
mod end_to_end;
#[cfg(any(feature = "mqtt", feature = "ratelimit"))]
mod entry;
mod files;
mod hospital;
#[cfg(feature = "hosts")]
mod hosts;
mod http;
mod machine;
mod measure;
#[cfg(feature = "mqtt")]
pub mod mqtt;
mod node;
#[cfg_attr(not(feature = "rivals"), allow(dead_code, reason = "only Cedar reads the graph itself"))]
mod oopsla;
mod opa;
mod program;
#[cfg(feature = "ratelimit")]
pub mod ratelimit;
#[cfg(any(feature = "mqtt", feature = "ratelimit"))]
mod ratios;
mod report;
mod request;
mod rest;
mod results;
mod rivals;
mod rows;
mod run;
mod signed;
mod similar;
pub mod spocp;
mod tenants;
mod workload;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::Arguments;
use machine::Machine;
use report::{Ratio, Report, Section};

pub use measure::Row;

/// Runs the command line of this process.
#[must_use]
pub fn bench() -> ExitCode {
    let mut words = std::env::args().skip(1);
    exit_code(match (words.next().as_deref(), words.next()) {
        (Some(compile::CHILD), Some(folder)) => compile::child(Path::new(&folder)),
        #[cfg(feature = "shop")]
        (Some(end_to_end::CHILD), Some(job)) => end_to_end::child(Path::new(&job)),
        _ => Arguments::read(std::env::args().skip(1)).and_then(|arguments| run(&arguments)),
    })
}

/// Prints the error of a program of this package, if there is one, and returns its exit code.
#[must_use]
pub fn exit_code(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let results = arguments.results.clone().unwrap_or_else(|| root().join("target/bench"));
    if let Some(file) = &arguments.submitted {
        let rows = results::checked(file)?;
        println!("{}: {} rows are sound", file.display(), rows.len());
        return Ok(());
    }
    if let Some(folder) = &arguments.site {
        let rows = results::site(&results, folder)?;
        println!("wrote {} with {rows} rows", folder.join("index.html").display());
        return Ok(());
    }
    if cfg!(debug_assertions) {
        return Err("figures of an unoptimised build mean nothing: run with --release".to_owned());
    }
    if arguments.memory {
        // `wardgate-host-memory` counts natively.
        println!("{}", run::memory(&root(), arguments)?);
        return Ok(());
    }
    let sections = run::sections(&root(), arguments)?;
    let machine = Machine::describe(&root(), versions(arguments))?;
    let ratios = promised(&sections);
    let report = Report { machine, sections, ratios };
    if arguments.json {
        println!("{}", report.json());
    } else if arguments.is_complete() {
        let folder = root().join("host-bench");
        files::save(&folder.join("RESULTS.md"), report.markdown())?;
        draw(&report, &folder.join("charts"))?;
        println!("wrote host-bench/RESULTS.md and {} charts", report.sections.len());
    } else {
        print!("{}", report.markdown());
    }
    arguments.charts.as_ref().map_or(Ok(()), |folder| draw(&report, folder))?;
    let rows = results::write(&results, &report)?;
    eprintln!("wrote {} with {rows} rows", results.join("results.json").display());
    Ok(())
}

/// Returns the ratios that are promised and were measured.
#[cfg(any(feature = "mqtt", feature = "ratelimit"))]
fn promised(sections: &[Section]) -> Vec<Ratio> {
    let promises = core::iter::empty();
    #[cfg(feature = "mqtt")]
    let promises = promises.chain(mqtt::PROMISES);
    #[cfg(feature = "ratelimit")]
    let promises = promises.chain(ratelimit::PROMISES);
    #[cfg(feature = "rivals")]
    let promises = promises.chain(crypto::PROMISES);
    ratios::of(promises, sections)
}

#[cfg(not(any(feature = "mqtt", feature = "ratelimit")))]
const fn promised(_: &[Section]) -> Vec<Ratio> {
    Vec::new()
}

/// Draws a chart for each section.
fn draw(report: &Report, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| files::cannot(folder, &error))?;
    for section in &report.sections {
        files::save(&folder.join(format!("{}.svg", section.name)), chart::svg(section))?;
    }
    Ok(())
}

/// Returns the versions of the rivals: those in Node are pinned beside them, the native ones stand
/// in their rows.
fn versions(arguments: &Arguments) -> String {
    let pinned = fs::read_to_string(root().join("host-bench/node/package.json"));
    let pinned: serde_json::Value =
        pinned.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let dependencies = pinned.get("dependencies").and_then(serde_json::Value::as_object);
    let version = |(name, version): (&String, &serde_json::Value)| {
        format!("{name} {}", version.as_str().unwrap_or("unknown"))
    };
    let mut versions: Vec<String> =
        dependencies.into_iter().flatten().map(version).chain(native_versions()).collect();
    if let Some(opa) = &arguments.opa {
        let text = program::version_of(opa, &["version"]);
        versions.push(format!("opa {}", text.trim_start_matches("Version: ")));
    }
    if let Some(cerbos) = &arguments.cerbos {
        let text = program::text_of(cerbos, &["--version"]);
        let version = text.lines().find_map(|line| line.strip_prefix("Module version: v"));
        let version = version.and_then(|rest| rest.split(',').next()).unwrap_or("unknown");
        versions.push(format!("cerbos {version}"));
    }
    versions.join(", ")
}

fn native_versions() -> Vec<String> {
    let mut versions: Vec<&str> = Vec::new();
    if cfg!(feature = "rivals") {
        versions.extend(["cedar-policy 4.14.1", "regorus 0.14.1", "casbin (Rust) 2.20.0"]);
    }
    if cfg!(feature = "shop") {
        versions.extend(["axum 0.8.9", "rusqlite 0.43.0"]);
    }
    #[cfg(feature = "mqtt")]
    versions.extend(mqtt::VERSIONS);
    #[cfg(feature = "ratelimit")]
    versions.push(ratelimit::GOVERNOR);
    let versions = versions.into_iter().map(str::to_owned);
    #[cfg(feature = "rivals")]
    let versions = versions.chain(crypto::versions());
    versions.collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
