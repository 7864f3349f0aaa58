//! The forms of files that commands write, by which they know what they may replace.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use wardgate_bundle::is_container;
use wardgate_tooling::{accessors, typescript};

use super::target;
use crate::failure::{Failure, Result};
use crate::output::InOneLine;

/// The form of a file that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A bundle or a delta, sealed or not.
    Bundle,
    /// An accessor module.
    Accessors,
    /// Types for TypeScript.
    Types,
    /// A proof of a record of a log.
    Proof,
}

impl Form {
    /// Refuses to replace a file of another form, unless the caller is to overwrite it. An empty file has nothing to lose.
    pub(crate) fn replaces(self, path: &Path, force: bool) -> Result<()> {
        let found = target(path).filter(|file| !force && file.exists());
        if found.is_none_or(|file| self.has(&file)) {
            return Ok(());
        }
        let (shown, expected) = (path.in_one_line(), self.words());
        Err(Failure::system(format!(
            "`{shown}` exists and is not {expected}, so it is not overwritten: name another file, or add `--force`"
        )))
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Bundle => "a bundle",
            Self::Accessors => "a module that `--emit` wrote",
            Self::Types => "a file that `wardgate types` wrote",
            Self::Proof => "a proof of a record",
        }
    }

    /// Returns true if a file is empty or has this form. One that cannot be read is left to the writer to report.
    fn has(self, file: &Path) -> bool {
        let mut start = Vec::new();
        let read = File::open(file).and_then(|file| file.take(START).read_to_end(&mut start));
        if read.is_err() || start.is_empty() {
            return true;
        }
        let begins_with = |line: &str| start.starts_with(line.trim_end().as_bytes());
        match self {
            Self::Bundle => is_container(&start),
            Self::Accessors => begins_with(accessors::head()),
            Self::Types => begins_with(typescript::HEAD),
            Self::Proof => begins_with(FIRST_LINE_OF_PROOFS),
        }
    }
}

/// The first line of a proof, as C2SP has it.
const FIRST_LINE_OF_PROOFS: &str = "c2sp.org/tlog-proof@v1";

/// The bytes of a file that tell its form.
const START: u64 = 256;
