//! The values of `globals`: from a JSON or YAML file, or written on the command line.

use std::collections::BTreeMap;
use std::path::Path;

use wardgate_compiler::globals;
use wardgate_compiler::limits::MAX_FILE_BYTES;
use wardgate_compiler::reading;
use wardgate_engine::attr::Attr;

use crate::failure::{Failure, Result};

/// Reads the value of `--globals`: an object if it starts with a brace, else the name of a file.
pub(crate) fn read(given: &str) -> Result<BTreeMap<String, Attr>> {
    let (name, bytes) = match path(given) {
        Some(path) => (given, file(path)?),
        None => ("--globals", given.as_bytes().to_vec()),
    };
    globals::read(name, &bytes).map_err(|message| Failure::usage(format!("globals: {message}")))
}

/// Returns the file that is given, if it is one.
pub(crate) fn path(given: &str) -> Option<&Path> {
    (!given.trim_start().starts_with('{')).then_some(Path::new(given))
}

/// Unlike policies these may come through a pipe, as from another command.
fn file(path: &Path) -> Result<Vec<u8>> {
    let read = reading::open(path).and_then(|file| reading::bounded(file, MAX_FILE_BYTES));
    read.map_err(|error| Failure::reading(path, &error))
}
