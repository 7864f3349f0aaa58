//! Other programs: the compilers of policies, and those that tell their versions.

use std::ffi::OsStr;
use std::process::Command;

/// Runs a program to its end; if it fails, the error is its own, after `name`.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<(), String> {
    let output = command.output();
    let program = command.get_program().display();
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Returns the answer of a program to a question for its version.
pub(crate) fn version_of(program: impl AsRef<OsStr>, words: &[&str]) -> String {
    text_of(program, words).lines().next().unwrap_or("unknown").trim().to_owned()
}

/// Returns the output of a program; nothing if it cannot be run.
pub(crate) fn text_of(program: impl AsRef<OsStr>, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output().ok();
    output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default()
}
