//! Policies from a bundle or a directory. Both pass through the bundle, as they do in every host.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use wardgate_bundle::limits::MAX_BUNDLE_BYTES;
use wardgate_bundle::{Conditions, OpenError, Trust};
use wardgate_compiler::{Enforcement, Options, compile_dir};
use wardgate_engine::table::{Evaluation, PolicyTable};

use crate::arguments::{Mode, Schemas, TableOptions};
use crate::failure::Failure;
use crate::globals;

/// A directory that was compiled.
pub(crate) struct Compiled {
    /// The sealed table.
    pub(crate) bundle: Vec<u8>,
    /// How many policies it was made of.
    pub(crate) policies: usize,
}

/// Returns the table behind `path`, and the size of its bundle in bytes.
pub(crate) fn table(path: &Path, options: &TableOptions) -> Result<(PolicyTable, usize), Failure> {
    let bytes = bundle(path, options)?;
    Ok((open(path, &bytes)?, bytes.len()))
}

/// Returns the bundle in the file `path`, or that of the directory `path`.
pub(crate) fn bundle(path: &Path, options: &TableOptions) -> Result<Vec<u8>, Failure> {
    let about = fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
    if about.is_dir() {
        return Ok(compile(path, options)?.bundle);
    }
    match options.given() {
        None => read(path),
        Some(option) => Err(Failure::usage(format!(
            "`{option}` is for a directory of policies, and a bundle was compiled already: `{}`",
            path.display()
        ))),
    }
}

/// Compiles a directory.
pub(crate) fn compile(directory: &Path, options: &TableOptions) -> Result<Compiled, Failure> {
    let about = fs::metadata(directory).map_err(|error| Failure::reading(directory, &error))?;
    let shown = directory.display();
    if !about.is_dir() {
        return Err(Failure::usage(format!("`{shown}` is no directory of policies")));
    }
    let compiled =
        compile_dir(directory, &table_options(options)?).map_err(|mut diagnostics| {
            for diagnostic in &mut diagnostics {
                diagnostic.file = match diagnostic.file.as_str() {
                    "." => shown.to_string(),
                    file => directory.join(file).display().to_string(),
                };
            }
            Failure::Diagnostics(diagnostics)
        })?;
    if compiled.policies == 0 {
        let message = format!("`{shown}` holds no policies: no .yaml, .yml or .json file has one");
        return Err(Failure::policies(message));
    }
    let bundle = wardgate_bundle::pack(&compiled.parts);
    Ok(Compiled { bundle, policies: compiled.policies })
}

/// Opens a bundle. It need not be signed: whoever runs the command chose the file.
pub(crate) fn open(path: &Path, bytes: &[u8]) -> Result<PolicyTable, Failure> {
    let opened = wardgate_bundle::open(bytes, Trust::Unsigned, &Conditions::default());
    opened.map(|opened| opened.table).map_err(|error| refused(path, &error))
}

/// Says why the bundle of `path` cannot be opened.
pub(crate) fn refused(path: &Path, error: &OpenError) -> Failure {
    let shown = path.display();
    Failure::policies(match error {
        OpenError::NotABundle => {
            format!("`{shown}` is no bundle; give a bundle, or the directory of the policies")
        }
        error => format!("cannot open the bundle `{shown}`: {error}"),
    })
}

/// Reads a bundle, and no more than can be one.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &std::io::Error| Failure::reading(path, error);
    let file = File::open(path).map_err(|error| failed(&error))?;
    let most = u64::try_from(MAX_BUNDLE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}

fn table_options(given: &TableOptions) -> Result<Options, Failure> {
    let mut options = Options {
        evaluation: match given.evaluation {
            None | Some(Mode::Strict) => Evaluation::Strict,
            Some(Mode::Lenient) => Evaluation::Lenient,
        },
        lenient_scope_search: given.lenient_scope_search,
        schema_enforcement: match given.schema_enforcement {
            None | Some(Schemas::None) => Enforcement::None,
            Some(Schemas::Warn) => Enforcement::Warn,
            Some(Schemas::Reject) => Enforcement::Reject,
        },
        ..Options::default()
    };
    if let Some(version) = &given.default_version {
        options.default_version.clone_from(version);
    }
    if let Some(text) = &given.globals {
        options.globals = globals::read(text)?;
    }
    Ok(options)
}
