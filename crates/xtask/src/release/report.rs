//! What a release found and made: one line for each check, and the files with their sizes.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive;
use crate::shell::{self, Outcome, root, target};

/// The checks of all steps and the files that would be published.
#[derive(Default)]
pub(super) struct Report {
    files: Vec<Published>,
    faults: Vec<String>,
    passed: usize,
}

/// A file that a release publishes.
pub(super) struct Published {
    pub(super) path: PathBuf,
    /// The place that gets it, in words.
    pub(super) to: &'static str,
}

impl Report {
    /// Prints the outcome of a check in one line, and counts it. The message of a fault names its file.
    pub(super) fn check(&mut self, what: impl AsRef<str>, outcome: Outcome) {
        let what = what.as_ref();
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("    ok      {what}");
            }
            Err(message) => {
                println!("    FAILED  {what}: {message}");
                self.faults.push(format!("{what}: {message}"));
            }
        }
    }

    /// Adds a file that would be published, and a line about it.
    pub(super) fn add(&mut self, path: &Path, to: &'static str) -> Outcome {
        println!("    made    {} ({} bytes)", shown(path), size(path)?);
        self.files.push(Published { path: path.to_path_buf(), to });
        Ok(())
    }

    /// Counts the fault that ended a step early.
    pub(super) fn end_step(&mut self, outcome: Outcome) {
        if let Err(message) = outcome {
            println!("    FAILED  {message}");
            self.faults.push(message);
        }
    }

    /// Returns the files for a place.
    pub(super) fn files_for(&self, to: &str) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(move |file| file.to == to).map(|file| file.path.as_path())
    }

    /// Writes the checksums, and prints every file with its size; fails if a check failed.
    pub(super) fn summary(&self) -> Outcome {
        let mut sums = String::new();
        println!("\n{:>11}  {:<16}  {:<60}  what", "bytes", "sha-256", "to");
        for file in &self.files {
            let digest = archive::sha256(&file.path)?;
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            let start: String = digest.chars().take(16).collect();
            println!("{:>11}  {start}  {:<60}  {}", size(&file.path)?, file.to, shown(&file.path));
            sums.push_str(&format!("{digest}  {name}\n"));
        }
        shell::write(&folder().join("SHA256SUMS"), sums)?;
        println!("\n{} checks passed, {} failed", self.passed, self.faults.len());
        for fault in &self.faults {
            println!("    {fault}");
        }
        if self.faults.is_empty() { Ok(()) } else { Err("the release has faults".into()) }
    }
}

/// Returns the folder of everything that a release makes.
pub(super) fn folder() -> PathBuf {
    target().join("release-files")
}

/// Empties a folder below that of the release, and returns its path.
pub(super) fn empty_folder(name: &str) -> Outcome<PathBuf> {
    let path = folder().join(name);
    let cannot = |error: std::io::Error| format!("cannot empty {}: {error}", path.display());
    if path.exists() {
        fs::remove_dir_all(&path).map_err(cannot)?;
    }
    fs::create_dir_all(&path).map_err(cannot)?;
    Ok(path)
}

/// Fails with `message` unless `holds`.
pub(super) fn ensure(holds: bool, message: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(message.into()) }
}

/// Returns the path as a reader of the output finds it: from the root of the project.
pub(super) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn size(path: &Path) -> Outcome<u64> {
    let found = fs::metadata(path);
    found.map(|it| it.len()).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
