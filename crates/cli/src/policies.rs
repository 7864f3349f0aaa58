//! Policies from a bundle or a directory. Both pass through the bundle, as they do in every host.

use std::fs;
use std::path::Path;

use wardgate_bundle::{Conditions, Label, OpenError, Opened, PackError, Trust};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::{Enforcement, Options, compile_repository};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::{Evaluation, PolicyTable};

use crate::arguments::{Mode, Opening, Schemas, TableOptions};
use crate::failure::{Failure, Result};
use crate::globals;
use crate::opening::{self, Terms};
use crate::output::InOneLine;

/// A directory that was compiled.
pub(crate) struct Compiled {
    /// The table as an unsigned bundle.
    pub(crate) bundle: Vec<u8>,
    /// The number of policies in the table.
    pub(crate) policies: usize,
    /// The number of SPOCP rules beside them.
    pub(crate) rules_of_spocp: usize,
    /// The policies as they were read.
    pub(crate) sources: Repository,
    /// Holds the warnings of the compiler.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// The source of policies, and the conditions for a bundle.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) path: &'s Path,
    pub(crate) options: &'s TableOptions,
    pub(crate) opening: &'s Opening,
}

/// Opens the policies of a bundle or a directory, for which it is `now`.
pub(crate) fn table(source: Source<'_>, now: Timestamp) -> Result<PolicyTable> {
    let terms = Terms::read(source.opening, now)?;
    let (bundle, _) = read(source)?;
    let opened = terms.open(&bundle).map_err(|error| refused(source.path, &bundle, &error));
    Ok(opened?.table)
}

/// The same, with its rate limits, and with the policies as they were read, if they come from a
/// directory.
pub(crate) fn table_and_sources(
    source: Source<'_>,
    now: Timestamp,
) -> Result<(PolicyTable, Option<Repository>)> {
    let terms = Terms::read(source.opening, now)?;
    let (bundle, sources) = read(source)?;
    let opened =
        terms.open_with_limits(&bundle).map_err(|error| refused(source.path, &bundle, &error));
    Ok((opened?.table, sources))
}

/// Returns the bundle in a file, or that of a directory.
pub(crate) fn bundle(source: Source<'_>) -> Result<Vec<u8>> {
    read(source).map(|(bundle, _)| bundle)
}

fn read(source: Source<'_>) -> Result<(Vec<u8>, Option<Repository>)> {
    let Source { path, options, opening } = source;
    let about = fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
    let shown = path.in_one_line();
    let unfit = match (about.is_dir(), options.given(), opening.given()) {
        (false, Some(option), _) => format!(
            "`{option}` is for a directory of policies, and a bundle was compiled already: `{shown}`"
        ),
        (true, _, Some(option)) => {
            format!("`{option}` is for a bundle, and `{shown}` is a directory")
        }
        (true, ..) => {
            let compiled = compile(path, options, &Label::default())?;
            return Ok((compiled.bundle, Some(compiled.sources)));
        }
        (false, ..) => return Ok((opening::bytes(path, opening)?, None)),
    };
    Err(Failure::usage(unfit))
}

/// Compiles a directory.
pub(crate) fn compile(directory: &Path, options: &TableOptions, label: &Label) -> Result<Compiled> {
    must_be_directory(directory)?;
    let shown = directory.display();
    let (options, sources) = (table_options(options)?, Repository::read(directory));
    let compiled = compile_repository(&sources, directory, &options)
        .map_err(|found| below(directory, found))?;
    if compiled.policies == 0 && compiled.rules.is_empty() {
        let message = format!("`{shown}` holds no policies: no .yaml, .yml or .json file has one");
        return Err(Failure::policies(message));
    }
    let bundle = wardgate_bundle::pack_with_rules(&compiled.parts, &compiled.rules, label);
    let bundle = bundle.map_err(|error| match error {
        PackError::Label => Failure::usage(error.to_string()),
        error => Failure::policies(format!("`{shown}`: {error}")),
    })?;
    let (policies, rules_of_spocp) = (compiled.policies, compiled.rules.len());
    Ok(Compiled { bundle, policies, rules_of_spocp, sources, warnings: compiled.warnings })
}

/// Refuses a path that exists and is no directory.
pub(crate) fn must_be_directory(path: &Path) -> Result<()> {
    let about = fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
    match about.is_dir() {
        true => Ok(()),
        false => {
            Err(Failure::usage(format!("`{}` is not a directory of policies", path.display())))
        }
    }
}

/// Returns diagnostics as a failure, with the paths of the files as a person can open them.
pub(crate) fn below(directory: &Path, diagnostics: Vec<Diagnostic>) -> Failure {
    Failure::Diagnostics(located(directory, diagnostics))
}

/// Names files as a person can open them.
pub(crate) fn located(directory: &Path, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for diagnostic in &mut diagnostics {
        diagnostic.file = match diagnostic.file.as_str() {
            "." => directory.display().to_string(),
            file => directory.join(file).display().to_string(),
        };
    }
    diagnostics
}

/// Opens a bundle that was compiled a moment ago, at a time when it is valid.
pub(crate) fn proved(path: &Path, bundle: &[u8], label: &Label) -> Result<Opened> {
    let now = Some(label.not_before.unwrap_or(0));
    let conditions = Conditions { now, ..Conditions::default() };
    let opened = wardgate_bundle::open_with_limits(bundle, Trust::Unsigned, &conditions);
    opened.map_err(|error| opening::refused(path, bundle, &error))
}

/// Says why the bundle of `path`, which holds these bytes, is not opened where policies would do too.
pub(crate) fn refused(path: &Path, bundle: &[u8], error: &OpenError) -> Failure {
    match error {
        OpenError::NotABundle => {
            let message = opening::not_a_bundle(path, bundle);
            let message = format!("{message}; give a bundle, or the directory of the policies");
            opening::explained(&message, error)
        }
        error => opening::refused(path, bundle, error),
    }
}

pub(crate) fn table_options(given: &TableOptions) -> Result<Options> {
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
