//! Runs the public corpora, which lie outside the project.
//!
//! They are data of other projects, read where they are and never copied here. Without them there is
//! nothing to run, and this says so.

use std::path::PathBuf;

use crate::npm;
use crate::shell::{self, Outcome, root};

/// Runs the suites that the arguments name; all but `--corpora` goes to the program that runs them.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (corpora, rest) = split(arguments)?;
    let Some(folder) = corpora.canonicalize().ok().filter(|folder| folder.is_dir()) else {
        println!("    no corpora at {}: nothing to run", corpora.display());
        return Ok(());
    };
    // Some suites decide through the package too.
    npm::build()?;
    let program = ["run", "--quiet", "--package", "wardgate-tests", "--bin", "conformance", "--"];
    shell::shown(shell::cargo(program).arg("--corpora").arg(folder).args(rest))
}

fn split(arguments: &[String]) -> Outcome<(PathBuf, Vec<&String>)> {
    let mut corpora = root().join("../shared/corpora");
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
