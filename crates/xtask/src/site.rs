//! The documents as a static site in `target/site`, with every link and every page checked.
//!
//! The reference of the npm package is built with it. That of the crates compiles them, so it is
//! built on request only.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::setup;
use crate::shell::{self, Outcome, cargo, command, root, target};

/// Builds the site and looks at its pages; `--rustdoc` adds the reference of the crates.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => build(false),
        [word] if word == "--rustdoc" => build(true),
        [word, ..] => Err(format!("expected `--rustdoc` or nothing, found `{word}`")),
    }
}

fn build(with_rustdoc: bool) -> Outcome {
    for folder in ["npm", "docs/site"] {
        setup::npm_ci(folder)?;
    }
    remove(&target().join("api"))?;
    shell::logged("reference of the package", &mut in_site("npx", &["typedoc"]))?;
    if with_rustdoc {
        document_crates()?;
    }
    shell::logged("building the site", &mut in_site("npm", &["run", "--silent", "build"]))?;
    let mut axe = in_site("node", &["axe.mjs"]);
    axe.arg(target().join("site")).env("CHROMIUM", setup::browser("chromium")?);
    shell::logged("looking at the site", &mut axe)
}

/// Writes the reference of the crates that programs use.
fn document_crates() -> Outcome {
    let written = target().join("doc");
    remove(&written)?;
    let mut doc = cargo(["doc", "--no-deps", "--lib"]);
    doc.args(CRATES.iter().flat_map(|name| ["--package", name]));
    // Links between items are checked here; those of pages, when the site is built.
    doc.env("RUSTDOCFLAGS", "--deny rustdoc::broken_intra_doc_links");
    shell::logged("reference of the crates", &mut doc)?;
    let place = target().join("api/rust");
    fs::rename(&written, &place)
        .map_err(|error| format!("cannot move the reference to {}: {error}", place.display()))
}

fn in_site(program: &str, arguments: &[&str]) -> Command {
    let mut program = command(program);
    program.args(arguments).current_dir(root().join("docs/site"));
    program
}

fn remove(folder: &Path) -> Outcome {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder)
        .map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

/// The crates that other programs use.
const CRATES: &[&str] = &[
    "wardgate-native",
    "wardgate-engine",
    "wardgate-bundle",
    "wardgate-compiler",
    "wardgate-tooling",
    "wardgate-analysis",
    "wardgate-jwt",
    "wardgate-ratelimit",
    "wardgate-decision-log",
    "wardgate-mqtt",
    "wardgate-spocp",
];
