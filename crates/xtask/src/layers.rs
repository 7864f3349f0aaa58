//! Proves that the arrows between our crates are those of `docs/ARCHITECTURE.md`, and no others.
//!
//! Arrows from tests are free; those of shipped code are not. A crate that the table does not name
//! is an error, so that a new one cannot evade it.

mod modules;
mod npm;

use crate::metadata::{self, Crate};
use crate::setup::WASM_TARGET;
use crate::shell::{self, Outcome};

/// Checks every crate of the workspace and prints a table of what it uses.
pub(crate) fn check() -> Outcome {
    let crates = metadata::crates()?;
    let mut faults = Vec::new();
    for one in &crates {
        let uses: Vec<&str> = one.uses.iter().map(|to| short(to)).collect();
        println!(
            "    {:<15} -> {}",
            short(&one.name),
            if uses.is_empty() { "-".into() } else { uses.join(", ") }
        );
        wrong_arrows(one, &mut faults);
        missing_forbid(one, &mut faults)?;
    }
    for module in ["wasm", "component"] {
        if crates.iter().any(|one| short(&one.name) == module) {
            compiler_in_runtime(module, &mut faults)?;
        }
    }
    modules::check(&mut faults)?;
    npm::check(&mut faults)?;
    for fault in &faults {
        println!("    {fault}");
    }
    if faults.is_empty() { Ok(()) } else { Err(format!("{} faults in the layers", faults.len())) }
}

fn wrong_arrows(one: &Crate, faults: &mut Vec<String>) {
    let name = short(&one.name);
    if ABOVE_ALL.contains(&name) {
        return;
    }
    let Some((_, may)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        faults.push(format!("{name}: not in the table of arrows"));
        return;
    };
    for to in one.uses.iter().map(|to| short(to)) {
        if !may.contains(&to) {
            faults.push(format!("{name} -> {to}: this arrow is not allowed"));
        }
    }
}

fn missing_forbid(one: &Crate, faults: &mut Vec<String>) -> Outcome {
    let name = short(&one.name);
    if MAY_BE_UNSAFE.contains(&name) {
        return Ok(());
    }
    if let Some((_, file)) = UNSAFE_FILES.iter().find(|(known, _)| *known == name) {
        return missing_forbid_but_in(one, file, faults);
    }
    for root in &one.roots {
        if !shell::read(root)?.lines().any(|line| line.trim() == FORBID) {
            faults.push(format!("{name}: {} does not say {FORBID}", root.display()));
        }
    }
    Ok(())
}

/// Checks a crate with `unsafe` in one file: its root denies it, and each other file forbids it.
fn missing_forbid_but_in(one: &Crate, unsafe_file: &str, faults: &mut Vec<String>) -> Outcome {
    for root in &one.roots {
        for file in shell::entries(root.parent().unwrap_or(root))? {
            let is_other = file.file_name().is_some_and(|name| name == unsafe_file);
            if is_other || file.is_dir() {
                continue;
            }
            let must_say = if file == *root { DENY } else { FORBID };
            if !shell::read(&file)?.lines().any(|line| line.trim() == must_say) {
                faults.push(format!("{}: {} does not say {must_say}", one.name, file.display()));
            }
        }
    }
    Ok(())
}

/// Looks for the compiler among all direct and indirect dependencies of a runtime module.
fn compiler_in_runtime(module: &str, faults: &mut Vec<String>) -> Outcome {
    let package = format!("wardgate-{module}");
    let mut tree = shell::cargo(["tree", "--edges", "normal,build", "--prefix", "none"]);
    tree.args(["--package", &package, "--target", WASM_TARGET]);
    let tree = shell::captured(&mut tree)?;
    if tree.lines().any(|line| line.starts_with("wardgate-compiler ")) {
        faults.push(format!("{module}: the runtime module reaches the compiler"));
    }
    Ok(())
}

/// Returns the name of a crate as in the documents.
fn short(name: &str) -> &str {
    name.strip_prefix("wardgate-").unwrap_or(name)
}

/// The crates of the workspace that each crate may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("simd", &[]),
    ("mqtt", &[]),
    ("ratelimit", &[]),
    ("fastpath", &["simd"]),
    ("engine", &["fastpath", "mqtt"]),
    ("crypto", &["simd"]),
    ("decision-log", &["crypto"]),
    ("ratelimit-store", &["crypto", "ratelimit"]),
    ("spocp", &[]),
    ("bundle", &["engine", "spocp", "crypto"]),
    ("partial", &["engine", "fastpath"]),
    ("compiler", &["engine", "partial", "ratelimit", "spocp", "mqtt"]),
    ("tooling", &["compiler", "engine"]),
    ("analysis", &["compiler", "engine", "simd", "tooling"]),
    ("wasm", &["bundle", "crypto", "engine", "fastpath"]),
    ("compiler-wasm", &["compiler", "tooling", "bundle", "engine"]),
    ("analysis-wasm", &["analysis", "compiler", "engine"]),
    ("spocp-wasm", &["spocp"]),
    ("mqtt-wasm", &["mqtt"]),
    ("decision-log-wasm", &["decision-log"]),
    ("log-sequencer-wasm", &["decision-log"]),
    (
        "native",
        &["bundle", "decision-log", "engine", "fastpath", "mqtt", "ratelimit", "ratelimit-store"],
    ),
    ("replay", &["analysis", "engine", "native"]),
    ("jwt", &["engine", "native"]),
    ("component", &["bundle", "engine", "native", "fastpath"]),
    ("wasmtime-host", &["native", "fastpath"]),
    ("mosquitto", &["bundle", "engine", "jwt", "mqtt", "native"]),
    (
        "server",
        &[
            "bundle",
            "crypto",
            "decision-log",
            "engine",
            "jwt",
            "mqtt",
            "native",
            "ratelimit",
            "ratelimit-store",
            "spocp",
        ],
    ),
    (
        "cli",
        &[
            "analysis",
            "server",
            "tooling",
            "compiler",
            "native",
            "bundle",
            "crypto",
            "decision-log",
            "engine",
            "mqtt",
            "ratelimit",
            "ratelimit-store",
            "replay",
            "spocp",
        ],
    ),
    ("xtask", &[]),
];

/// The crates that measure or test everything, and that no crate uses.
const ABOVE_ALL: &[&str] = &["tests", "host-bench", "host-bench-wasm"];

const MAY_BE_UNSAFE: &[&str] = &["simd", "wasm", "component"];

/// Crates with one file of `unsafe` code, beside the root. Modules within another file inherit its
/// level.
const UNSAFE_FILES: &[(&str, &str)] = &[("mosquitto", "abi.rs")];

const DENY: &str = "#![deny(unsafe_code)]";

const FORBID: &str = "#![forbid(unsafe_code)]";
