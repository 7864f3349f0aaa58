//! The facts about the crates of the workspace, from `cargo metadata`.
//!
//! Only the members that `layers` and `release` need are read.

use std::path::PathBuf;

use serde_json::Value;

use crate::shell::{self, Outcome};

/// One crate of the workspace.
pub(crate) struct Crate {
    /// The name of its package.
    pub(crate) name: String,
    /// The crates of the workspace that it uses outside its tests.
    pub(crate) uses: Vec<String>,
    /// The first file of each of its libraries and programs.
    pub(crate) roots: Vec<PathBuf>,
}

/// Returns the crates of the workspace in the order of their names.
pub(crate) fn crates() -> Outcome<Vec<Crate>> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let text = shell::captured(&mut shell::cargo(arguments))?;
    let answer: Value =
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = list(&answer, "packages");
    let names: Vec<&str> = packages.iter().map(|package| string(package, "name")).collect();
    let mut crates: Vec<Crate> = packages.iter().map(|package| read(package, &names)).collect();
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(crates)
}

fn read(package: &Value, ours: &[&str]) -> Crate {
    let shipped = |dependency: &&Value| string(dependency, "kind") != "dev";
    let uses = list(package, "dependencies")
        .iter()
        .filter(shipped)
        .map(|dependency| string(dependency, "name"))
        .filter(|name| ours.contains(name))
        .map(str::to_owned)
        .collect();
    let roots = list(package, "targets")
        .iter()
        .filter(|target| {
            list(target, "kind").iter().any(|kind| SHIPPED.iter().any(|shipped| kind == shipped))
        })
        .map(|target| PathBuf::from(string(target, "src_path")))
        .collect();
    Crate { name: string(package, "name").to_owned(), uses, roots }
}

/// Returns the list under `key`, empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the text under `key`; cargo writes `null` for the usual kind of dependency.
pub(crate) fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

const SHIPPED: &[&str] = &["lib", "rlib", "cdylib", "bin"];
