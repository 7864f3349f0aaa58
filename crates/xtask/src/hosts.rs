//! The modules for hosts other than JavaScript, and the hosts that test them.
//!
//! Three files in `target/hosts`: the plain module with vectors and without, and the component. A
//! build is skipped if none of its inputs has changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::setup::{self, WASM_TARGET};
use crate::shell::{self, Outcome, cargo, command, root, target};
use crate::{languages, wasm};

/// Builds the modules, unless they are up to date.
pub(crate) fn build() -> Outcome {
    setup::wasm_target()?;
    let stamp = folder().join(".inputs");
    let own = ["crates/xtask/src/hosts.rs", "crates/component/wit/wardgate-pdp.wit"];
    let inputs = wasm::digest_of_inputs(&own.map(|file| root().join(file)))?;
    if fs::read_to_string(&stamp).is_ok_and(|built| built == inputs) {
        return Ok(());
    }
    println!("  building the modules for other hosts");
    let start = Instant::now();
    module("wardgate_abi.wasm", "+simd128", &[])?;
    module("wardgate_abi_nosimd.wasm", "-simd128", &[])?;
    module(CARRIER, "+simd128", &["--features", "component"])?;
    encode()?;
    println!("  built the modules for other hosts in {}", shell::seconds(start.elapsed()));
    shell::write(&stamp, inputs)
}

/// Tests the modules in wasmtime, from Rust and Python, and in wazero, from Go, and files of decision logs in Go.
pub(crate) fn test() -> Outcome {
    build()?;
    questions()?;
    in_rust()?;
    in_python()?;
    in_go()?;
    logs_in_go()
}

fn in_rust() -> Outcome {
    let lint = ["clippy", "--package", "wardgate-component", "--features", "component"];
    let mut lint = cargo(lint);
    lint.args(["--target", WASM_TARGET, "--", "-D", "warnings"]);
    shell::logged("clippy of the component", &mut lint)?;
    for code in ["wardgate_abi.wasm", "wardgate.component.wasm"] {
        let mut example = shell::example("cases")?;
        shell::shown(example.arg(folder().join(code)).arg(folder().join(QUESTIONS)))?;
    }
    Ok(())
}

/// Writes the questions for the hosts: the cases, as signed bundles.
fn questions() -> Outcome {
    shell::shown(shell::program("hosts")?.arg(folder()))
}

fn in_python() -> Outcome {
    let python = languages::python()?;
    let component = folder().join("wardgate.component.wasm");
    let program = |name: &str| {
        let mut python = command(&python);
        // `-B` avoids the folder of compiled files among the sources.
        python.arg("-B").arg(root().join("tests/hosts/python").join(name)).arg(&component);
        python
    };
    shell::shown(program("try.py").arg(folder().join(QUESTIONS)))?;
    let files = ["album.bundle", "release.pub.jwk"].map(|name| folder().join(name));
    let printed = shell::captured(program("album.py").args(files))?;
    if printed == "ada True\nbob False\n" {
        return Ok(());
    }
    Err(format!("the program for Python printed `{}`", printed.trim()))
}

fn in_go() -> Outcome {
    let go = languages::go()?;
    let host = folder().join("go-host");
    let within = |arguments: &[&str]| {
        let mut go = command(&go);
        go.args(arguments).current_dir(root().join("tests/hosts/go"));
        go.env("GOFLAGS", "-mod=readonly").env("WARDGATE_HOSTS", folder());
        go
    };
    shell::logged("go build", within(&["build", "-o"]).arg(&host).arg("."))?;
    shell::logged("go test", &mut within(&["test", "-count=1", "."]))?;
    for module in ["wardgate_abi.wasm", "wardgate_abi_nosimd.wasm"] {
        let mut host = command(&host);
        shell::shown(host.arg(folder().join(module)).arg(folder().join(QUESTIONS)))?;
    }
    Ok(())
}

/// Verifies the files of a decision log with an implementation of others.
fn logs_in_go() -> Outcome {
    let mut go = command(&languages::go()?);
    go.args(["test", "-count=1", "."]).env("GOFLAGS", "-mod=readonly");
    go.current_dir(root().join("tests/decision-log/go"));
    shell::logged("go test of decision logs", &mut go)
}

/// Returns the folder of the modules.
pub(crate) fn folder() -> PathBuf {
    target().join("hosts")
}

/// Builds one module into the folder.
fn module(name: &str, vectors: &str, features: &[&str]) -> Outcome {
    let build = ["build", "--package", "wardgate-component", "--profile", "component"];
    let mut cargo = cargo(build);
    cargo.args(["--target", WASM_TARGET]).args(features);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", wasm::flags(vectors));
    shell::logged(name, &mut cargo)?;
    let built = target().join(WASM_TARGET).join("component/wardgate_component.wasm");
    copied(&built, &folder().join(name))
}

fn encode() -> Outcome {
    let program = ["run", "--quiet", "--package", "xtask", "--features", "component"];
    let mut encode: Command = cargo(program);
    encode.args(["--bin", "encode-component", "--"]);
    encode.arg(folder().join(CARRIER)).arg(folder().join("wardgate.component.wasm"));
    shell::logged("encoding the component", &mut encode)
}

fn copied(from: &Path, to: &Path) -> Outcome {
    let bytes =
        fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    shell::write(to, bytes)
}

/// The file of the questions for the hosts.
const QUESTIONS: &str = "questions.jsonl";

/// The module from which the component is made.
const CARRIER: &str = "carrier.wasm";
