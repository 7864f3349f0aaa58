//! Files for programs that read policies from a folder.

use std::fs;
use std::path::Path;

/// Makes `folder` contain these files and no others.
pub(crate) fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<(), String> {
    // The files of another version of a workload would be compiled too.
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    }
    fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    for (name, bytes) in files {
        save(&folder.join(name), bytes)?;
    }
    Ok(())
}

/// Writes one file.
pub(crate) fn save(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| cannot(path, &error))
}

pub(crate) fn cannot(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}
