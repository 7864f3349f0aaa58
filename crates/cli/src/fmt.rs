//! `wardgate fmt`: lays out policies, test suites and fixtures.
//!
//! A file is written only if it changes, all at once, and not at all if another program changed it
//! during the formatting. An error in one file does not stop the others from being formatted.

mod paths;

use std::io::{self, Write};
use std::path::Path;

use wardgate_compiler::limits::MAX_FILE_BYTES;
use wardgate_compiler::reading;
use wardgate_tooling::format::{Outcome, format};

use crate::arguments::Fmt;
use crate::diff;
use crate::failure::{Failure, Result, Status};
use crate::output::{Output, complain, shown};
use crate::replace;

pub(crate) fn run(fmt: &Fmt, out: &mut Output) -> Result<Status> {
    let mut run = Run { fmt, out, status: Status::Done };
    if fmt.stdin {
        run.standard_input()?;
        return Ok(run.status);
    }
    for path in &fmt.paths {
        let found = paths::files(path);
        found.files.iter().try_for_each(|file| run.file(file))?;
        found.failures.into_iter().try_for_each(|failure| run.note(failure))?;
    }
    Ok(run.status)
}

struct Run<'r> {
    fmt: &'r Fmt,
    out: &'r mut Output,
    /// The worst that has happened.
    status: Status,
}

impl Run<'_> {
    fn file(&mut self, path: &Path) -> Result<()> {
        self.formatted(path).or_else(|failure| self.note(failure))
    }

    fn formatted(&mut self, path: &Path) -> Result<()> {
        let old = reading::file(path).map_err(|error| Failure::reading(path, &error))?;
        let name = path.display().to_string();
        let Some(new) = self.laid_out(&name, &old)? else { return Ok(()) };
        if new.as_bytes() == old {
            return Ok(());
        }
        if self.fmt.check {
            self.worse(Status::Unformatted);
        }
        if self.fmt.diff {
            let old = String::from_utf8_lossy(&old);
            return diff::unified(&shown(&name), &old, &new)
                .lines()
                .try_for_each(|line| self.out.line(shown(line)));
        }
        if !self.fmt.check {
            replace::unchanged(path, &old, new.as_bytes())?;
        }
        self.out.line(shown(&name))
    }

    fn standard_input(&mut self) -> Result<()> {
        let name = "standard input";
        let old = reading::bounded(io::stdin().lock(), MAX_FILE_BYTES);
        let old = old.map_err(|error| Failure::reading(Path::new(name), &error))?;
        let Some(new) = self.laid_out(name, &old)? else { return Ok(()) };
        let is_changed = new.as_bytes() != old;
        if self.fmt.check && is_changed {
            self.worse(Status::Unformatted);
        }
        let shown = match (self.fmt.diff, self.fmt.check) {
            (true, _) if !is_changed => return Ok(()),
            (true, _) => diff::unified(name, &String::from_utf8_lossy(&old), &new),
            (false, true) => return Ok(()),
            (false, false) => new,
        };
        self.out.flush()?;
        io::stdout().lock().write_all(shown.as_bytes()).map_err(|error| Failure::output(&error))
    }

    /// Returns the formatted text, or complains of its errors.
    fn laid_out(&mut self, name: &str, bytes: &[u8]) -> Result<Option<String>> {
        match format(name, bytes) {
            Ok(formatted) => {
                if formatted.outcome == Outcome::Unchanged {
                    let unchanged =
                        "is left unformatted: no layout of it is sure to preserve its meaning";
                    complain(format_args!("wardgate: `{name}` {unchanged}"));
                }
                Ok(Some(formatted.text))
            }
            Err(diagnostics) => {
                self.note(Failure::Diagnostics(diagnostics))?;
                Ok(None)
            }
        }
    }

    /// Complains of a failure and goes on, unless the output itself has failed.
    fn note(&mut self, failure: Failure) -> Result<()> {
        let status = failure.complain()?;
        self.worse(status);
        Ok(())
    }

    /// A failure outweighs a file that is not formatted, and the first failure the others.
    fn worse(&mut self, status: Status) {
        if matches!(self.status, Status::Done | Status::Unformatted) {
            self.status = status;
        }
    }
}
