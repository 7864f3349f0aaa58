//! Installs the tools that a machine with rustup, Node and npm lacks, inside the project.
//!
//! Every step first checks if its work is done already: a second run prints no line and needs no
//! network. A tool that cannot be installed from here ends the run with one sentence.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::languages;
use crate::shell::{self, Outcome, command, root, target, tools};

/// Installs the tools of single checks too: packages of runtimes and bundlers, and browsers.
pub(crate) fn everything() -> Outcome {
    all()?;
    for folder in ["tests/runtimes", "tests/bundlers", "edge-worker"] {
        npm_ci(folder)?;
    }
    for package in ["chromium", "firefox-esr"] {
        browser(package)?;
    }
    languages::python()?;
    languages::go()?;
    Ok(())
}

/// Installs the tools that build the package and test most of it.
pub(crate) fn all() -> Outcome {
    require()?;
    rust()?;
    for tool in TOOLS {
        install(tool)?;
    }
    remove_build_of_tools()?;
    npm_packages()
}

/// Checks for the programs that this one does not install.
fn require() -> Outcome {
    let version = version_of("node", "--version")
        .ok_or("Node is not installed: install Node 20 or later and run this again")?;
    let major =
        version.trim_start_matches('v').split('.').next().and_then(|text| text.parse::<u32>().ok());
    if major.is_none_or(|major| major < OLDEST_NODE) {
        return Err(format!("Node {OLDEST_NODE} or later is needed, found {version}"));
    }
    version_of("npm", "--version").ok_or("npm is not installed: it comes with Node")?;
    Ok(())
}

/// Adds the parts of the Rust toolchain that builds and checks of crates need.
pub(crate) fn rust() -> Outcome {
    components()?;
    wasm_target()
}

/// Adds rustfmt and clippy, which a minimal toolchain lacks.
fn components() -> Outcome {
    for (name, program) in [("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")] {
        if version_of(program, "--version").is_none() {
            rustup(&format!("component {name}"), &["component", "add", name])?;
        }
    }
    Ok(())
}

/// Adds the standard library for WebAssembly, unless this toolchain has it.
pub(crate) fn wasm_target() -> Outcome {
    target_of_rust(WASM_TARGET)
}

/// Adds the standard library for WebAssembly with files, for the tests of vectors.
pub(crate) fn wasi_target() -> Outcome {
    target_of_rust(WASI_TARGET)
}

fn target_of_rust(target: &str) -> Outcome {
    let print = ["--print", "target-libdir", "--target", target];
    let folder = shell::captured(command("rustc").args(print))?;
    if fs::exists(folder.trim()).unwrap_or(false) {
        return Ok(());
    }
    rustup(&format!("target {target}"), &["target", "add", target])
}

fn rustup(what: &str, arguments: &[&str]) -> Outcome {
    if version_of("rustup", "--version").is_none() {
        return Err(format!("the Rust {what} is missing and rustup is not installed to add it"));
    }
    timed(what, |name| shell::logged(name, command("rustup").args(arguments)))
}

/// A program that cargo builds from its published source.
struct Tool {
    package: &'static str,
    program: &'static str,
    version: &'static str,
    features: &'static [&'static str],
}

/// Builds a tool into `.tools`, without optimisation: it runs for a second and is built once.
fn install(tool: &Tool) -> Outcome {
    let program = tools().join("bin").join(tool.program);
    let found = version_of(program, "--version").unwrap_or_default();
    if found.split_whitespace().nth(1) == Some(tool.version) {
        return Ok(());
    }
    timed(&format!("{} {}", tool.package, tool.version), |name| {
        // The lock file of a tool may name a version that a registry mirror lacks; that shows at
        // once, before any crate is built.
        shell::attempt(name, cargo_install(tool).arg("--locked")).or_else(|_| {
            println!("    {name}: its lock file does not resolve here, trying without");
            shell::logged(name, &mut cargo_install(tool))
        })
    })
}

fn cargo_install(tool: &Tool) -> Command {
    let mut command = shell::cargo(["install", "--debug", "--force"]);
    command
        .args([tool.package, "--version", tool.version, "--bin", tool.program])
        .args(tool.features)
        .arg("--root")
        .arg(tools())
        .env("CARGO_TARGET_DIR", build_of_tools())
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    command
}

/// Removes the crates that the tools were built from: they are many, and not used again.
fn remove_build_of_tools() -> Outcome {
    let folder = build_of_tools();
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(&folder)
        .map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

fn build_of_tools() -> PathBuf {
    target().join("tools")
}

/// Installs the packages that build and test the package.
fn npm_packages() -> Outcome {
    npm_ci("npm")
}

/// Installs the npm packages of a folder if its lock file differs from the one they were installed
/// from.
pub(crate) fn npm_ci(folder: &str) -> Outcome {
    let at = root().join(folder);
    let lock = shell::read(&at.join("package-lock.json"))?;
    let stamp = at.join("node_modules/.installed-lock.json");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    timed(&format!("npm packages of {folder}"), |name| {
        let arguments = ["ci", "--no-audit", "--no-fund"];
        shell::logged(name, command("npm").args(arguments).current_dir(&at))
    })?;
    shell::write(&stamp, lock)
}

/// Returns the program of a browser, installed from the system's packages if it is missing.
pub(crate) fn browser(package: &str) -> Outcome<PathBuf> {
    program_of_system(package, package)
}

/// Returns a program, installed with its package of the system if it is missing.
pub(crate) fn program_of_system(program: &str, package: &str) -> Outcome<PathBuf> {
    if let Some(program) = found_on_path(program) {
        return Ok(program);
    }
    timed(package, |_| system_package(package))?;
    found_on_path(program).ok_or_else(|| format!("{package} was installed and is not on the path"))
}

/// Installs a package of the system.
pub(crate) fn system_package(package: &str) -> Outcome {
    // The lists of a fresh machine are empty or old. If they cannot be updated, the old ones may
    // suffice.
    let apt = |arguments: &[&str]| {
        let mut apt = command("apt-get");
        apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    shell::attempt(package, &mut apt(&["update"])).ok();
    let install = ["install", "--yes", "--no-install-recommends", package];
    shell::logged(package, &mut apt(&install))
        .map_err(|error| format!("{package} is missing, install it and run this again: {error}"))
}

fn found_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // Servers are there, which only the path of an administrator may name.
    let servers = PathBuf::from("/usr/sbin");
    let mut folders = std::env::split_paths(&path).chain([servers]);
    folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()))
}

/// Announces an installation, runs it, and prints its duration.
pub(crate) fn timed(name: &str, install: impl FnOnce(&str) -> Outcome) -> Outcome {
    println!("  installing {name}");
    let start = Instant::now();
    install(name)?;
    println!("  installed {name} in {}", shell::seconds(start.elapsed()));
    Ok(())
}

/// Returns the output of a program for its version argument; `None` if it does not run.
pub(crate) fn version_of(program: impl AsRef<std::ffi::OsStr>, argument: &str) -> Option<String> {
    let output = command(program).arg(argument).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The target of the runtime module.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The target of the vectors that run in Node.
pub(crate) const WASI_TARGET: &str = "wasm32-wasip1";

const OLDEST_NODE: u32 = 20;

/// wasm-bindgen must be the version of the library that `crates/wasm` links: the two speak a
/// private protocol. Its default features only serve its test runner's downloads.
const TOOLS: &[Tool] = &[
    Tool {
        package: "wasm-bindgen-cli",
        program: "wasm-bindgen",
        version: "0.2.130",
        features: &["--no-default-features"],
    },
    Tool { package: "wasm-pack", program: "wasm-pack", version: "0.15.1", features: &[] },
];
