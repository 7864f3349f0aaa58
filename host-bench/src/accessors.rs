//! Modules of accessors, emitted by the `wardgate` program as a user emits them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files;
use crate::program;
use crate::workload::Workload;

/// Emits the module for a workload, into a file beside the program.
pub(crate) fn emit(root: &Path, cli: &Path, workload: &Workload) -> Result<PathBuf, String> {
    let folder = cli.parent().unwrap_or(Path::new(".")).join("accessors");
    let sources = folder.join(&workload.name);
    files::write(&sources, &workload.policies)?;
    let module = folder.join(format!("{}.mjs", workload.name));
    let bundle = folder.join(format!("{}.bundle", workload.name));
    let mut compile = Command::new(cli);
    compile.arg("compile").arg(&sources).arg("--output").arg(bundle).arg("--emit").arg(&module);
    program::run("wardgate", &mut compile)?;
    let text = fs::read_to_string(&module).map_err(|error| error.to_string())?;
    // The package is not installed here, but built beside the program.
    let built = root.join("npm/dist/node/accessors.js");
    let built = built.canonicalize().map_err(|error| format!("npm/dist: {error}"))?;
    files::save(&module, text.replace("\"wardgate/accessors\"", &format!("{:?}", built)))?;
    Ok(module)
}
