//! The parts that the programs of `src/bin` share.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Returns the exit code for the result of the program `name`: 0 for true, 1 for false, and 2 for
/// an error, which is printed.
#[must_use]
pub fn exit(name: &str, result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the folder of the project.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Reads a number of the command line.
///
/// # Errors
/// `word` is not a number.
pub fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("expected a number, found `{word}`"))
}
