//! Runs the public corpora, which are outside the project.
//!
//! They are data of other projects, read in their folder and never copied. Without them no suite
//! can run, and the output reports that.
//!
//! The suites of cryptography run once for each set of vectors: natively with the better ones
//! denied, and in Node as WebAssembly with vectors and without.

use std::path::{Path, PathBuf};

use crate::shell::{self, Outcome, root};
use crate::{npm, setup};

/// Runs the suites that the arguments name; all arguments except `--corpora` are passed to the
/// program that runs them. Without arguments it compares the page about them, and with `--write`
/// alone it writes the page.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (corpora, mut rest) = split(arguments)?;
    let Some(folder) = corpora.canonicalize().ok().filter(|folder| folder.is_dir()) else {
        println!("    no corpora at {}: nothing to run", corpora.display());
        return Ok(());
    };
    // Some suites also decide through the package.
    npm::build()?;
    let mut conformance = shell::program("conformance")?;
    conformance.arg("--corpora").arg(&folder);
    match rest.as_slice() {
        [] => conformance.arg("--check").arg(root().join(PAGE)),
        [write] if *write == "--write" => conformance.arg("--write").arg(root().join(PAGE)),
        rest => conformance.args(rest),
    };
    shell::shown(&mut conformance)?;
    rest.retain(|word| *word != "--write");
    for suite in CRYPTOGRAPHY.iter().filter(|suite| is_selected(&rest, suite)) {
        on_lower_tiers(suite, &folder)?;
    }
    if CRYPTOGRAPHY.iter().any(|suite| is_selected(&rest, suite)) {
        in_node(&rest, &folder)?;
    }
    Ok(())
}

/// Returns the default path of the corpora.
pub(crate) fn corpora() -> PathBuf {
    root().join("../shared/corpora")
}

/// Returns true if the arguments select a suite: `--suite` is the only one that can exclude it.
fn is_selected(arguments: &[&String], suite: &str) -> bool {
    let named = arguments.iter().skip_while(|word| **word != "--suite").nth(1);
    named.is_none_or(|named| *named == suite)
}

fn on_lower_tiers(suite: &str, corpora: &Path) -> Outcome {
    for denied in DENIED {
        println!("    without {denied}");
        let mut run = shell::program("conformance")?;
        run.args(["--suite", suite, "--corpora"]).arg(corpora);
        shell::shown(run.env("WARDGATE_DENY", denied))?;
    }
    Ok(())
}

fn in_node(arguments: &[&String], corpora: &Path) -> Outcome {
    setup::wasi_target()?;
    for (name, flags) in [("with vectors", "-Ctarget-feature=+simd128"), ("without vectors", "")] {
        let target = shell::target().join("wasi").join(name.replace(' ', "-"));
        let build = ["build", "--profile", "test", "--target", setup::WASI_TARGET];
        let mut cargo = shell::cargo(build);
        cargo.args([
            "--package",
            "wardgate-tests",
            "--bin",
            "conformance",
            "--no-default-features",
        ]);
        cargo.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", flags);
        shell::logged(&format!("conformance as WebAssembly {name}"), &mut cargo)?;
        let module = target.join(setup::WASI_TARGET).join("debug/conformance.wasm");
        for suite in CRYPTOGRAPHY.iter().filter(|suite| is_selected(arguments, suite)) {
            println!("    in Node {name}");
            let mut node = shell::command("node");
            node.args(["--no-warnings", "tests/node/conformance.mjs"]).arg(&module).arg(corpora);
            shell::shown(node.args(["--suite", suite]))?;
        }
    }
    Ok(())
}

fn split(arguments: &[String]) -> Outcome<(PathBuf, Vec<&String>)> {
    let mut corpora = corpora();
    let mut rest = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--corpora" {
            corpora = words.next().ok_or("`--corpora` needs a folder")?.into();
        } else {
            rest.push(word);
        }
    }
    Ok((corpora, rest))
}

/// The generated page with the results of the suites.
const PAGE: &str = "docs/CONFORMANCE.md";

/// The suites whose code depends on the vectors of the machine.
const CRYPTOGRAPHY: [&str; 3] = ["blake3", "acvp", "wycheproof"];

/// The denied tiers of each run, so that every tier is the best one once.
pub(crate) const DENIED: [&str; 3] = ["avx512", "avx512,avx2", "avx512,avx2,sse2"];
