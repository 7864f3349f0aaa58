//! Modules of accessors, emitted by the `wardgate` program as a user emits them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files;
use crate::workload::Workload;

/// Emits the module for a workload, into a file beside the program.
pub(crate) fn emit(root: &Path, program: &Path, workload: &Workload) -> Result<PathBuf, String> {
    let folder = program.parent().unwrap_or(Path::new(".")).join("accessors");
    let sources = folder.join(&workload.name);
    files::write(&sources, &workload.policies)?;
    let module = folder.join(format!("{}.mjs", workload.name));
    let output = Command::new(program)
        .arg("compile")
        .arg(&sources)
        .arg("--output")
        .arg(folder.join(format!("{}.bundle", workload.name)))
        .arg("--emit")
        .arg(&module)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("wardgate: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = fs::read_to_string(&module).map_err(|error| error.to_string())?;
    // The package is not installed here, but built beside the program.
    let built = root.join("npm/dist/fast/accessors.js");
    let built = built.canonicalize().map_err(|error| format!("npm/dist: {error}"))?;
    files::save(&module, text.replace("\"wardgate/accessors\"", &format!("{:?}", built)))?;
    Ok(module)
}
