//! Keeps the outputs of a command apart from its inputs.
//!
//! It runs before anything is read or written: an output never replaces another output, nor a secret
//! key, a policy or any other input. A bundle that a command changes in place is no input here. What
//! a command may replace besides is the matter of its [`Form`].

mod form;

use std::fs;
use std::path::{Path, PathBuf};

use wardgate_compiler::reading;
use wardgate_tooling::source_files;

use crate::failure::{Failure, Result};
use crate::keys;
use crate::output::InOneLine;
use crate::replace;
pub(crate) use form::Form;

/// The files of a command.
#[derive(Default)]
pub(crate) struct Paths<'p> {
    /// Lists each output file with the option that names it.
    pub(crate) outputs: Vec<(&'static str, &'p Path)>,
    /// Lists the input files: keys, deltas and values of globals.
    pub(crate) inputs: Vec<&'p Path>,
    /// Lists the directories of policies and test suites, whose files are inputs.
    pub(crate) directories: Vec<&'p Path>,
}

impl Paths<'_> {
    /// Refuses outputs that are one file, an output that is also an input or a secret key, and `-`, which would
    /// be the name of a file.
    pub(crate) fn check(&self) -> Result<()> {
        let mut before: Vec<(&str, PathBuf)> = Vec::new();
        for (option, path) in &self.outputs {
            if *path == Path::new("-") {
                let message = format!("`{option}` cannot write to standard output: name a file");
                return Err(Failure::usage(message));
            }
            let Some(target) = target(path) else { continue };
            let shown = path.in_one_line();
            if let Some((other, _)) = before.iter().find(|(_, other)| *other == target) {
                let message =
                    format!("`{other}` and `{option}` both write `{shown}`: name two files");
                return Err(Failure::usage(message));
            }
            if self.read(&target) {
                let message = format!(
                    "`{option}` would overwrite `{shown}`, which is an input: name another file"
                );
                return Err(Failure::usage(message));
            }
            if keys::hold_secret(&target) {
                return Err(keys::never_overwritten(path));
            }
            before.push((option, target));
        }
        Ok(())
    }

    /// Returns true if the file at `target` is read.
    fn read(&self, target: &Path) -> bool {
        let is_target = |path: &Path| reading::canonical(path).is_ok_and(|path| path == target);
        // No link out of a directory is followed, so most outputs need no look at the files in it.
        let is_below = |directory: &&&Path| {
            target.exists()
                && reading::canonical(directory).is_ok_and(|root| target.starts_with(root))
        };
        let below = self.directories.iter().filter(is_below);
        self.inputs.iter().any(|path| is_target(path))
            || below.flat_map(|directory| source_files(directory)).any(|path| is_target(&path))
    }
}

/// Returns the file that is written, if it is missing or is a regular file that could be lost.
fn target(path: &Path) -> Option<PathBuf> {
    let target = replace::target(path).ok()?;
    fs::metadata(&target).map_or(true, |about| about.is_file()).then_some(target)
}
