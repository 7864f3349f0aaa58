//! Builds the modules into `npm/wasm`: the runtime, with vectors and without, the compiler,
//! SPOCP, MQTT, the decision log, its sequencer, and analysis. Checks their sizes.
//!
//! wasm-pack drives cargo, wasm-bindgen and wasm-opt. A build is skipped if none of its inputs has
//! changed.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::setup;
use crate::shell::{self, Outcome, command, root, target};

/// Builds the modules, unless they are up to date.
pub(crate) fn build() -> Outcome {
    setup::all()?;
    let stamp = folder().join(".inputs");
    let inputs = digest_of_inputs(&[])?;
    if fs::read_to_string(&stamp).is_ok_and(|built| built == inputs) {
        return Ok(());
    }
    build_runtime()?;
    println!("  building the other modules");
    let start = Instant::now();
    add_plain()?;
    add_compiler()?;
    add_bare(&SPOCP, &SPOCP_CALLS)?;
    add_bare(&MQTT, &MQTT_CALLS)?;
    add_bare(&LOG, &LOG_CALLS)?;
    add_bare(&SEQUENCER, &SEQUENCER_CALLS)?;
    add_bare(&ANALYSIS, &ANALYSIS_CALLS)?;
    println!("  built the other modules in {}", shell::seconds(start.elapsed()));
    shell::write(&stamp, inputs)
}

/// Builds the runtime with vectors, unless it is up to date; the demonstration needs no other
/// module.
pub(crate) fn build_runtime() -> Outcome {
    setup::all()?;
    let stamp = target().join("xtask/runtime-module");
    let inputs = digest_of_inputs(&[])?;
    let is_there = folder().join(format!("{NAME}_bg.wasm")).exists();
    if is_there && fs::read_to_string(&stamp).is_ok_and(|built| built == inputs) {
        return Ok(());
    }
    println!("  building the runtime module");
    let start = Instant::now();
    // Files of an older build must not reach the package.
    if folder().exists() {
        fs::remove_dir_all(folder()).map_err(|error| format!("cannot empty npm/wasm: {error}"))?;
    }
    pack(&RUNTIME, "+simd128", &folder(), &target())?;
    trim()?;
    order(&folder().join(format!("{NAME}_bg.wasm")))?;
    println!("  built the runtime module in {}", shell::seconds(start.elapsed()));
    shell::write(&stamp, inputs)
}

/// Fails if a compressed module is larger than promised.
pub(crate) fn check_size() -> Outcome {
    check_size_of(NAME, MAX_GZIPPED)?;
    check_size_of(PLAIN, MAX_GZIPPED)?;
    check_size_of(COMPILER.name, MAX_GZIPPED_COMPILER)?;
    check_size_of(SPOCP.name, MAX_GZIPPED_SPOCP)?;
    check_size_of(MQTT.name, MAX_GZIPPED_MQTT)?;
    check_size_of(LOG.name, MAX_GZIPPED_LOG)?;
    check_size_of(SEQUENCER.name, MAX_GZIPPED_SEQUENCER)?;
    check_size_of(ANALYSIS.name, MAX_GZIPPED_ANALYSIS)
}

fn check_size_of(name: &str, most: usize) -> Outcome {
    let module = folder().join(format!("{name}_bg.wasm"));
    let raw =
        fs::read(&module).map_err(|error| format!("cannot read {}: {error}", module.display()))?;
    let print = "process.stdout.write(String(require('zlib').gzipSync(\
                 require('fs').readFileSync(process.argv[1]), { level: 9 }).length))";
    let text = shell::captured(command("node").args(["-e", print]).arg(&module))?;
    let packed: usize = text.parse().map_err(|_| format!("node printed `{text}` for a size"))?;
    println!("    module {name}: {} bytes, {packed} gzipped, at most {most}", raw.len());
    if packed > most {
        return Err(format!("the module {name} is {} bytes too large", packed - most));
    }
    Ok(())
}

/// A crate that becomes a module.
struct Module {
    folder: &'static str,
    name: &'static str,
}

/// Returns the folder of the built modules.
fn folder() -> PathBuf {
    root().join("npm/wasm")
}

/// Returns the path of the module of SPOCP, which hosts other than JavaScript can run too.
pub(crate) fn spocp() -> PathBuf {
    folder().join(format!("{}_bg.wasm", SPOCP.name))
}

/// Builds a module with a target feature into a folder.
fn pack(module: &Module, feature: &str, folder: &Path, target: &Path) -> Outcome {
    let arguments = [
        "build",
        module.folder,
        "--profile",
        "wasm",
        "--target",
        "bundler",
        "--no-pack",
        "--mode",
        "no-install",
    ];
    let mut wasm_pack = command("wasm-pack");
    wasm_pack
        .args(arguments)
        .args(["--out-name", module.name, "--out-dir"])
        .arg(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(feature));
    shell::logged(&format!("wasm-pack {} {feature}", module.name), &mut wasm_pack)
}

/// Adds the module without vectors, for engines without them. Both share one glue.
fn add_plain() -> Outcome {
    let target = target_of_plain();
    let built = target.join("package");
    pack(&RUNTIME, "-simd128", &built, &target)?;
    let glue = format!("{NAME}_bg.js");
    if shell::read(&folder().join(&glue))? != shell::read(&built.join(&glue))? {
        return Err("the modules with and without vectors do not fit one glue".into());
    }
    let plain = folder().join(format!("{PLAIN}_bg.wasm"));
    copy(&built.join(format!("{NAME}_bg.wasm")), &plain)?;
    order(&plain)?;
    must_have_no_vectors(&plain)
}

/// Adds the compiler and its glue. It gains no speed from vectors, and without them one module runs
/// everywhere.
fn add_compiler() -> Outcome {
    let target = target_of_plain();
    let built = target.join("compiler");
    pack(&COMPILER, "-simd128", &built, &target)?;
    for part in ["js", "wasm"] {
        let file = format!("{}_bg.{part}", COMPILER.name);
        copy(&built.join(&file), &folder().join(&file))?;
    }
    let compiler = folder().join(format!("{}_bg.wasm", COMPILER.name));
    order(&compiler)?;
    must_have_no_vectors(&compiler)?;
    declare_glue(&COMPILER, &built)
}

/// Adds a module with its calls alone: without the start function for objects of JavaScript, since it
/// uses none, it needs no glue, and no table of objects, which some hosts lack.
fn add_bare(module: &Module, calls: &[&str]) -> Outcome {
    let target = target_of_plain();
    let built = target.join(module.name);
    pack(module, "-simd128", &built, &target)?;
    let file = format!("{}_bg.wasm", module.name);
    let graph = built.join("calls.json");
    shell::write(&graph, graph_of_calls(calls))?;
    let reached = built.join("reached.wasm");
    let mut remove = command("wasm-metadce");
    remove.arg(built.join(&file)).arg("--graph-file").arg(&graph);
    remove.arg("--all-features").arg("-o").arg(&reached);
    shell::logged("wasm-metadce", &mut remove)?;
    let mut strip = command("wasm-opt");
    strip.arg(&reached).args(["--all-features", "--strip-producers", "--strip-target-features"]);
    strip.arg("-o").arg(folder().join(&file));
    shell::logged("wasm-opt without names of tools", &mut strip)?;
    order(&folder().join(&file))?;
    must_have_no_vectors(&folder().join(file))
}

/// Puts the functions of a module in an order that compresses better.
fn order(module: &Path) -> Outcome {
    let mut order = shell::cargo(["run", "--quiet", "--package", "xtask", "--features", "order"]);
    order.args(["--bin", "order-functions", "--"]).args([module, module]);
    shell::logged("order-functions", &mut order)
}

/// Returns the graph for `wasm-metadce`: the roots are the calls of the module.
fn graph_of_calls(calls: &[&str]) -> String {
    let names: Vec<String> = calls.iter().map(|call| format!("\"{call}\"")).collect();
    let nodes: String =
        names.iter().map(|name| format!(",{{\"name\":{name},\"export\":{name}}}")).collect();
    let reached = names.join(",");
    format!("[{{\"name\":\"outside\",\"reaches\":[{reached}],\"root\":true}}{nodes}]")
}

/// Returns a separate target folder: with other flags in the same one, each build would undo the
/// other.
fn target_of_plain() -> PathBuf {
    target().join("wasm-plain")
}

fn must_have_no_vectors(module: &Path) -> Outcome {
    let mut check = command("wasm-opt");
    // wasm-opt refuses a module that uses a feature that is not enabled.
    check.arg(module).args(["--all-features", "--disable-simd", "--disable-relaxed-simd"]);
    shell::logged("wasm-opt without vectors", &mut check)
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(drop).map_err(|error| format!("cannot write {}: {error}", to.display()))
}

/// Removes all files of the runtime except those that the package ships: the modules, their glue,
/// and its types.
fn trim() -> Outcome {
    declare_glue(&RUNTIME, &folder())?;
    let shipped = ["js", "d.ts", "wasm"].map(|part| format!("{NAME}_bg.{part}"));
    for file in shell::entries(&folder())? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !shipped.iter().any(|part| *part == name) {
            fs::remove_file(&file)
                .map_err(|error| format!("cannot remove {}: {error}", file.display()))?;
        }
    }
    let compiled = "declare const module: WebAssembly.Module;\nexport default module;\n";
    shell::write(&folder().join("module.d.ts"), compiled)
}

/// Declares the types of the glue that was built into a folder.
///
/// wasm-pack adds an entry that imports the module by itself. That one cannot start a second
/// instance, which the package needs after a trap.
fn declare_glue(module: &Module, built: &Path) -> Outcome {
    let types = shell::read(&built.join(format!("{}.d.ts", module.name)))?;
    let setter = "export function __wbg_set_wasm(exports: WebAssembly.Exports): void;\n";
    shell::write(&folder().join(format!("{}_bg.d.ts", module.name)), types + setter)
}

/// Returns the flags of the compiler with this target feature, in the form that allows spaces in a
/// path.
///
/// The module contains the path of each source file that can panic. The paths of the building
/// machine are replaced, so that every machine builds the same bytes.
pub(crate) fn flags(feature: &str) -> String {
    let home = std::env::home_dir().map(|home| home.join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home).unwrap_or_default();
    let remapped = |from: &Path, to| format!("--remap-path-prefix={}={to}", from.display());
    let feature = format!("-Ctarget-feature={feature}");
    [feature, remapped(&cargo, "cargo"), remapped(&root(), "wardgate")].join("\x1f")
}

/// Returns a digest of every file that can change the module, and of `others`.
pub(crate) fn digest_of_inputs(others: &[PathBuf]) -> Outcome<String> {
    let mut files = vec![root().join("Cargo.toml"), root().join("Cargo.lock")];
    files.extend_from_slice(others);
    for name in ["setup.rs", "wasm.rs", "bin/order-functions.rs"] {
        files.push(root().join("crates/xtask/src").join(name));
    }
    for folder in shell::entries(&root().join("crates"))? {
        if !NOT_IN_MODULES.iter().any(|name| folder.ends_with(name)) {
            files.push(folder.join("Cargo.toml"));
            collect(&folder.join("src"), &mut files)?;
        }
    }
    digest_of(&files)
}

/// Returns a digest of the names and contents of files.
pub(crate) fn digest_of(files: &[PathBuf]) -> Outcome<String> {
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(root()).unwrap_or(file).hash(&mut hasher);
        fs::read(file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?
            .hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    for entry in shell::entries(folder)? {
        if entry.is_dir() {
            collect(&entry, files)?;
        } else {
            files.push(entry);
        }
    }
    Ok(())
}

const NAME: &str = "wardgate";
const RUNTIME: Module = Module { folder: "crates/wasm", name: NAME };
const COMPILER: Module = Module { folder: "crates/compiler-wasm", name: "wardgate_compiler" };
const SPOCP: Module = Module { folder: "crates/spocp-wasm", name: "wardgate_spocp" };
const MQTT: Module = Module { folder: "crates/mqtt-wasm", name: "wardgate_mqtt" };
const LOG: Module = Module { folder: "crates/decision-log-wasm", name: "wardgate_log" };
const SEQUENCER: Module =
    Module { folder: "crates/log-sequencer-wasm", name: "wardgate_log_sequencer" };
const ANALYSIS: Module = Module { folder: "crates/analysis-wasm", name: "wardgate_analysis" };
/// The exports of the module of SPOCP: see `crates/spocp-wasm/src/lib.rs`.
const SPOCP_CALLS: [&str; 11] = [
    "memory",
    "room",
    "answer",
    "open",
    "allows",
    "first",
    "matches",
    "canonical",
    "advanced",
    "wrong",
    "wrongAt",
];
/// The exports of the module of MQTT: see `crates/mqtt-wasm/src/lib.rs`.
const MQTT_CALLS: [&str; 16] = [
    "memory",
    "room",
    "words",
    "limit",
    "matches",
    "cover",
    "decode",
    "check",
    "openSet",
    "closeSet",
    "insert",
    "remove",
    "find",
    "openGate",
    "closeGate",
    "tell",
];
/// The exports of the module of the decision log: see `crates/decision-log-wasm/src/lib.rs`.
const LOG_CALLS: [&str; 8] =
    ["memory", "room", "words", "prove", "frame", "write", "pseudonym", "digest"];
/// The exports of the sequencer of decision logs: see `crates/log-sequencer-wasm/src/lib.rs`.
const SEQUENCER_CALLS: [&str; 9] =
    ["memory", "room", "words", "open", "follow", "whole", "take", "erase", "commit"];
/// The exports of the module of analysis: see `crates/analysis-wasm/src/lib.rs`.
const ANALYSIS_CALLS: [&str; 9] =
    ["memory", "room", "words", "open", "replace", "similar", "groups", "analyze", "compare"];
/// The module without vectors.
const PLAIN: &str = "wardgate_nosimd";

/// 194 KB after gzip: the cost of the runtime for a page, of which 35 are for signatures, hashing
/// and seals, 10 for the validation of attributes by schemas (9,951 bytes of 189,209), 5 for
/// topics of MQTT (4,792 of 194,592) and 2.4 for the rate limits of policies (2,382 of 197,185). It was
/// 197,246 bytes before its functions were ordered. See `docs/DESIGN.md`.
const MAX_GZIPPED: usize = 194_200;

/// The largest compiler after gzip: the parsers, the tables of Unicode, all time zones, the engine
/// that decides policy tests, the linter and the formatter, all schemas, the rules of SPOCP and rate
/// limits (770,090 bytes, and 794,285 before its functions were ordered), and a little more. It was 525,662 bytes without tests, linter and formatter,
/// 708,508 without SPOCP and the later additions for schemas and messages, and 753,990 before fast
/// paths had verdicts, tests of lists, texts, moments and schemas, patterns, and principals with
/// policies, 764,398 without topics of MQTT, and 777,705 without rate limits. With types for
/// TypeScript, and with the page of each diagnostic, it is 789,374 bytes, and with the types of outputs 790,571.
const MAX_GZIPPED_COMPILER: usize = 792 * 1000;

/// The largest module of SPOCP after gzip: reading, order and index of rules (42,504 bytes), and a
/// little more.
const MAX_GZIPPED_SPOCP: usize = 43 * 1000;

/// The largest module of MQTT after gzip: topics, sets, packets, and gates, which are almost a third
/// (33,774 bytes), and a little more.
const MAX_GZIPPED_MQTT: usize = 34_500;

/// The largest module of the decision log after gzip: ML-DSA, both hashes, and records (43,205 bytes before its functions were
/// ordered), and a little more.
const MAX_GZIPPED_LOG: usize = 44_000;

/// The largest sequencer of decision logs after gzip: signing with ML-DSA, both hashes, and records (89,409 bytes), and a little
/// more. No page loads it.
const MAX_GZIPPED_SEQUENCER: usize = 92_000;

/// The largest module of analysis after gzip: the compiler without linter, formatter, tests and bundles, the engine, and
/// what is asked of them (838,846 bytes before its functions were ordered), and a little more. No page loads it that only decides or
/// compiles. As a part of the compiler it would make that more than 181,000 bytes larger.
const MAX_GZIPPED_ANALYSIS: usize = 840_000;

/// The crates that are part of no module.
const NOT_IN_MODULES: [&str; 3] = ["xtask", "cli", "wasmtime-host"];
