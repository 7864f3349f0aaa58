//! The crates for the registry of Rust: their metadata, their order, and their packages.
//!
//! Every crate of the workspace is published or is in the table of private ones, with the reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::facts::Facts;
use super::report::{Report, ensure};
use crate::metadata::{list, string};
use crate::shell::{self, Outcome, cargo, root, target};
use crate::wasm;

/// Checks all crates, packs those that are published, and prints why the others are not.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    for package in facts.packages.iter().filter(|package| !is_published(package)) {
        let name = string(package, "name");
        let reason = reason_of(name).unwrap_or_default();
        let fault = "it is not in the table of `release/crates.rs`";
        report.check(format!("{name} is private: {reason}"), ensure(!reason.is_empty(), fault));
    }
    let order = publish_order(facts)?;
    for package in &order {
        let name = string(package, "name");
        report.check(format!("{name}: metadata, licence, documentation"), complete(package, facts));
    }
    report.check("cargo packs all published crates", pack(&order));
    for package in &order {
        let file = format!("{}-{}.crate", string(package, "name"), facts.version);
        let file = target().join("package").join(file);
        small(&file)?;
        report.add(&file, "cargo")?;
    }
    Ok(())
}

/// Returns the published crates, each after those that it depends on.
pub(super) fn publish_order(facts: &Facts) -> Outcome<Vec<&Value>> {
    let mut rest: Vec<&Value> = facts.packages.iter().filter(|it| is_published(it)).collect();
    rest.sort_by_key(|package| string(package, "name"));
    let published: BTreeSet<&str> = rest.iter().map(|package| string(package, "name")).collect();
    let ours: BTreeSet<&str> = facts.packages.iter().map(|it| string(it, "name")).collect();
    let mut order: Vec<&Value> = Vec::new();
    while !rest.is_empty() {
        let done: BTreeSet<&str> = order.iter().map(|package| string(package, "name")).collect();
        let is_ready = |it: &&Value| needs(it, &ours).all(|need| done.contains(need));
        let (ready, later): (Vec<&Value>, Vec<&Value>) = rest.iter().partition(|it| is_ready(it));
        if ready.is_empty() {
            return Err(blocked(&later, &ours, &published));
        }
        order.extend(ready);
        rest = later;
    }
    Ok(order)
}

/// Returns the crates of the workspace that the registry must have before this one: all with a
/// version. One of a test without a version is left out of the package.
fn needs<'a>(package: &'a Value, ours: &BTreeSet<&str>) -> impl Iterator<Item = &'a str> {
    let needed = |it: &&Value| string(it, "kind") != "dev" || string(it, "req") != "*";
    let names = list(package, "dependencies").iter().filter(needed).map(|it| string(it, "name"));
    names.filter(move |name| ours.contains(name)).collect::<Vec<_>>().into_iter()
}

fn blocked(crates: &[&Value], ours: &BTreeSet<&str>, published: &BTreeSet<&str>) -> String {
    let private = crates.iter().find_map(|package| {
        let need = needs(package, ours).find(|need| !published.contains(need))?;
        Some(format!("{} is published and needs {need}, which is private", string(package, "name")))
    });
    private.unwrap_or_else(|| "published crates depend on each other in a circle".into())
}

/// `publish = false` is an empty list of registries.
fn is_published(package: &Value) -> bool {
    package.get("publish").is_none_or(Value::is_null)
}

/// Checks what the registry and readers need of a crate.
fn complete(package: &Value, facts: &Facts) -> Outcome {
    let manifest = PathBuf::from(string(package, "manifest_path"));
    let folder = manifest.parent().unwrap_or(&manifest);
    let at = |message: String| format!("{}: {message}", super::report::shown(&manifest));
    for key in ["description", "license", "repository", "readme", "rust_version"] {
        ensure(!string(package, key).is_empty(), at(format!("`{key}` is missing")))?;
    }
    for key in ["keywords", "categories"] {
        let count = list(package, key).len();
        ensure((1..=5).contains(&count), at(format!("expected 1 to 5 `{key}`, found {count}")))?;
    }
    for file in ["LICENSE", string(package, "readme")] {
        ensure(folder.join(file).exists(), at(format!("`{file}` is missing")))?;
    }
    for dependency in list(package, "dependencies").iter().filter(|it| it.get("path").is_some()) {
        let found = string(dependency, "req");
        let is_right = found == format!("^{}", facts.version) || found == "*";
        let name = string(dependency, "name");
        ensure(is_right, at(format!("{name} has the version {found}, not {}", facts.version)))?;
    }
    ensure(shell::read(&manifest)?.contains("[lints]\nworkspace = true"), {
        at("it lacks the lints of the workspace, among them `missing_docs`".into())
    })?;
    sources_are_complete(&folder.join("src"))
}

/// Fails on a source that leaves public items without documentation, or reads a file that its package
/// does not have. Tests may: no user builds them.
fn sources_are_complete(src: &Path) -> Outcome {
    let mut files = Vec::new();
    wasm::collect(src, &mut files)?;
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let text = shell::read(file)?;
        let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in shipped.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let leaves = line.contains("include_") && escapes(line, file, src)
                || line.contains("path: \"../");
            // An `expect` has its reason beside it.
            let hides = line.contains("allow(missing_docs");
            ensure(
                !leaves && !hides,
                format!("{}: `{}`", super::report::shown(file), line.trim()),
            )?;
        }
    }
    Ok(())
}

/// Returns true if the path in a line leads out of the folder of the crate.
fn escapes(line: &str, file: &Path, src: &Path) -> bool {
    let depth = file.strip_prefix(src).map_or(0, |path| path.components().count());
    line.matches("../").count() > depth
}

/// Packs all crates at once: each finds those before it without the registry.
fn pack(order: &[&Value]) -> Outcome {
    let mut package = cargo(["package", "--no-verify", "--allow-dirty"]);
    for crate_ in order {
        package.args(["--package", string(crate_, "name")]);
    }
    shell::logged("packing crates", package.current_dir(root()))
}

fn small(file: &Path) -> Outcome {
    let size = std::fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (size, shown) = (size.len(), super::report::shown(file));
    ensure(size <= MAX_BYTES, format!("{shown} has {size} bytes, at most {MAX_BYTES} are accepted"))
}

fn reason_of(name: &str) -> Option<&'static str> {
    PRIVATE.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}

/// The largest package that the registry takes.
const MAX_BYTES: u64 = 10 * 1024 * 1024;

const IN_NPM: &str = "a module of the npm package, of no use without it";

/// The crates that are not published.
const PRIVATE: &[(&str, &str)] = &[
    ("wardgate-wasm", IN_NPM),
    ("wardgate-compiler-wasm", IN_NPM),
    ("wardgate-analysis-wasm", IN_NPM),
    ("wardgate-spocp-wasm", IN_NPM),
    ("wardgate-mqtt-wasm", IN_NPM),
    ("wardgate-decision-log-wasm", IN_NPM),
    ("wardgate-log-sequencer-wasm", IN_NPM),
    ("wardgate-component", "a module for hosts of WebAssembly, which take the built file"),
    ("wardgate-wasmtime-host", "it is built with the description of wardgate-component"),
    ("wardgate-mosquitto", "a plugin, which a broker takes as a built library"),
    ("wardgate-tests", "tests of the whole project"),
    ("wardgate-host-bench", "measurements of the whole project"),
    ("wardgate-host-bench-wasm", "measurements of the whole project"),
    ("xtask", "commands for a clone of the project"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{escapes, publish_order};
    use crate::metadata::string;
    use crate::release::facts::Facts;

    fn order(packages: Value) -> Result<Vec<String>, String> {
        let facts = Facts::of_test(packages.as_array().cloned().unwrap_or_default());
        Ok(publish_order(&facts)?.iter().map(|it| string(it, "name").to_owned()).collect())
    }

    #[test]
    fn a_crate_follows_what_it_needs() {
        let tests = json!({ "name": "tests", "publish": [], "dependencies": [] });
        let on = |name: &str, req: &str| json!([{ "name": name, "req": req, "kind": "dev" }]);
        let a = json!({ "name": "a", "dependencies": on("b", "^1.0.0") });
        let b = json!({ "name": "b", "dependencies": on("tests", "*") });
        assert_eq!(order(json!([tests, a, b])).unwrap(), ["b", "a"]);
        let c = json!({ "name": "c", "dependencies": on("tests", "^1.0.0") });
        assert!(order(json!([tests, c])).unwrap_err().contains("which is private"));
    }

    #[test]
    fn a_path_out_of_the_crate_is_found() {
        let (src, file) = (Path::new("/c/src"), Path::new("/c/src/a/b.rs"));
        assert!(!escapes("include_str!(\"../../data.txt\")", file, src));
        assert!(escapes("include_str!(\"../../../data.txt\")", file, src));
    }
}
