//! Policies of OPA as WebAssembly, compiled by the `opa` program.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files;
use crate::program;
use crate::rivals::{self, Modules};
use crate::workload::Workload;

/// Compiles each form of a workload with the program `opa`, into files beside it.
pub(crate) fn compile(opa: &Path, workload: &Workload) -> Result<Vec<(String, PathBuf)>, String> {
    let folder = opa.parent().unwrap_or(Path::new(".")).join("policies");
    let form = |(at, (form, modules)): (usize, (&str, Modules))| {
        let sources = folder.join(format!("{}-{at}", workload.name));
        let bundle = folder.join(format!("{}-{at}.tar.gz", workload.name));
        let files = modules.into_iter().map(|(name, text)| (name, text.into_bytes()));
        files::write(&sources, &files.collect::<Vec<_>>())?;
        build(opa, &sources, &bundle)?;
        Ok((form.to_owned(), bundle))
    };
    rivals::rego(workload).into_iter().enumerate().map(form).collect()
}

fn build(opa: &Path, sources: &Path, bundle: &Path) -> Result<(), String> {
    let words = ["build", "--target", "wasm", "--entrypoint", "authz/allow", "--output"];
    program::run("opa", Command::new(opa).args(words).arg(bundle).arg(sources))
}
