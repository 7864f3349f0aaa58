//! A directory of policies as a source of bundles.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use wardgate_bundle::Label;
use wardgate_compiler::walk::walk;
use wardgate_server::{Lookup, Source, SourceError};

use crate::arguments::TableOptions;
use crate::failure::Failure;
use crate::output::InOneLine;
use crate::{globals, pages, policies};

/// A directory of policies, compiled when a file has changed.
pub(super) struct Directory {
    path: PathBuf,
    options: TableOptions,
    /// The files of the last look, and what became of them.
    last: Option<(Stamps, Result<(), SourceError>)>,
}

/// Sizes and times of files, by their paths.
type Stamps = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

impl Directory {
    pub(super) const fn new(path: PathBuf, options: TableOptions) -> Self {
        Self { path, options, last: None }
    }

    /// Returns the files below the directory, and that of the globals. An unreadable one is left to
    /// the compiler, which reports it.
    fn stamps(&self) -> Stamps {
        let mut stamps = Stamps::new();
        let mut add = |path: &Path| {
            if let Ok(about) = fs::metadata(path)
                && about.is_file()
            {
                stamps.insert(path.to_owned(), (about.len(), about.modified().ok()));
            }
        };
        self.options.globals.as_deref().and_then(globals::path).into_iter().for_each(&mut add);
        let _ = walk(&self.path, &mut |entry| {
            add(&entry.location);
            Ok(true)
        });
        stamps
    }

    fn compile(&self) -> Result<Vec<u8>, SourceError> {
        let compiled = policies::compile(&self.path, &self.options, &Label::default());
        compiled.map(|compiled| compiled.bundle).map_err(|failure| match failure {
            Failure::Message(_, message) => SourceError::new(message),
            Failure::Diagnostics(found) => {
                let lines: Vec<String> = found.iter().map(pages::explained).collect();
                SourceError::new(lines.join("\n"))
            }
            Failure::ReaderGone => SourceError::new("the reader has closed the output"),
        })
    }
}

impl Source for Directory {
    fn look(&mut self, anyway: bool) -> Result<Lookup, SourceError> {
        let stamps = self.stamps();
        if let Some((before, outcome)) = &self.last
            && !anyway
            && *before == stamps
            && are_settled(&stamps)
        {
            return outcome.clone().map(|()| Lookup::Unchanged);
        }
        let compiled = self.compile();
        self.last = Some((stamps, compiled.as_ref().map(drop).map_err(Clone::clone)));
        compiled.map(Lookup::Bundle)
    }

    fn name(&self) -> String {
        format!("the directory `{}`", self.path.in_one_line())
    }
}

/// Returns true if the clock of the file system has advanced since the last change: only then would
/// another one show.
fn are_settled(stamps: &Stamps) -> bool {
    let now = SystemTime::now();
    let is_settled = |time: &SystemTime| now.duration_since(*time).is_ok_and(|age| age > TICK);
    stamps.values().all(|(_, time)| time.as_ref().is_some_and(is_settled))
}

/// The coarsest clock of a file system in use.
const TICK: Duration = Duration::from_secs(2);
