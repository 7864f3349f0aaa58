//! Builds the `cerbos` program, which checks the folders that our compiler compiles.
//!
//! Its module replaces another, so Go installs it only as a dependency of a module with the same
//! replacement: one is written below the target folder, with the sums that the release was made
//! with.

use std::fs;
use std::path::{Path, PathBuf};

use super::needs_go;
use crate::shell::{self, Outcome, command, target};

/// Builds the program, unless it exists, and returns its path.
pub(super) fn build() -> Outcome<PathBuf> {
    let folder = target().join("cerbos");
    let (program, stamp) = (folder.join("cerbos"), folder.join(".version"));
    if program.exists() && fs::read_to_string(&stamp).is_ok_and(|built| built == VERSION) {
        return Ok(program);
    }
    needs_go()?;
    println!("    building {MODULE}@{VERSION}, which takes many minutes once");
    let module = folder.join("module");
    fs::create_dir_all(&module).map_err(|error| format!("{}: {error}", module.display()))?;
    let sources = download(&module)?;
    let original = shell::read(&sources.join("go.mod"))?;
    shell::write(&module.join("go.mod"), depending_on_it(&original))?;
    shell::write(&module.join("go.sum"), shell::read(&sources.join("go.sum"))?)?;
    let mut build = command("go");
    build.args(["build", "-mod=mod", "-o"]).arg(&program).arg(format!("{MODULE}/cmd/cerbos"));
    shell::attempt("cerbos", build.current_dir(&module).env("GOWORK", "off"))?;
    shell::write(&stamp, VERSION)?;
    Ok(program)
}

/// Downloads the module, and returns the folder of its sources.
fn download(from: &Path) -> Outcome<PathBuf> {
    let mut download = command("go");
    download.args(["mod", "download", "-json", &format!("{MODULE}@{VERSION}")]);
    let module = shell::captured(download.current_dir(from).env("GOWORK", "off"))?;
    let module: serde_json::Value =
        serde_json::from_str(&module).map_err(|error| format!("go mod download: {error}"))?;
    let folder = module.get("Dir").and_then(serde_json::Value::as_str);
    folder.map(PathBuf::from).ok_or_else(|| "go mod download names no folder".to_owned())
}

/// Returns the text of a module with the same language and the same replacements.
fn depending_on_it(original: &str) -> String {
    let lines =
        original.lines().filter(|line| line.starts_with("go ") || line.starts_with("replace "));
    let lines: Vec<&str> = lines.collect();
    format!("module wardgate.bench/cerbos\n\nrequire {MODULE} {VERSION}\n\n{}\n", lines.join("\n"))
}

const MODULE: &str = "github.com/cerbos/cerbos";

/// An exact version, because a figure names it.
const VERSION: &str = "v0.55.0";
