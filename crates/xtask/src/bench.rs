//! Measures decisions beside those of competitors.
//!
//! No other command measures: a time on a shared machine must not make a check fail. A competitor
//! that cannot be installed is left out, and the output reports it.

mod cerbos;
mod modules;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::shell::{self, Outcome, command, target};
use crate::{hosts, npm, setup};

/// Builds the package, installs the competitors, and measures.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    if arguments.iter().any(|argument| ["--site", "--submit"].contains(&argument.as_str())) {
        return read_results(arguments);
    }
    let only = only(arguments);
    let features = match only.as_slice() {
        [HOSTS] => HOSTS.to_owned(),
        [COMPILE] | [CORPUS] | [REST] | [SIMILAR] | [HOSPITAL] | [TENANTS] | [COMPARE] => {
            String::new()
        }
        [END_TO_END] => SHOP.to_owned(),
        [MQTT] => MQTT.to_owned(),
        [RATELIMIT] => RATELIMIT.to_owned(),
        [DECISION_LOG] => DECISION_LOG.to_owned(),
        only => features(only),
    };
    let features = features.as_str();
    let mut measure = shell::cargo(["run", "--quiet", "--release"]);
    measure.args(["--package", "wardgate-host-bench", "--bin", "wardgate-host-bench"]);
    measure.args(["--features", features, "--"]).args(arguments);
    if only.is_empty() || only.contains(&HOSTS) {
        hosts::build()?;
        measure.arg("--hosts").arg(hosts::folder());
    }
    let wants =
        |sections: &[&str]| only.is_empty() || only.iter().any(|one| sections.contains(one));
    if wants(&[REST, TENANTS, END_TO_END]) {
        let mut build = shell::cargo(["build", "--release", "--package", "wardgate-cli"]);
        shell::logged("building the server", &mut build)?;
        measure.arg("--server").arg(target().join("release").join("wardgate"));
    }
    if wants(&[COMPILE, REST, TENANTS, END_TO_END]) {
        match cerbos::build() {
            Ok(program) => drop(measure.arg("--cerbos").arg(program)),
            Err(message) => println!("    cerbos is left out: {message}"),
        }
    }
    if wants(&[MQTT, RATELIMIT]) {
        measure.arg("--counter").arg(counter(features)?);
    }
    let needs_no_node =
        !only.is_empty() && only.iter().all(|section| WITHOUT_NODE.contains(section));
    let has_node = !arguments.iter().any(|argument| argument == "--native") && !needs_no_node;
    if has_node && only == [CORPUS] {
        npm::build_entry()?;
    } else if has_node {
        setup::npm_ci("host-bench/node")?;
        if only.is_empty() || only.iter().any(|section| !WITHOUT_DECIDERS.contains(section)) {
            deciders(&mut measure)?;
        }
        if only.contains(&MQTT) || only.contains(&END_TO_END) {
            npm::build()?;
        }
        if wants(&[CRYPTO]) {
            measure.arg("--modules").arg(modules::build()?);
        }
    }
    let asks_opa = has_node && measure.get_args().any(|argument| argument == "--cli");
    if asks_opa || wants(&[REST, TENANTS]) {
        match opa() {
            Ok(program) => drop(measure.arg("--opa").arg(program)),
            Err(message) => println!("    opa is left out: {message}"),
        }
    }
    // Compiled separately, so that a long build shows its progress.
    let mut build = shell::cargo(["build", "--release", "--features", features]);
    build.args(["--package", "wardgate-host-bench", "--bin", "wardgate-host-bench"]);
    shell::logged("building the benchmark", &mut build)?;
    shell::shown(&mut measure)
}

/// Checks or shows results that were measured before, which needs no competitor.
fn read_results(arguments: &[String]) -> Outcome {
    let mut read = shell::cargo(["run", "--quiet", "--package", "wardgate-host-bench"]);
    read.args(["--bin", "wardgate-host-bench", "--"]).args(arguments);
    shell::shown(&mut read)
}

/// Builds the program that counts allocations, and returns its path.
fn counter(features: &str) -> Outcome<PathBuf> {
    let mut build = shell::cargo(["build", "--release", "--features", features]);
    build.args(["--package", "wardgate-host-bench", "--bin", COUNTER]);
    shell::logged("building the counter of allocations", &mut build)?;
    Ok(target().join("release").join(COUNTER))
}

/// Returns the features of the build. OpenSSL is that of the system, so it takes part only if a
/// program can be built with it.
fn features(only: &[&str]) -> String {
    let found = ["--atleast-version=3.0", "openssl"];
    let found = command("pkg-config").args(found).status().is_ok_and(|status| status.success());
    if !found {
        println!("    openssl is left out: its headers or pkg-config are not installed");
    }
    let openssl = if found { ",openssl" } else { "" };
    let hosts = if only.is_empty() || only.contains(&HOSTS) { ",hosts" } else { "" };
    format!("rivals{openssl}{hosts}")
}

/// Returns the selected sections; none selects all.
fn only(arguments: &[String]) -> Vec<&str> {
    let pairs =
        arguments.windows(2).filter(|pair| pair.first().is_some_and(|word| word == "--only"));
    pairs.filter_map(|pair| pair.get(1)).map(String::as_str).collect()
}

/// Builds the programs and packages that the sections about decisions in Node need, and passes
/// their paths to `measure`.
fn deciders(measure: &mut Command) -> Outcome {
    npm::build()?;
    measure.arg("--cli").arg(shell::program("wardgate")?.get_program());
    Ok(())
}

/// Builds the `opa` program below the target folder, unless it exists, and returns its path.
fn opa() -> Outcome<PathBuf> {
    let folder = target().join("opa");
    let (program, stamp) = (folder.join("opa"), folder.join(".version"));
    if program.exists() && fs::read_to_string(&stamp).is_ok_and(|built| built == OPA) {
        return Ok(program);
    }
    needs_go()?;
    println!("    building {OPA}, which takes some minutes once");
    shell::attempt("opa", command("go").args(["install", OPA]).env("GOBIN", &folder))?;
    shell::write(&stamp, OPA)?;
    Ok(program)
}

fn needs_go() -> Outcome {
    let mut version = command("go");
    version.arg("version");
    let found = shell::captured(&mut version).map(drop);
    found.map_err(|_| "Go is not installed to build it".to_owned())
}

/// The section about compiling, which needs one competitor and no Node.
const COMPILE: &str = "compile";

/// The section about real policies, which needs the package and no competitor.
const CORPUS: &str = "corpus";

/// The section about cryptography, which needs modules of its own and none of the others.
const CRYPTO: &str = "crypto";

/// The section about other hosts of WebAssembly, which needs neither Node nor competitors.
const HOSTS: &str = "hosts";

/// The section about MQTT, which needs few competitors, and the package in Node.
const MQTT: &str = "mqtt";

/// The section about rate limits, which needs one competitor, redis-server and no Node.
const RATELIMIT: &str = "ratelimit";
const DECISION_LOG: &str = "decision-log";

/// The section about a shop, and the feature that brings it.
const END_TO_END: &str = "end-to-end";
const SHOP: &str = "shop";

/// The sections in Node that need neither the command nor OPA.
const WITHOUT_DECIDERS: &[&str] = &[CRYPTO, DECISION_LOG, MQTT, RATELIMIT, END_TO_END];

/// The sections about policies alone, which need neither Node nor competitors.
const REST: &str = "rest";
const SIMILAR: &str = "similar";
const HOSPITAL: &str = "hospital";
const TENANTS: &str = "tenants";
const COMPARE: &str = "compare";

/// The sections that need no Node.
const WITHOUT_NODE: &[&str] =
    &[HOSTS, COMPILE, DECISION_LOG, RATELIMIT, REST, SIMILAR, HOSPITAL, TENANTS, COMPARE];

/// The program that counts allocations.
const COUNTER: &str = "wardgate-host-memory";

/// An exact version, because a figure names it.
const OPA: &str = "github.com/open-policy-agent/opa@v1.22.0";
