//! The runtimes, and the command that starts each.
//!
//! A runtime without vectors is the same program with a flag that disables them: so the package
//! detects their absence by itself. Firefox and workerd have no such flag; they load the module
//! without vectors.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::{RUNTIMES_FOLDER, report};
use crate::shell::{self, Outcome, command, root};
use crate::{hosts, setup, wasm};

/// A runtime that answers the questions.
pub(super) struct Runtime {
    pub(super) name: &'static str,
    /// The expected use of vectors, for runtimes that report it.
    pub(super) vectors: Option<bool>,
    /// True if the runtime embeds decisions only.
    pub(super) lacks_crypto: bool,
    /// Returns the command to run; its arguments are the questions and the path of the report.
    start: fn() -> Outcome<Command>,
}

impl Runtime {
    /// Starts the runtime and returns its report.
    pub(super) fn ask(&self, folder: &Path) -> Outcome<Value> {
        let path = folder.join(format!("{}.json", self.name.replace(' ', "-")));
        if path.exists() {
            // An old report would pass for a new one.
            let cannot = |error| format!("cannot remove {}: {error}", path.display());
            std::fs::remove_file(&path).map_err(cannot)?;
        }
        let mut start = (self.start)()?;
        start.arg(folder.join("questions.jsonl")).arg(&path);
        shell::logged_within(LIMIT, &format!("parity in {}", self.name), &mut start)?;
        report(&path)
    }
}

/// All runtimes, in the order of how fast they fail.
pub(super) const RUNTIMES: &[Runtime] = &[
    Runtime::of("native", None, native),
    Runtime::of("native portable", None, portable),
    Runtime::embedded("wasmtime", || wasmtime("wardgate_abi.wasm")),
    Runtime::embedded("wasmtime without vectors", || wasmtime("wardgate_abi_nosimd.wasm")),
    Runtime::embedded("wasmtime component", || wasmtime("wardgate.component.wasm")),
    Runtime::of("node", Some(true), || Ok(node(&[]))),
    Runtime::of("node without vectors", Some(false), || Ok(node(&[NO_SSE4]))),
    Runtime::of("deno", Some(true), || Ok(deno(&[]))),
    Runtime::of("deno without vectors", Some(false), || {
        Ok(deno(&[&format!("--v8-flags={NO_SSE4}")]))
    }),
    Runtime::of("bun", Some(true), || Ok(bun())),
    Runtime::of("bun without vectors", Some(false), || {
        let mut bun = bun();
        bun.env("BUN_JSC_useWasmSIMD", "0");
        Ok(bun)
    }),
    Runtime::of("workerd", Some(true), || Ok(tested("workerd"))),
    Runtime::of("workerd without vectors", Some(false), || {
        let mut workerd = tested("workerd");
        workerd.arg("plain");
        Ok(workerd)
    }),
    Runtime::of("chromium", Some(true), || chromium(&[])),
    Runtime::of("chromium without vectors", Some(false), || {
        chromium(&[&format!("--js-flags={NO_SSE4}")])
    }),
    Runtime::of("firefox", Some(true), || firefox(&[])),
    Runtime::of("firefox without vectors", Some(false), || firefox(&["plain"])),
];

impl Runtime {
    const fn of(
        name: &'static str,
        vectors: Option<bool>,
        start: fn() -> Outcome<Command>,
    ) -> Self {
        Self { name, vectors, lacks_crypto: false, start }
    }

    /// Describes a host that decides, and has cryptography of its own.
    const fn embedded(name: &'static str, start: fn() -> Outcome<Command>) -> Self {
        Self { name, vectors: None, lacks_crypto: true, start }
    }
}

fn native() -> Outcome<Command> {
    let mut native = shell::program("runtimes")?;
    native.arg("native");
    Ok(native)
}

fn portable() -> Outcome<Command> {
    let mut portable = native()?;
    portable.env("WARDGATE_DENY", "avx512,avx2,sse2");
    Ok(portable)
}

fn wasmtime(code: &str) -> Outcome<Command> {
    let mut host = shell::example("parity")?;
    host.arg(hosts::folder().join(code)).arg(wasm::spocp());
    Ok(host)
}

fn node(flags: &[&str]) -> Command {
    let mut node = command("node");
    node.args(flags).arg(host("node.mjs"));
    node
}

fn deno(flags: &[&str]) -> Command {
    // The registry has a program for each platform; the lock file names that of continuous
    // integration.
    let ours = packages().join("@deno/linux-x64-glibc/deno");
    let mut deno = command(if ours.is_file() { ours } else { "deno".into() });
    // Deno fetches no code, and reads no configuration outside.
    deno.args(["run", "--no-remote", "--no-lock", "--allow-read", "--allow-write"]);
    deno.args(flags).arg(host("deno.mjs"));
    deno
}

fn bun() -> Command {
    let mut bun = command(packages().join(".bin/bun"));
    bun.arg(host("bun.mjs"));
    bun
}

fn chromium(flags: &[&str]) -> Outcome<Command> {
    let mut chromium = tested("chromium");
    chromium.arg(setup::browser("chromium")?).args(flags);
    Ok(chromium)
}

fn firefox(words: &[&str]) -> Outcome<Command> {
    let mut firefox = command("node");
    firefox.arg(host("firefox.mjs")).arg(setup::browser("firefox-esr")?).args(words);
    Ok(firefox)
}

/// Returns the command of a runtime that vitest starts.
fn tested(name: &str) -> Command {
    let mut node = command("node");
    node.arg(host("vitest.mjs")).arg(format!("{name}.config.mjs"));
    node
}

fn packages() -> PathBuf {
    root().join(RUNTIMES_FOLDER).join("node_modules")
}

fn host(file: &str) -> PathBuf {
    root().join(RUNTIMES_FOLDER).join(file)
}

/// The time limit of a runtime: many times its usual time, and longer than the limits of the
/// programs that start browsers.
const LIMIT: Duration = Duration::from_secs(400);

/// The flag that disables vectors: V8 has none on a processor without these instructions.
const NO_SSE4: &str = "--no-enable-sse4-1";
