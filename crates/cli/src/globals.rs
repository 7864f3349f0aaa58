//! The values of `globals`: from a JSON or YAML file, or written on the command line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use wardgate_compiler::globals;
use wardgate_compiler::yaml::limits::MAX_FILE_BYTES;
use wardgate_engine::attr::Attr;

use crate::failure::Failure;

/// Reads what `--globals` was given: an object if it starts with a brace, else the name of a file.
pub(crate) fn read(given: &str) -> Result<BTreeMap<String, Attr>, Failure> {
    let (name, bytes) = if given.trim_start().starts_with('{') {
        ("--globals", given.as_bytes().to_vec())
    } else {
        (given, file(Path::new(given))?)
    };
    globals::read(name, &bytes).map_err(|message| Failure::usage(format!("globals: {message}")))
}

fn file(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &std::io::Error| Failure::reading(path, error);
    let most = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error))?;
    file.take(most).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}
