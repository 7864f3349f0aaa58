//! Policies of OPA as WebAssembly, compiled by the `opa` program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rivals::{self, Modules};
use crate::workload::Workload;

/// Compiles each form of a workload with the program `opa`, into files beside it.
pub(crate) fn compile(opa: &Path, workload: &Workload) -> Result<Vec<(String, PathBuf)>, String> {
    let folder = opa.parent().unwrap_or(Path::new(".")).join("policies");
    let form = |(at, (form, modules)): (usize, (&str, Modules))| {
        let sources = folder.join(format!("{}-{at}", workload.name));
        let bundle = folder.join(format!("{}-{at}.tar.gz", workload.name));
        write(&sources, &modules)?;
        build(opa, &sources, &bundle)?;
        Ok((form.to_owned(), bundle))
    };
    rivals::rego(workload).into_iter().enumerate().map(form).collect()
}

fn write(folder: &Path, modules: &Modules) -> Result<(), String> {
    // The files of another version of the workload would be compiled too.
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    }
    fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    for (name, text) in modules {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| cannot(&path, &error))?;
    }
    Ok(())
}

fn build(opa: &Path, sources: &Path, bundle: &Path) -> Result<(), String> {
    let words = ["build", "--target", "wasm", "--entrypoint", "authz/allow", "--output"];
    let output = Command::new(opa)
        .args(words)
        .arg(bundle)
        .arg(sources)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", opa.display()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("opa: {}", String::from_utf8_lossy(&output.stderr)))
}

fn cannot(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}
